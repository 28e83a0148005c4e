//! What is kept of a call is what pages read: the stored form and its reader stand in two packages.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use domain::model_call::{CallEnd, ModelCalls};
use domain::usage::TokenUsage;
use gateway::{CallOutcome, CallRecord, Protocol};

fn record(outcome: CallOutcome) -> CallRecord {
    CallRecord {
        protocol: Protocol::Anthropic,
        endpoint: "/v1/messages".to_owned(),
        model: Some("m".to_owned()),
        answered_by: None,
        outcome,
        declined: false,
        status: Some(200),
        usage: TokenUsage { input: Some(3), cache_read: None, cache_write: Some(0), output: Some(5) },
        cost: Some(0.25),
        started_after_ms: 1,
        latency_to_first_byte_ms: Some(2),
        total_ms: 7,
        retries: 4,
        replayed: true,
        drifted: false,
    }
}

#[test]
fn every_end_of_a_call_is_read_back() {
    let text = || "why".to_owned();
    let ends = [
        (CallOutcome::Answered, CallEnd::Answered),
        (CallOutcome::Rejected { message: text() }, CallEnd::Rejected { message: text() }),
        (CallOutcome::Refused { reason: text() }, CallEnd::Refused { reason: text() }),
        (CallOutcome::Trouble { message: text() }, CallEnd::Trouble { message: text() }),
        (CallOutcome::Cancelled, CallEnd::Cancelled),
    ];
    let records: Vec<CallRecord> = ends.iter().map(|(outcome, _)| record(outcome.clone())).collect();
    let calls = ModelCalls::read(&serde_json::to_vec(&records).unwrap(), 9).unwrap();
    assert_eq!((calls.of, calls.shown.len()), (5, 5));
    for ((_, end), call) in ends.iter().zip(&calls.shown) {
        assert_eq!((&call.outcome, call.endpoint.as_str(), call.model.as_deref()), (end, "/v1/messages", Some("m")));
        assert_eq!((call.usage, call.cost, call.status), (records[0].usage, Some(0.25), Some(200)));
        let times = (call.started_after_ms, call.latency_to_first_byte_ms, call.total_ms, call.retries, call.replayed);
        assert_eq!(times, (1, Some(2), 7, 4, true));
    }
}
