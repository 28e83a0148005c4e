//! Which headers pass from one side to the other: all, but credentials and what belongs to one connection.

use http::header::{
    ACCEPT_ENCODING, CONNECTION, CONTENT_LENGTH, HOST, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, SET_COOKIE, TE,
    TRAILER, TRANSFER_ENCODING, UPGRADE,
};
use http::{HeaderMap, HeaderName, HeaderValue, Uri};

/// Belong to one connection (RFC 9110 §7.6.1), or are made anew by whoever sends.
const OF_ONE_CONNECTION: [HeaderName; 8] =
    [CONNECTION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, CONTENT_LENGTH];

/// What tells an agent, or an account, from another.
const CREDENTIALS: [&str; 8] = [
    AUTHORIZATION_NAME,
    "cookie",
    "x-api-key",
    "api-key",
    "x-goog-api-key",
    "x-goog-user-project",
    "openai-organization",
    "openai-project",
];
const AUTHORIZATION_NAME: &str = "authorization";

/// The key that an agent shows, wherever its vendor puts it: a header, or the query.
#[must_use]
pub fn shown_key<'a>(headers: &'a HeaderMap, uri: &'a Uri) -> Option<&'a str> {
    let header = |name: &str| headers.get(name)?.to_str().ok();
    let bearer = header(AUTHORIZATION_NAME).and_then(|value| value.split_once(' ')).map(|(_, token)| token.trim());
    let query = || uri.query()?.split('&').find_map(|pair| pair.strip_prefix("key="));
    bearer
        .or_else(|| header("x-api-key"))
        .or_else(|| header("x-goog-api-key"))
        .or_else(|| header("api-key"))
        .or_else(query)
}

/// The same address without the key that Gemini's clients may put into the query. Any other address stays as it is, byte for byte.
#[must_use]
pub fn without_key(uri: Uri) -> Uri {
    let Some(query) = uri.query().filter(|query| query.split('&').any(|pair| pair.starts_with("key="))) else {
        return uri;
    };
    let rest: Vec<_> = query.split('&').filter(|pair| !pair.starts_with("key=")).collect();
    let mark = if rest.is_empty() { "" } else { "?" };
    format!("{}{mark}{}", uri.path(), rest.join("&")).parse().unwrap_or(uri)
}

fn without(mut headers: HeaderMap, more: &[&str]) -> HeaderMap {
    let named: Vec<String> = headers
        .get_all(CONNECTION)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(',').map(|name| name.trim().to_ascii_lowercase()))
        .filter(|name| !name.is_empty())
        .collect();
    let names = OF_ONE_CONNECTION
        .iter()
        .map(HeaderName::as_str)
        .chain(more.iter().copied())
        .chain(named.iter().map(String::as_str));
    for name in names.chain(["keep-alive", "proxy-connection"]) {
        headers.remove(name);
    }
    headers
}

/// The agent's headers as the upstream may see them: without the agent's credentials, and asking for an answer that is not compressed,
/// since tokens are read from it.
#[must_use]
pub fn towards_upstream(headers: HeaderMap) -> HeaderMap {
    let mut headers = without(headers, &CREDENTIALS);
    headers.remove(HOST);
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    headers
}

/// The upstream's headers as the agent may see them: without what tells whose account it is.
#[must_use]
pub fn towards_agent(headers: HeaderMap) -> HeaderMap {
    without(headers, &[SET_COOKIE.as_str(), "anthropic-organization-id", "openai-organization", "openai-project"])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_and_connection_headers_stay_behind() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("x-api-key", "k"),
            ("authorization", "Bearer t"),
            ("x-goog-api-key", "g"),
            ("connection", "keep-alive, x-hop"),
            ("x-hop", "1"),
            ("accept-encoding", "gzip"),
            ("anthropic-beta", "b"),
        ] {
            headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
        let mut left: Vec<_> = towards_upstream(headers).into_iter().map(|(n, v)| (n.unwrap(), v)).collect();
        left.sort_by_key(|(name, _)| name.to_string());
        let shown: Vec<_> = left.iter().map(|(n, v)| format!("{n}={}", v.to_str().unwrap())).collect();
        assert_eq!(shown, ["accept-encoding=identity", "anthropic-beta=b"]);
    }

    #[test]
    fn a_key_is_found_in_each_vendors_place_and_left_out_of_addresses() {
        for (name, value, uri, key, left) in [
            ("x-api-key", "k", "/v1/messages?beta=true", Some("k"), "/v1/messages?beta=true"),
            ("authorization", "Bearer  k", "/a", Some("k"), "/a"),
            ("x-goog-api-key", "k", "/a?alt=sse", Some("k"), "/a?alt=sse"),
            ("accept", "k", "/a?alt=sse&key=q&x=%20", Some("q"), "/a?alt=sse&x=%20"),
            ("accept", "k", "/a?key=q", Some("q"), "/a"),
            ("accept", "k", "/a?monkey=q", None, "/a?monkey=q"),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
            let uri: Uri = uri.parse().unwrap();
            assert_eq!(shown_key(&headers, &uri), key, "{uri}");
            assert_eq!(without_key(uri).to_string(), left);
        }
    }
}
