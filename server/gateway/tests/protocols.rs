//! Recorded answers of each vendor: they pass byte for byte, and their tokens, end, errors and model are read from the wire.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod support;

use std::collections::BTreeMap;

use bytes::Bytes;
use domain::usage::TokenUsage;
use futures::{StreamExt, stream};
use gateway::usage::{UsageReader, WireReading};
use gateway::{CallOutcome, Caps, Protocol};
use http::Response;
use serde::Deserialize;
use support::{Act, Acting, call, open, path, post};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cases/wire");

#[derive(Deserialize)]
struct Expected {
    protocol: Protocol,
    usage: TokenUsage,
    complete: bool,
    error: Option<(String, String)>,
    model: Option<String>,
    off_list: bool,
}

/// Each case: its name, what came over the wire, and what that means.
fn cases() -> Vec<(String, String, Expected)> {
    let expected = std::fs::read_to_string(format!("{FOLDER}/expect.json")).unwrap();
    let expected: BTreeMap<String, Expected> = serde_json::from_str(&expected).unwrap();
    let files = std::fs::read_dir(FOLDER).unwrap().count();
    assert_eq!(files, expected.len() + 1, "every file has its expectation");
    let text = |name: &String| std::fs::read_to_string(format!("{FOLDER}/{name}")).unwrap();
    expected.into_iter().map(|(name, expected)| (name.clone(), text(&name), expected)).collect()
}

fn kind(name: &str) -> &'static str {
    if name.ends_with(".sse") { "text/event-stream" } else { "application/json; charset=utf-8" }
}

#[test]
fn tokens_end_errors_and_model_are_read_in_pieces_of_any_size() {
    for (name, text, expected) in cases() {
        for size in [1, 7, text.len()] {
            let mut reader = UsageReader::new(expected.protocol, kind(&name));
            text.as_bytes().chunks(size).for_each(|piece| reader.push(piece));
            let WireReading { usage, complete, error, model, off_list, .. } = reader.reading(true);
            assert_eq!(
                (usage, complete, &error, &model, off_list.is_some()),
                (expected.usage, expected.complete, &expected.error, &expected.model, expected.off_list),
                "{name} in pieces of {size}"
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn answers_pass_byte_for_byte_and_are_recorded() {
    for (name, text, expected) in cases() {
        let pieces: Vec<_> = text.as_bytes().chunks(100).map(|piece| Ok(Bytes::copy_from_slice(piece))).collect();
        let answer = Response::builder()
            .header("content-type", kind(&name))
            .header("x-vendor-header", "kept")
            .body(stream::iter(pieces).boxed())
            .unwrap();
        let gateway = open(Acting::new(vec![Act::Answer(answer)]), Caps::default());
        let asked = r#"{"model":"m","stream":true,"unknown_field":{"kept":[1,2.50,"ü"]}}"#;
        let early = expected.protocol == Protocol::Gemini && expected.error.is_some();
        let (status, got, whole) = call(&gateway, post(path(expected.protocol), asked)).await;
        assert_eq!((status.as_u16(), whole), (200, true), "{name}");
        if early {
            continue; // Nothing had been said yet, so it was tried again.
        }
        assert_eq!(got, text, "{name}");
        let record = &gateway.records()[0];
        assert_eq!((record.protocol, record.usage), (expected.protocol, expected.usage), "{name}");
        assert_eq!(record.answered_by, expected.model, "{name}");
        let answered = expected.complete && expected.error.is_none();
        assert_eq!(record.outcome == CallOutcome::Answered, answered, "{name}: {record:?}");
        assert_eq!(gateway.trouble().is_none(), answered, "{name}");
    }
}

#[tokio::test]
async fn requests_pass_byte_for_byte_but_for_credentials() {
    for protocol in Protocol::ALL {
        let upstream = Acting::new(vec![]);
        let gateway = open(upstream.clone(), Caps::default());
        let body = "{ \"model\":\"m\",\n \"tools\":null, \"unknown\":{\"b\":1,\"a\":[2.50]} }";
        let mut request = post(path(protocol), body);
        for (name, value) in [
            ("authorization", "Bearer k"),
            ("x-api-key", "k"),
            ("x-goog-api-key", "k"),
            ("anthropic-beta", "b"),
            ("openai-beta", "responses=v1"),
        ] {
            request.headers_mut().insert(name, value.parse().unwrap());
        }
        call(&gateway, request).await;
        let seen = upstream.seen.lock().unwrap();
        assert_eq!((seen[0].body(), seen[0].uri().to_string()), (&Bytes::from(body), path(protocol).to_owned()));
        let mut names: Vec<_> = seen[0].headers().keys().map(|name| name.as_str()).collect();
        names.sort_unstable();
        assert_eq!(names, ["accept-encoding", "anthropic-beta", "openai-beta"]);
    }
}

#[tokio::test]
async fn counting_tokens_is_free_and_not_a_call() {
    for (path, body) in [("/v1/messages/count_tokens", r#"{"model":"m"}"#), ("/v1beta/models/m:countTokens", "{}")] {
        let answer = Response::builder()
            .header("content-type", "application/json")
            .body(stream::iter([Ok(Bytes::from_static(b"{\"input_tokens\":7}"))]).boxed())
            .unwrap();
        let gateway = open(Acting::new(vec![Act::Answer(answer)]), Caps { calls: Some(0), ..Caps::default() });
        assert_eq!(call(&gateway, post(path, body)).await.1, "{\"input_tokens\":7}");
        let record = &gateway.records()[0];
        assert_eq!(
            (&record.outcome, gateway.usage(), gateway.cost()),
            (&CallOutcome::Answered, TokenUsage::ZERO, Some(0.0))
        );
        let other = post(&path.replace("/m:", "/other:"), body.replace("\"m\"", "\"other\""));
        assert_eq!(call(&gateway, other).await.0, 404, "of another model, it is refused as well");
    }
}
