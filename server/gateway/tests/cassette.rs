//! Answers recorded in one run and given again in the next.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod support;

use std::path::Path;
use std::sync::Arc;

use domain::id::AttemptId;
use gateway::upstream::cassette::{Recording, Replay};
use gateway::{Gateway, Protocol, ProviderTrouble, TrialGateway, TrialTicket, Upstream, UpstreamError};
use http::StatusCode;
use support::{Act, Acting, STREAM, call, cut, path, post, status, streamed};

fn open(upstream: Arc<dyn Upstream>, lane: &str, attempt: i64) -> TrialGateway {
    let ticket = TrialTicket { lane: lane.to_owned(), ..TrialTicket::new(AttemptId(attempt), "m", upstream.name()) };
    Gateway::new(vec![upstream]).open(ticket).unwrap()
}

fn recording(folder: &Path, acts: Vec<Act>) -> Arc<dyn Upstream> {
    Arc::new(Recording::new(Acting::new(acts), folder).unwrap())
}

fn replay(folder: &Path) -> Arc<dyn Upstream> {
    Arc::new(Replay::open("acting", folder).unwrap())
}

async fn say(gateway: &TrialGateway, words: &str) -> (StatusCode, String, bool) {
    let body = format!(
        r#"{{"model":"m","stream":true,"metadata":{{"user_id":"{words}"}},"messages":[{{"role":"user","content":"{words}"}}]}}"#
    );
    call(gateway, post("/v1/messages", body)).await
}

fn answer(text: &'static str) -> Act {
    Act::Answer(streamed(vec![Ok(text), Ok(STREAM)]))
}

#[tokio::test]
async fn a_replay_gives_the_same_answers_tokens_and_marks() {
    let folder = tempfile::tempdir().unwrap();
    let first = ": first\n\n";
    let recorded = open(recording(folder.path(), vec![answer(first), answer(": second\n\n")]), "task with 1", 1);
    let told = [say(&recorded, "today is 2026-11-30").await, say(&recorded, "today is 2026-11-30").await];
    assert_ne!(told[0], told[1]);

    // Another day, another attempt; the same question twice gets both answers in their order.
    let replayed = open(replay(folder.path()), "task with 1", 77);
    assert_eq!([say(&replayed, "today is 2027-01-02").await, say(&replayed, "today is 2027-01-02").await], told);
    assert_eq!((replayed.usage(), replayed.trouble()), (recorded.usage(), None));
    assert!(replayed.is_scripted() && replayed.is_replayed() && !recorded.is_replayed());
    assert!(replayed.records().iter().all(|record| record.replayed));
    let text = std::fs::read_to_string(files(folder.path()).pop().unwrap()).unwrap();
    assert_eq!(text.lines().count(), 2);
}

fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    let lanes = std::fs::read_dir(folder).unwrap().map(|lane| lane.unwrap().path());
    lanes.flat_map(|lane| std::fs::read_dir(lane).unwrap().map(|file| file.unwrap().path())).collect()
}

#[tokio::test(start_paused = true)]
async fn a_miss_is_refused_loudly_and_says_what_differs() {
    let folder = tempfile::tempdir().unwrap();
    say(&open(recording(folder.path(), vec![]), "lane", 1), "one").await;
    for (lane, asked, words) in [
        ("lane", vec!["two"], "the nearest recorded request differs in messages[0000]"),
        ("lane", vec!["one", "one"], "asks this for time 2, and 1 answers are recorded"),
        ("other lane", vec!["one"], "nothing is recorded of trial 'other lane'"),
    ] {
        let gateway = open(replay(folder.path()), lane, 2);
        let mut last = None;
        for words in asked {
            last = Some(say(&gateway, words).await);
        }
        let (status, body, _) = last.unwrap();
        assert_eq!(status, 502);
        assert!(body.contains("the recording has no answer") && body.contains(words), "{body}");
        assert!(matches!(gateway.trouble(), Some(ProviderTrouble::NotRecorded { .. })));
    }
}

