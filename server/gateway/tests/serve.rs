//! A trial's gateway on its socket, over real HTTP.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod support;

use std::os::unix::fs::PermissionsExt;

use bytes::Bytes;
use futures::{SinkExt, StreamExt};
use gateway::serve::{MAX_REQUEST, MAX_UNDER_WAY, Served, TrialToken, serve};
use gateway::{CallOutcome, Caps, TrialGateway, UpstreamError};
use http::Response;
use support::{Act, Acting, STREAM, open};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;

const BODY: &str = r#"{"model":"m","stream":true,"messages":[]}"#;

struct Rig {
    _folder: tempfile::TempDir,
    served: Served,
    gateway: TrialGateway,
}

fn rig(acts: Vec<Act>) -> Rig {
    let folder = tempfile::tempdir().unwrap();
    let gateway = open(Acting::new(acts), Caps::default());
    let served = serve(gateway.clone(), TrialToken::random().unwrap(), &folder.path().join("run")).unwrap();
    Rig { _folder: folder, served, gateway }
}

impl Rig {
    fn key(&self) -> String {
        format!("x-api-key: {}", self.served.token().expose())
    }

    async fn connect(&self, head: &str, body: &str) -> UnixStream {
        let mut stream = UnixStream::connect(self.served.socket()).await.unwrap();
        let request = format!("{head}\r\nhost: g\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        stream.write_all(request.as_bytes()).await.unwrap();
        stream
    }

    /// The whole answer as it came over the wire.
    async fn ask(&self, head: &str, body: &str) -> String {
        let mut stream = self.connect(&format!("{head}\r\nconnection: close"), body).await;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }
}

/// Reads until the text is there.
async fn read_until(stream: &mut UnixStream, text: &str) -> String {
    let mut got = String::new();
    let mut buffer = [0; 4096];
    while !got.contains(text) {
        let count = stream.read(&mut buffer).await.unwrap();
        assert_ne!(count, 0, "ended after: {got}");
        got.push_str(std::str::from_utf8(&buffer[..count]).unwrap());
    }
    got
}

#[tokio::test]
async fn only_the_trials_own_token_opens_it_wherever_a_vendor_puts_keys() {
    let rig = rig(vec![]);
    let token = rig.served.token().expose().to_owned();
    for (head, status) in [
        (format!("POST /v1/messages HTTP/1.1\r\nx-api-key: {token}"), "200 OK"),
        (format!("POST /v1/messages HTTP/1.1\r\nauthorization: Bearer {token}"), "200 OK"),
        (format!("POST /v1beta/models/m:generateContent HTTP/1.1\r\nx-goog-api-key: {token}"), "200 OK"),
        (format!("POST /v1beta/models/m:generateContent?key={token} HTTP/1.1"), "200 OK"),
        ("HEAD /api/hello HTTP/1.1".to_owned(), "200 OK"),
        ("POST /v1/messages HTTP/1.1".to_owned(), "401 Unauthorized"),
        (format!("POST /v1/messages HTTP/1.1\r\nx-api-key: {token}x"), "401 Unauthorized"),
        (
            format!(
                "POST /v1/chat/completions HTTP/1.1\r\nauthorization: Bearer {}",
                TrialToken::random().unwrap().expose()
            ),
            "401 Unauthorized",
        ),
        ("POST /v1beta/models/m:generateContent HTTP/1.1\r\nx-goog-api-key: no".to_owned(), "400 Bad Request"),
    ] {
        let answer = rig.ask(&head, BODY).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}\r\n")), "{head}: {answer}");
    }
    let refused =
        rig.gateway.records().into_iter().filter(|record| matches!(record.outcome, CallOutcome::Refused { .. }));
    assert_eq!(refused.count(), 4);
    assert!(!format!("{:?}", rig.served).contains(&token));
    let folder = rig.served.socket().parent().unwrap();
    assert_eq!(std::fs::metadata(folder).unwrap().permissions().mode() & 0o777, 0o700);
}

#[tokio::test]
async fn a_stream_passes_piece_by_piece() {
    let (mut pieces, body) = futures::channel::mpsc::channel::<Result<Bytes, UpstreamError>>(0);
    let answer = Response::builder().header("content-type", "text/event-stream").body(body.boxed()).unwrap();
    let rig = rig(vec![Act::Answer(answer)]);
    let mut agent = rig.connect(&format!("POST /v1/messages HTTP/1.1\r\n{}", rig.key()), BODY).await;
    for piece in STREAM.split_inclusive("\n\n") {
        pieces.send(Ok(Bytes::from(piece))).await.unwrap();
        // It is here before the next one is sent.
        let last_line = piece.trim_end().rsplit('\n').next().unwrap();
        read_until(&mut agent, last_line).await;
    }
    drop(pieces);
    read_until(&mut agent, "0\r\n\r\n").await;
    assert_eq!(rig.gateway.usage().total(), Some(20));
}

