//! Which headers pass from one side to the other: all, but credentials and what belongs to one connection.

use http::header::{
    ACCEPT_ENCODING, AUTHORIZATION, CONNECTION, CONTENT_LENGTH, COOKIE, HOST, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION,
    SET_COOKIE, TE, TRAILER, TRANSFER_ENCODING, UPGRADE,
};
use http::{HeaderMap, HeaderName, HeaderValue};

/// Belong to one connection (RFC 9110 §7.6.1), or are made anew by whoever sends.
const OF_ONE_CONNECTION: [HeaderName; 8] =
    [CONNECTION, TE, TRAILER, TRANSFER_ENCODING, UPGRADE, PROXY_AUTHENTICATE, PROXY_AUTHORIZATION, CONTENT_LENGTH];

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
    let mut headers = without(headers, &[HOST.as_str(), AUTHORIZATION.as_str(), COOKIE.as_str(), "x-api-key"]);
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    headers
}

/// The upstream's headers as the agent may see them: without what tells whose account it is.
#[must_use]
pub fn towards_agent(headers: HeaderMap) -> HeaderMap {
    without(headers, &[SET_COOKIE.as_str(), "anthropic-organization-id"])
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
}
