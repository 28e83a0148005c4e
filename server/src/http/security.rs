//! What keeps other web sites and other people's text out: host and origin checks, response headers.
//!
//! Cross-site request forgery is refused by what browsers say of a request and scripts cannot forge: `Sec-Fetch-Site` and `Origin`. There is
//! no session yet that a forged request could ride on, but a page elsewhere could otherwise start evaluations on a loopback server. The host
//! check keeps a foreign name that was re-pointed at us (DNS rebinding) from counting as the same origin.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{HOST, HeaderName, HeaderValue, ORIGIN};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// Sent with everything that does not bring a policy of its own (pages do, with a nonce).
const POLICY: &str = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'";

/// The names (with port) that this server answers to.
#[derive(Debug, Clone)]
pub struct Hosts(Arc<BTreeSet<String>>);

/// The port that addresses need not name.
const WEB: u16 = 80;

impl Hosts {
    /// The address it listens on, `localhost` with the same port where that is loopback, and what the settings add.
    #[must_use]
    pub fn new(listen: SocketAddr, public: &[String]) -> Self {
        let mut hosts: BTreeSet<String> = public.iter().map(|host| host.to_ascii_lowercase()).collect();
        hosts.insert(listen.to_string());
        if listen.port() == WEB {
            // Clients leave out the usual port.
            hosts.insert(match listen.ip() {
                IpAddr::V4(ip) => ip.to_string(),
                IpAddr::V6(ip) => format!("[{ip}]"),
            });
        }
        if listen.ip().is_loopback() || listen.ip().is_unspecified() {
            let port = listen.port();
            let names = ["localhost", "127.0.0.1", "[::1]"];
            hosts.extend(names.map(|name| format!("{name}:{port}")));
            if port == WEB {
                hosts.extend(names.map(str::to_owned));
            }
        }
        Self(Arc::new(hosts))
    }

    fn know(&self, host: &str) -> bool {
        self.0.contains(&host.to_ascii_lowercase())
    }
}

/// Why a request was turned away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Refusal {
    Host,
    Origin,
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let (status, text) = match self {
            Self::Host => (
                StatusCode::MISDIRECTED_REQUEST,
                "this server does not answer to that host name; add it to public_hosts in skilldelta.toml if it is yours\n",
            ),
            Self::Origin => (
                StatusCode::FORBIDDEN,
                "refused: the request came from another site; open the page on this server and try again there\n",
            ),
        };
        (status, text).into_response()
    }
}

/// Turns away what comes from elsewhere, and puts the protective headers on every answer that has no other of its own (badges are shown elsewhere).
pub async fn guard(State(hosts): State<Hosts>, request: Request, next: Next) -> Response {
    let mut response = match check(&hosts, request.method(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    };
    let headers = response.headers_mut();
    for (name, value) in [
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "same-origin"),
        ("x-frame-options", "DENY"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
    ] {
        headers.entry(HeaderName::from_static(name)).or_insert(HeaderValue::from_static(value));
    }
    headers.entry("content-security-policy").or_insert(HeaderValue::from_static(POLICY));
    response
}

fn check(hosts: &Hosts, method: &Method, headers: &HeaderMap) -> Result<(), Refusal> {
    let text = |name: HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or_default());
    if !text(HOST).is_some_and(|host| hosts.know(host)) {
        return Err(Refusal::Host);
    }
    if method.is_safe() {
        return Ok(());
    }
    let same_site = text(SEC_FETCH_SITE).is_none_or(|site| site == "same-origin");
    let same_origin =
        text(ORIGIN).is_none_or(|origin| origin.split_once("://").is_some_and(|(_, host)| hosts.know(host)));
    let said_either = headers.contains_key(SEC_FETCH_SITE) || headers.contains_key(ORIGIN);
    if said_either && same_site && same_origin { Ok(()) } else { Err(Refusal::Origin) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_pages_may_change_anything() {
        let hosts = Hosts::new(SocketAddr::from(([127, 0, 0, 1], 3000)), &["evals.example.org".into()]);
        let ours = ("host", "localhost:3000");
        for (method, headers, want) in [
            (Method::GET, vec![ours], Ok(())),
            (Method::GET, vec![("host", "127.0.0.1:3000")], Ok(())),
            (Method::GET, vec![("host", "evals.example.org")], Ok(())),
            (Method::GET, vec![("host", "evil.example:3000")], Err(Refusal::Host)),
            (Method::GET, vec![("host", "localhost:9999")], Err(Refusal::Host)),
            (Method::GET, vec![], Err(Refusal::Host)),
            (Method::POST, vec![ours, ("origin", "http://localhost:3000")], Ok(())),
            (Method::POST, vec![ours, ("origin", "http://localhost:3000"), ("sec-fetch-site", "same-origin")], Ok(())),
            (Method::POST, vec![ours, ("sec-fetch-site", "same-origin")], Ok(())),
            (Method::POST, vec![ours, ("origin", "http://evil.example")], Err(Refusal::Origin)),
            (Method::POST, vec![ours, ("origin", "null")], Err(Refusal::Origin)),
            (
                Method::POST,
                vec![ours, ("origin", "http://localhost:3000"), ("sec-fetch-site", "cross-site")],
                Err(Refusal::Origin),
            ),
            (Method::POST, vec![ours, ("sec-fetch-site", "none")], Err(Refusal::Origin)),
            (Method::POST, vec![ours], Err(Refusal::Origin)),
            (Method::DELETE, vec![ours, ("origin", "http://localhost:3001")], Err(Refusal::Origin)),
        ] {
            let map: HeaderMap = headers
                .iter()
                .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
                .collect();
            assert_eq!(check(&hosts, &method, &map), want, "{method} {headers:?}");
        }
    }

    #[test]
    fn the_usual_port_need_not_be_named() {
        for (listen, host, known) in [
            ("127.0.0.1:80", "127.0.0.1", true),
            ("127.0.0.1:80", "localhost:80", true),
            ("0.0.0.0:80", "localhost", true),
            ("10.1.2.3:80", "10.1.2.3", true),
            ("[::1]:80", "[::1]", true),
            ("127.0.0.1:3000", "127.0.0.1", false),
            ("127.0.0.1:80", "evil.example", false),
        ] {
            assert_eq!(Hosts::new(listen.parse().unwrap(), &[]).know(host), known, "{host} on {listen}");
        }
    }
}