#[tokio::test]
async fn an_agent_that_reads_slowly_holds_the_provider_back_and_one_that_goes_ends_it() {
    const PIECE: usize = 64 * 1024;
    const MANY: usize = 10_000;
    let sent = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let count = sent.clone();
    let endless = futures::stream::iter(0..MANY).map(move |_| {
        count.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        Ok(Bytes::from(vec![b':'; PIECE]))
    });
    let (sender, receiver) = tokio::sync::oneshot::channel::<()>();
    let guarded = endless.chain(futures::stream::once(async move {
        let _ = receiver.await;
        Ok(Bytes::new())
    }));
    let rig = rig(vec![Act::Answer(Response::new(guarded.boxed()))]);
    let mut agent = rig.connect(&format!("POST /v1/messages HTTP/1.1\r\n{}", rig.key()), BODY).await;
    read_until(&mut agent, "200 OK").await;
    // Others get their turn until nothing moves any more.
    let mut before = usize::MAX;
    while before != sent.load(std::sync::atomic::Ordering::SeqCst) {
        before = sent.load(std::sync::atomic::Ordering::SeqCst);
        for _ in 0..1000 {
            tokio::task::yield_now().await;
        }
    }
    assert!(before < MANY / 10, "{before} pieces were taken from the provider");
    drop(agent);
    let mut sender = sender;
    sender.closed().await;
    while rig.gateway.records().is_empty() {
        tokio::task::yield_now().await;
    }
    assert_eq!(rig.gateway.records()[0].outcome, CallOutcome::Cancelled);
}

#[tokio::test]
async fn an_agent_that_goes_while_it_waits_ends_the_call() {
    let rig = rig(vec![Act::Hang]);
    let agent = rig.connect(&format!("POST /v1/messages HTTP/1.1\r\n{}", rig.key()), BODY).await;
    while rig.gateway.calls_under_way() == 0 {
        tokio::task::yield_now().await;
    }
    drop(agent);
    while rig.gateway.records().is_empty() {
        tokio::task::yield_now().await;
    }
    assert_eq!(rig.gateway.records()[0].outcome, CallOutcome::Cancelled);
}

#[tokio::test]
async fn a_cut_answer_is_cut_for_the_agent_too() {
    let (mut pieces, body) = futures::channel::mpsc::channel::<Result<Bytes, UpstreamError>>(0);
    let rig = rig(vec![Act::Answer(Response::new(body.boxed()))]);
    let mut agent = rig.connect(&format!("POST /v1/messages HTTP/1.1\r\n{}", rig.key()), BODY).await;
    pieces.send(Ok(Bytes::from_static(b": hello\n\n"))).await.unwrap();
    read_until(&mut agent, ": hello").await;
    pieces.send(Err(support::cut())).await.unwrap();
    let mut rest = Vec::new();
    let _reset_or_end = agent.read_to_end(&mut rest).await;
    assert!(!String::from_utf8(rest).unwrap().ends_with("0\r\n\r\n"), "no proper end");
    assert!(rig.gateway.trouble().is_some());
}

#[tokio::test]
async fn what_is_too_long_or_no_http_is_refused() {
    let rig = rig(vec![]);
    let head = format!("POST /v1/messages HTTP/1.1\r\n{}", rig.key());
    let mut agent = UnixStream::connect(rig.served.socket()).await.unwrap();
    let request = format!("{head}\r\nhost: g\r\ncontent-length: {}\r\n\r\n", MAX_REQUEST + 1);
    agent.write_all(request.as_bytes()).await.unwrap();
    let answer = read_until(&mut agent, "request_too_large").await;
    assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");

    let mut agent = UnixStream::connect(rig.served.socket()).await.unwrap();
    agent.write_all(b"\x16\x03\x01 this is TLS\r\n\r\n").await.unwrap();
    let mut answer = String::new();
    agent.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
    assert!(rig.ask(&head, BODY).await.starts_with("HTTP/1.1 200 OK"), "others are served on");
}

#[tokio::test]
async fn the_end_of_a_trial_ends_its_socket_and_its_calls() {
    let rig = rig(vec![Act::Hang]);
    let mut agent = rig.connect(&format!("POST /v1/messages HTTP/1.1\r\n{}", rig.key()), BODY).await;
    while rig.gateway.calls_under_way() == 0 {
        tokio::task::yield_now().await;
    }
    let socket = rig.served.socket().to_owned();
    drop(rig.served);
    assert_eq!(agent.read(&mut [0; 8]).await.unwrap(), 0);
    assert!(UnixStream::connect(&socket).await.is_err() && !socket.exists());
    assert_eq!(rig.gateway.records()[0].outcome, CallOutcome::Cancelled);
}

/// However many connections a trial opens, what it makes the server keep is bounded; and no other trial waits for it.
#[tokio::test]
async fn requests_beyond_what_may_be_kept_wait_for_room() {
    let rig = rig(vec![]);
    let head = format!("POST /v1/messages HTTP/1.1\r\n{}", rig.key());
    let mut held = Vec::new();
    for _ in 0..MAX_UNDER_WAY / MAX_REQUEST {
        let mut agent = UnixStream::connect(rig.served.socket()).await.unwrap();
        let begun = format!("{head}\r\nhost: g\r\ncontent-length: {MAX_REQUEST}\r\n\r\n{{");
        agent.write_all(begun.as_bytes()).await.unwrap();
        held.push(agent);
    }
    let patience = async {
        for _ in 0..10_000 {
            tokio::task::yield_now().await;
        }
    };
    let waits = rig.ask(&head, BODY);
    tokio::pin!(waits);
    tokio::select! {
        answer = &mut waits => panic!("{answer}"),
        () = patience => {}
    }
    held.pop();
    assert!(waits.await.starts_with("HTTP/1.1 200 OK"));
}