#[tokio::test]
async fn the_last_attempt_counts_and_improper_answers_are_not_kept() {
    let folder = tempfile::tempdir().unwrap();
    say(&open(recording(folder.path(), vec![answer(": old\n\n")]), "lane", 9), "one").await;
    let acts = vec![
        Act::Answer(streamed(vec![Ok(STREAM.split("event: message_delta").next().unwrap()), Err(cut())])),
        answer(": new\n\n"),
        status(400, None),
    ];
    let recorded = open(recording(folder.path(), acts), "lane", 10);
    for words in ["one", "one", "too long"] {
        say(&recorded, words).await;
    }
    let replayed = open(replay(folder.path()), "lane", 11);
    assert!(say(&replayed, "one").await.1.starts_with(": new"));
    assert_eq!(say(&replayed, "too long").await.0, 400, "a request that is wrong by itself stays wrong");
    assert_eq!(replayed.trouble(), None);
}

#[tokio::test]
async fn every_protocol_is_kept_and_a_damaged_file_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let script = r#"{"schema": "skilldelta-model-1", "rules": [{"turns": [{"text": "Hello, all of you.", "usage": {"input": 9}}]}]}"#;
    let scripted = gateway::upstream::scripted::ScriptedUpstream::parse("acting", "s", script.as_bytes()).unwrap();
    let recorded = open(Arc::new(Recording::new(Arc::new(scripted), folder.path()).unwrap()), "lane", 1);
    let replayed = open(replay(folder.path()), "lane", 2);
    let body = r#"{"model":"m","stream":true,"stream_options":{"include_usage":true}}"#;
    let mut told = Vec::new();
    for protocol in Protocol::ALL {
        told.push(call(&recorded, post(path(protocol), body)).await);
    }
    for (protocol, told) in Protocol::ALL.into_iter().zip(told) {
        assert_eq!(call(&replayed, post(path(protocol), body)).await, told);
    }
    assert_eq!(replayed.usage(), recorded.usage());
    assert!(replayed.usage().total().is_some());

    std::fs::write(files(folder.path()).pop().unwrap(), "{").unwrap();
    let error = replay(folder.path()).send(request_of("lane")).await.err().unwrap();
    assert!(matches!(&error, UpstreamError::NotRecorded { reason } if reason.contains("1.jsonl")), "{error}");
    assert!(Replay::open("r", folder.path().join("absent")).err().unwrap().to_string().contains("absent"));
}

#[tokio::test]
async fn other_answers_of_tools_give_the_recorded_answer_marked_as_drifted() {
    let folder = tempfile::tempdir().unwrap();
    let body = |result: &str| {
        let results = format!(r#"[{{"type":"tool_result","tool_use_id":"t","content":"{result}"}}]"#);
        format!(r#"{{"model":"m","stream":true,"messages":[{{"role":"user","content":{results}}}]}}"#)
    };
    let recorded = open(recording(folder.path(), vec![answer(": first\n\n")]), "lane", 1);
    let told = call(&recorded, post("/v1/messages", body("out, err"))).await;
    let replayed = open(replay(folder.path()), "lane", 2);
    assert_eq!(call(&replayed, post("/v1/messages", body("err, out"))).await, told);
    assert_eq!((replayed.records()[0].drifted, recorded.records()[0].drifted), (true, false));
    assert_eq!(call(&replayed, post("/v1/messages", body("out, err"))).await.0, 502, "it is given once");
}

fn request_of(lane: &str) -> http::Request<bytes::Bytes> {
    let mut request = post("/v1/messages", "{}");
    let (lane, attempt, protocol) = (lane.to_owned(), AttemptId(3), Protocol::Anthropic);
    request.extensions_mut().insert(gateway::upstream::CallOf { lane, attempt, protocol });
    request
}
