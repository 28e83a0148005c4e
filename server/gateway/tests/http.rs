//! The HTTP upstream against a real socket.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod support;

use std::sync::Arc;

use gateway::upstream::http::{Credential, Dialect, HttpConfig, HttpUpstream};
use gateway::{ProviderTrouble, RetryPolicy, Secret, TrialGateway, Upstream};
use support::{STREAM, ask, call};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

const KEY: &str = "sk-test-0000EXAMPLE0000KEY";

fn config(base_url: &str) -> HttpConfig {
    HttpConfig {
        name: "a".to_owned(),
        dialect: Dialect::Anthropic,
        base_url: base_url.to_owned(),
        credential: Credential::ApiKey(Secret::new(KEY)),
        proxy: None,
        extra_ca_pem: None,
    }
}

fn open(base_url: &str) -> TrialGateway {
    let upstream: Arc<dyn Upstream> = Arc::new(HttpUpstream::new(config(base_url)).unwrap());
    let ticket = gateway::TrialTicket {
        retry: RetryPolicy::default().never(),
        ..gateway::TrialTicket::new(domain::id::AttemptId(1), "m", "a")
    };
    gateway::Gateway::new(vec![upstream]).open(ticket).unwrap()
}

/// Answers one connection with `answer`; gives what was asked.
async fn server(answer: String) -> (String, tokio::task::JoinHandle<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/base/", listener.local_addr().unwrap());
    let served = tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut asked = Vec::new();
        while !String::from_utf8_lossy(&asked).ends_with("}") {
            assert_ne!(socket.read_buf(&mut asked).await.unwrap(), 0);
        }
        socket.write_all(answer.as_bytes()).await.unwrap();
        String::from_utf8(asked).unwrap()
    });
    (url, served)
}

fn http(body: &str, length: usize) -> String {
    format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {length}\r\nset-cookie: a=b\r\n\r\n{body}"
    )
}

#[tokio::test]
async fn the_real_key_goes_upstream_and_nowhere_else() {
    let (url, served) = server(http(STREAM, STREAM.len())).await;
    let gateway = open(&url);
    let response = gateway.handle(ask()).await;
    assert!(!response.headers().contains_key("set-cookie"));
    drop(response);
    let asked = served.await.unwrap().to_ascii_lowercase();
    assert!(asked.starts_with("post /base/v1/messages?beta=true http/1.1\r\n"), "{asked}");
    assert!(asked.contains(&format!("x-api-key: {}\r\n", KEY.to_ascii_lowercase())));
    assert!(asked.contains("anthropic-version: 2023-06-01\r\n") && !asked.contains("trial-token"));

    let shown = format!("{:?} {:?} {:?}", HttpUpstream::new(config(&url)).unwrap(), config(&url), gateway.records());
    assert!(!shown.contains(KEY), "{shown}");
}

#[tokio::test]
async fn a_stream_passes_whole_and_a_cut_one_is_trouble() {
    let (url, served) = server(http(STREAM, STREAM.len())).await;
    let gateway = open(&url);
    assert_eq!(call(&gateway, ask()).await, (http::StatusCode::OK, STREAM.to_owned(), true));
    assert_eq!(gateway.usage().total(), Some(20));
    served.await.unwrap();

    let (url, served) = server(http(STREAM, STREAM.len() + 100)).await;
    let gateway = open(&url);
    let (code, body, whole) = call(&gateway, ask()).await;
    assert_eq!((code.as_u16(), body.as_str(), whole), (200, STREAM, false));
    assert!(matches!(gateway.trouble(), Some(ProviderTrouble::Cut { .. })), "{:?}", gateway.trouble());
    served.await.unwrap();
}

#[tokio::test]
async fn a_provider_that_repeats_the_key_does_not_tell_it_to_the_agent() {
    let said = format!(r#"{{"error":{{"message":"Incorrect API key provided: {KEY}"}}}}"#);
    let answer = format!("HTTP/1.1 401 Unauthorized\r\ncontent-length: {}\r\n\r\n{said}", said.len());
    let (url, served) = server(answer).await;
    let gateway = open(&url);
    let (code, body, _) = call(&gateway, ask()).await;
    served.await.unwrap();
    assert_eq!((code.as_u16(), body.contains("Incorrect API key provided: …0KEY")), (401, true), "{body}");
    assert!(!format!("{body} {:?} {:?}", gateway.records(), gateway.trouble()).contains(KEY));
}

#[tokio::test]
async fn a_refused_connection_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let gateway = open(&url);
    assert_eq!(call(&gateway, ask()).await.0.as_u16(), 502);
    let trouble = gateway.trouble().unwrap().to_string();
    assert!(trouble.contains("cannot be reached") && trouble.contains("refused"), "{trouble}");
}

#[test]
fn unusable_configurations_are_refused_with_a_remedy() {
    let with = |change: fn(&mut HttpConfig)| {
        let mut config = config("https://api.example.com");
        change(&mut config);
        HttpUpstream::new(config).map(|_| ()).map_err(|error| error.to_string())
    };
    assert_eq!(with(|_| {}), Ok(()));
    for (result, words) in [
        (with(|config| config.base_url = "api.example.com".to_owned()), "not a base URL"),
        (with(|config| config.base_url = "ftp://x".to_owned()), "not a base URL"),
        (with(|config| config.credential = Credential::ApiKey(Secret::new("a\nb"))), "copy it again"),
        (
            with(|config| {
                config.extra_ca_pem = Some(b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".to_vec())
            }),
            "PEM",
        ),
        (with(|config| config.proxy = Some("::".to_owned())), "HTTP client"),
    ] {
        let message = result.unwrap_err();
        assert!(message.starts_with("upstream 'a'") && message.contains(words), "{message}");
    }
}
