//! What a process in a container can make the server keep or pass on, however often and with whatever it calls.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod support;

use domain::usage::TokenUsage;
use gateway::ledger::KEPT_REFUSALS;
use gateway::serve::{TrialToken, serve};
use gateway::{CallOutcome, Caps};
use support::{Acting, ask, call, open, post, request};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;

const MORE: u64 = 40;

#[tokio::test]
async fn calls_without_a_key_are_counted_and_no_more() {
    let folder = tempfile::tempdir().unwrap();
    let gateway = open(Acting::new(vec![]), Caps::default());
    let served = serve(gateway.clone(), TrialToken::random().unwrap(), &folder.path().join("run")).unwrap();
    let spending = gateway.spending();
    let mut stream = UnixStream::connect(served.socket()).await.unwrap();
    for _ in 1..KEPT_REFUSALS + MORE {
        stream.write_all(b"POST /x HTTP/1.1\r\nhost: g\r\ncontent-length: 0\r\n\r\n").await.unwrap();
    }
    stream.write_all(b"POST /x HTTP/1.1\r\nhost: g\r\nconnection: close\r\ncontent-length: 0\r\n\r\n").await.unwrap();
    let mut answers = String::new();
    stream.read_to_string(&mut answers).await.unwrap();
    assert_eq!(answers.matches("HTTP/1.1 401 ").count() as u64, KEPT_REFUSALS + MORE);
    assert_eq!((gateway.records().len() as u64, gateway.left_out()), (KEPT_REFUSALS, MORE));
    assert!(!spending.has_changed().unwrap(), "nothing was spent, and nobody is woken");
    assert_eq!((gateway.calls(), gateway.usage(), gateway.cost()), (0, TokenUsage::ZERO, Some(0.0)));
}

#[tokio::test]
async fn whatever_is_refused_is_kept_up_to_a_bound_and_never_hides_a_later_call() {
    for refused in [
        || request(r#"{"model":"other"}"#),
        || request("no JSON"),
        || post("/v1/embeddings", "{}"),
        || request(r#"{"model":"m","mcp_servers":[{"type":"url","url":"https://x"}]}"#),
    ] {
        let gateway = open(Acting::new(vec![]), Caps::default());
        let mut spending = gateway.spending();
        for _ in 0..KEPT_REFUSALS + MORE {
            call(&gateway, refused()).await;
        }
        assert!(matches!(gateway.last_outcome(), Some(CallOutcome::Refused { .. })));
        assert!(!spending.has_changed().unwrap());
        call(&gateway, ask()).await;
        assert_eq!((gateway.records().len() as u64, gateway.left_out()), (KEPT_REFUSALS + 1, MORE));
        assert_eq!((gateway.last_outcome(), gateway.calls()), (Some(CallOutcome::Answered), 1));
        assert_eq!((spending.borrow_and_update().tokens, gateway.usage().total()), (20, Some(20)));
    }
}

/// Without a cap of the plan's there is one all the same.
#[tokio::test]
async fn calls_end_at_a_bound_that_no_agent_meets() {
    let most = usize::try_from(gateway::MOST_CALLS).unwrap();
    for (asked, words, is_spent) in [
        (ask as fn() -> _, "10000 model calls", true),
        (|| post("/v1/messages/count_tokens", r#"{"model":"m"}"#), "10000 questions for a number of tokens", false),
    ] {
        let upstream = Acting::new(vec![]);
        let gateway = open(upstream.clone(), Caps::default());
        for _ in 0..most {
            assert_eq!(call(&gateway, asked()).await.0, 200);
        }
        let (status, body, _) = call(&gateway, asked()).await;
        assert_eq!((status.as_u16(), upstream.calls(), gateway.records().len()), (400, most, most + 1));
        assert!(body.contains(words), "{body}");
        assert_eq!(gateway.cap_reached().is_some(), is_spent, "what is free ends no trial");
    }
    let gateway = open(Acting::new(vec![]), Caps { calls: Some(gateway::MOST_CALLS + 1), ..Caps::default() });
    for _ in 0..=most {
        assert_eq!(call(&gateway, ask()).await.0, 200, "the plan's own cap is the one that holds");
    }
}

#[tokio::test]
async fn a_long_request_is_neither_kept_nor_said_back() {
    const LONG: usize = 1 << 20;
    let long = "x".repeat(LONG);
    let tool = serde_json::json!({"model": "m", "tools": [{"type": long}]}).to_string();
    for (path, body) in [
        ("/v1/messages".to_owned(), format!(r#"{{"model":"{long}"}}"#)),
        ("/v1/messages".to_owned(), tool),
        (format!("/{}", "x".repeat(60_000)), String::new()),
    ] {
        let gateway = open(Acting::new(vec![]), Caps::default());
        let (status, answer, _) = call(&gateway, post(&path, body)).await;
        assert!(status.is_client_error() && answer.len() < 1000, "{} bytes", answer.len());
        let kept = serde_json::to_string(&gateway.records()).unwrap();
        assert!(kept.len() < 2000, "{} bytes", kept.len());
    }
}
