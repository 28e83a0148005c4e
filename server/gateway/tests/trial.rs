//! What an agent sees of its gateway, and what is kept of it, whatever the provider does.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod support;

use domain::usage::TokenUsage;
use futures::StreamExt;
use gateway::{CallOutcome, CapReached, CapScope, Caps, Limit, ProviderTrouble, Spent, UpstreamError};
use support::{Act, Acting, STREAM, ask, call, cut, open, post, request, status, streamed};

const ONE_CALL: TokenUsage = TokenUsage { input: Some(10), cache_read: Some(2), cache_write: Some(3), output: Some(5) };

#[tokio::test]
async fn an_answer_passes_byte_for_byte_and_is_counted() {
    let upstream = Acting::new(vec![]);
    let gateway = open(upstream.clone(), Caps::default());
    assert_eq!(gateway.usage(), TokenUsage::ZERO);
    assert_eq!(call(&gateway, ask()).await, (http::StatusCode::OK, STREAM.to_owned(), true));
    assert_eq!(gateway.usage(), ONE_CALL);
    call(&gateway, ask()).await;
    assert_eq!(gateway.usage(), ONE_CALL.plus(&ONE_CALL));

    let seen = upstream.seen.lock().unwrap();
    assert_eq!(seen[0].body(), ask().body());
    assert_eq!(seen[0].uri(), "/v1/messages?beta=true");
    assert!(!seen[0].headers().contains_key("x-api-key"), "the trial's own token stays behind");
    let record = &gateway.records()[0];
    assert_eq!(
        (record.model.as_deref(), &record.outcome, record.status),
        (Some("m"), &CallOutcome::Answered, Some(200))
    );
    assert!(record.latency_to_first_byte_ms.is_some());
}

#[tokio::test]
async fn what_is_not_the_evaluations_is_refused_in_the_vendors_words() {
    let upstream = Acting::new(vec![]);
    let gateway = open(upstream.clone(), Caps::default());
    for (request, code, kind, words) in [
        (request(r#"{"model":"other"}"#), 404, "not_found_error", "model: other"),
        (request("not json"), 400, "invalid_request_error", "not a model request"),
        (
            http::Request::post("/v1/complete").header("x-api-key", "k").body(bytes::Bytes::new()).unwrap(),
            404,
            "not_found_error",
            "POST /v1/complete",
        ),
    ] {
        let (got, body, _) = call(&gateway, request).await;
        let body: serde_json::Value = serde_json::from_str(&body).unwrap();
        assert_eq!(
            (got.as_u16(), body["type"].as_str(), body["error"]["type"].as_str()),
            (code, Some("error"), Some(kind))
        );
        assert!(body["error"]["message"].as_str().unwrap().contains(words), "{body}");
    }
    assert_eq!(call(&gateway, request(r#"{"model":"small"}"#)).await.0, 200, "a declared side model");
    assert_eq!(call(&gateway, http::Request::head("/").body(bytes::Bytes::new()).unwrap()).await.0, 200, "a probe");
    assert_eq!((upstream.calls(), gateway.records().len(), gateway.trouble()), (1, 4, None));
    assert_eq!(gateway.usage(), ONE_CALL, "a refusal costs nothing");
}

#[tokio::test]
async fn caps_end_the_calls_and_are_remembered() {
    let used = ONE_CALL.total().unwrap();
    for (caps, answered, want) in [
        (Caps { calls: Some(2), ..Caps::default() }, 2, Limit::Calls { cap: 2 }),
        (Caps { tokens: Some(21), ..Caps::default() }, 2, Limit::Tokens { cap: 21, used: 2 * used }),
        (Caps { calls: Some(0), ..Caps::default() }, 0, Limit::Calls { cap: 0 }),
    ] {
        let want = CapReached { scope: CapScope::Trial, limit: want };
        let upstream = Acting::new(vec![]);
        let gateway = open(upstream.clone(), caps);
        for _ in 0..answered {
            assert_eq!(call(&gateway, ask()).await.0, 200);
        }
        assert_eq!(gateway.cap_reached(), None);
        let (code, body, _) = call(&gateway, ask()).await;
        assert_eq!((code.as_u16(), gateway.cap_reached(), upstream.calls()), (400, Some(want), answered));
        assert!(body.contains(&want.to_string()), "{body}");
    }
}

#[tokio::test(start_paused = true)]
async fn passing_trouble_is_borne_and_leaves_no_mark_but_the_retries() {
    let refused = Act::Fail(UpstreamError::Unreachable { reason: "connection refused".to_owned() });
    let early_error = streamed(vec![Ok("event: error\ndata: {\"type\":\"error\"}\n\n")]);
    for (acts, retries, usage) in [
        (vec![status(529, None)], 1, ONE_CALL),
        (vec![status(429, Some("2")), status(500, None)], 2, ONE_CALL),
        (vec![refused, Act::Answer(early_error)], 2, ONE_CALL),
        (vec![Act::Answer(streamed(vec![Err(cut())]))], 1, TokenUsage::UNKNOWN),
    ] {
        let gateway = open(Acting::new(acts), Caps::default());
        let (code, body, whole) = call(&gateway, ask()).await;
        assert_eq!((code.as_u16(), body.as_str(), whole), (200, STREAM, true));
        assert_eq!((gateway.records()[0].retries, gateway.trouble(), gateway.usage()), (retries, None, usage));
    }
}

#[tokio::test(start_paused = true)]
async fn lasting_trouble_ends_within_the_stated_time_in_its_class() {
    let many = |act: fn() -> Act| (0..50).map(|_| act()).collect::<Vec<_>>();
    for (acts, code, tries) in [
        (many(|| status(529, None)), 529, 6),
        (many(|| status(429, Some("600"))), 429, 1),
        (many(|| status(503, None)), 503, 6),
        (many(|| status(401, None)), 401, 1),
        (many(|| status(404, None)), 404, 1),
        (many(|| Act::Fail(cut())), 502, 6),
    ] {
        let upstream = Acting::new(acts);
        let gateway = open(upstream.clone(), Caps::default());
        let begun = tokio::time::Instant::now();
        let response = gateway.handle(ask()).await;
        assert_eq!(response.headers()["x-should-retry"], "false");
        assert_eq!((response.status().as_u16(), upstream.calls()), (code, tries));
        assert!(gateway.trouble().is_some());
        assert!(matches!(gateway.records()[0].outcome, CallOutcome::Trouble { .. }));

        // An agent that tries again by itself does not start the time anew.
        call(&gateway, ask()).await;
        assert!(begun.elapsed().as_secs() <= 20, "{:?}", begun.elapsed());
    }
}

#[tokio::test(start_paused = true)]
async fn a_silent_provider_is_trouble() {
    let gateway = open(Acting::new(vec![Act::Hang]), Caps::default());
    assert_eq!(
        call(&gateway, ask()).await,
        (http::StatusCode::OK, STREAM.to_owned(), true),
        "the time counts from the first failure"
    );

    let begun = b"event: ping\ndata: {\"type\":\"ping\"}\n\n";
    let silent =
        futures::stream::once(async move { Ok(bytes::Bytes::from_static(begun)) }).chain(futures::stream::pending());
    let gateway = open(Acting::new(vec![Act::Answer(http::Response::new(silent.boxed()))]), Caps::default());
    assert!(!call(&gateway, ask()).await.2);
    assert!(matches!(gateway.trouble(), Some(ProviderTrouble::TimedOut { .. })));
}

#[tokio::test(start_paused = true)]
async fn a_cut_stream_is_trouble_until_a_later_call_is_answered() {
    let start = STREAM.split("event: message_delta").next().unwrap();
    let upstream =
        Acting::new(vec![Act::Answer(streamed(vec![Ok(start), Err(cut())])), Act::Answer(streamed(vec![Ok(start)]))]);
    let gateway = open(upstream, Caps::default());
    for _ in 0..2 {
        let (code, body, _) = call(&gateway, ask()).await;
        assert_eq!((code.as_u16(), body.as_str()), (200, start));
        assert!(matches!(gateway.trouble(), Some(ProviderTrouble::Cut { .. })));
    }
    assert_eq!(
        gateway.usage(),
        TokenUsage { input: Some(20), cache_read: Some(4), cache_write: Some(6), output: None }
    );
    call(&gateway, ask()).await;
    assert_eq!((gateway.trouble(), gateway.usage().output), (None, None));
}

#[tokio::test(start_paused = true)]
async fn a_wrong_request_is_the_agents_and_an_empty_account_is_not() {
    let credit = || {
        let body = r#"{"error":{"message":"Your credit balance is too low"}}"#;
        let mut response = streamed(vec![Ok(body)]);
        *response.status_mut() = http::StatusCode::BAD_REQUEST;
        Act::Answer(response)
    };
    for (act, trouble) in [(status(400, None), false), (status(413, None), false), (credit(), true)] {
        let upstream = Acting::new(vec![act]);
        let gateway = open(upstream.clone(), Caps::default());
        let (code, _, _) = call(&gateway, ask()).await;
        assert!(code.is_client_error());
        assert_eq!((gateway.trouble().is_some(), upstream.calls(), gateway.usage()), (trouble, 1, TokenUsage::ZERO));
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_denied_from_the_first_call_on_is_denied_to_the_next_attempt_as_well() {
    let answered = || Act::Answer(streamed(vec![Ok(STREAM)]));
    for (name, acts, denied) in [
        ("denied", vec![status(401, None), status(401, None)], true),
        ("it passed", vec![status(401, None), answered()], false),
        ("served before", vec![answered(), status(401, None)], false),
        ("another trouble", vec![status(401, None), status(429, Some("600"))], false),
        ("a wrong request before", vec![status(400, None), status(404, None)], true),
    ] {
        let gateway = open(Acting::new(acts), Caps::default());
        call(&gateway, ask()).await;
        call(&gateway, ask()).await;
        assert_eq!(gateway.is_denied(), denied, "{name}: {:?}", gateway.trouble());
    }
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_goes_away_ends_the_call_upstream() {
    // In the middle of a stream.
    let (sender, held) = tokio::sync::oneshot::channel::<()>();
    let endless = futures::stream::once(async { Ok(bytes::Bytes::from_static(b"event: ping\n\n")) })
        .chain(futures::stream::once(async move {
            held.await.unwrap();
            Ok(bytes::Bytes::new())
        }))
        .boxed();
    let gateway = open(Acting::new(vec![Act::Answer(http::Response::new(endless))]), Caps::default());
    let mut response = gateway.handle(ask()).await;
    response.body_mut().next().await.unwrap().unwrap();
    assert!(!sender.is_closed());
    drop(response);
    assert!(sender.is_closed(), "the upstream's body is dropped");
    assert_eq!(
        (gateway.records()[0].outcome.clone(), gateway.usage().total(), gateway.trouble()),
        (CallOutcome::Cancelled, None, None)
    );

    // While the provider fails: that is the provider's doing.
    let gateway = open(Acting::new((0..50).map(|_| status(500, None)).collect()), Caps::default());
    let waited = tokio::time::timeout(std::time::Duration::from_secs(1), gateway.handle(ask())).await;
    assert!(waited.is_err());
    assert!(matches!(gateway.trouble(), Some(ProviderTrouble::Failed { status: 500, .. })));
    assert!(matches!(gateway.records()[0].outcome, CallOutcome::Trouble { .. }));
}

#[tokio::test]
async fn what_a_spent_budget_keeps_from_the_model_is_sighted_all_the_same() {
    let upstream = Acting::new(vec![]);
    let ticket = gateway::TrialTicket {
        caps: Caps { calls: Some(0), ..Caps::default() },
        watch: vec!["Counts sheep.".to_owned()],
        ..gateway::TrialTicket::new(domain::id::AttemptId(1), "m", "acting")
    };
    let gateway = gateway::Gateway::new(vec![upstream]).open(ticket).unwrap();
    let asked = r#"{"model":"m","system":"Counts sheep.","messages":[]}"#;
    assert_eq!(call(&gateway, request(asked)).await.0, 400);
    assert_eq!(gateway.sighted(), ["Counts sheep."]);
}

/// Who looks while a call is under way, or after one that nobody saw end, must not take what is known for all.
#[tokio::test(start_paused = true)]
async fn a_call_under_way_is_known_to_be_unknown() {
    let gateway = open(Acting::new(vec![Act::Hang]), Caps::default());
    let mut told = gateway.spending();
    let asking = {
        let gateway = gateway.clone();
        tokio::spawn(async move { call(&gateway, ask()).await })
    };
    told.changed().await.unwrap();
    let spent = |told: &Spent| (told.calls, told.uncounted, told.tokens);
    assert_eq!(spent(&told.borrow_and_update()), (1, 1, 0), "it is told as it begins");
    assert_eq!((gateway.usage(), gateway.cost(), gateway.calls()), (TokenUsage::UNKNOWN, None, 1));
    asking.abort();
    gateway.settled().await;
    assert_eq!((gateway.calls_under_way(), gateway.usage().total()), (0, None));
    call(&gateway, ask()).await;
    assert_eq!(spent(&told.borrow_and_update()), (2, 1, 20), "what was left by the agent stays uncounted");
    for request in [request(r#"{"model":"other"}"#), post("/v1/messages/count_tokens", r#"{"model":"m"}"#)] {
        call(&gateway, request).await;
        assert_eq!(spent(&told.borrow_and_update()), (2, 1, 20), "no call that spends");
    }
}

/// What a try may have spent that nobody tells stays unknown, whatever becomes of the call afterwards; what is known is the least of it.
#[tokio::test(start_paused = true)]
async fn an_untold_try_leaves_its_call_unknown() {
    let many = |code| (0..50).map(move |_| status(code, None));
    let cut_at_once = || Act::Answer(streamed(vec![Err(cut())]));
    for (name, acts, tokens) in [
        ("silent, then answered", vec![Act::Hang], 20),
        ("cut before its first byte, then answered", vec![Act::Fail(cut())], 20),
        ("cut at its first byte, overloaded, then answered", vec![cut_at_once(), status(529, None)], 20),
        ("silent, then found wrong", vec![Act::Hang, status(400, None)], 0),
        ("silent, then given up", std::iter::once(Act::Hang).chain(many(500)).collect(), 0),
        ("silent, then denied", vec![Act::Hang, status(401, None)], 0),
    ] {
        let gateway = open(Acting::new(acts), Caps::default());
        let spending = gateway.spending();
        call(&gateway, ask()).await;
        let record = &gateway.records()[0];
        assert_eq!((record.usage, record.cost), (TokenUsage::UNKNOWN, None), "{name}");
        assert_eq!((gateway.usage(), gateway.cost()), (TokenUsage::UNKNOWN, None), "{name}");
        let told = *spending.borrow();
        assert_eq!((told.calls, told.uncounted, told.tokens), (1, 1, tokens), "{name}");
    }
    for (name, acts) in [
        ("overloaded, then answered", vec![status(529, None)]),
        ("unreachable, then answered", vec![Act::Fail(UpstreamError::Unreachable { reason: "no route".to_owned() })]),
    ] {
        let gateway = open(Acting::new(acts), Caps::default());
        call(&gateway, ask()).await;
        assert_eq!(gateway.usage(), ONE_CALL, "{name}");
    }
    let gateway = open(Acting::new(vec![Act::Hang]), Caps { tokens: Some(20), ..Caps::default() });
    call(&gateway, ask()).await;
    assert_eq!(call(&gateway, ask()).await.0, 400, "what is known counts against a cap");
}

#[tokio::test(start_paused = true)]
async fn trouble_is_mended_by_an_answer_of_what_failed() {
    let side = || request(r#"{"model":"small","messages":[]}"#);
    let count = || post("/v1/messages/count_tokens", r#"{"model":"m"}"#);
    let answered: fn() -> Vec<Act> = Vec::new;
    let wrong: fn() -> Vec<Act> = || vec![status(400, None)];
    for (name, fails, then, acts, mended) in [
        ("the model, then a side model answers", ask as fn() -> _, side as fn() -> _, answered, false),
        ("the model, then a side model's request is wrong", ask, side, wrong, false),
        ("the model, then a count of tokens", ask, count, answered, false),
        ("the model, then the model", ask, ask, answered, true),
        ("the model, then the model finds the request wrong", ask, ask, wrong, true),
        ("a side model, then itself", side, side, answered, true),
        ("a side model, then the model", side, ask, answered, true),
        ("a side model, then a count of tokens", side, count, answered, false),
        ("a count of tokens, then the same", count, count, answered, true),
        ("a count of tokens, then the model", count, ask, answered, true),
        ("a count of tokens, then a side model", count, side, answered, false),
    ] {
        let acts = std::iter::once(status(401, None)).chain(acts()).collect();
        let gateway = open(Acting::new(acts), Caps::default());
        call(&gateway, fails()).await;
        assert!(gateway.trouble().is_some(), "{name}");
        call(&gateway, then()).await;
        assert_eq!(gateway.trouble().is_none(), mended, "{name}");
    }
    // Of two that fail, the evaluation's model is the one that is told.
    let gateway = open(Acting::new(vec![status(401, None), status(403, None)]), Caps::default());
    call(&gateway, ask()).await;
    call(&gateway, side()).await;
    assert!(matches!(gateway.trouble(), Some(ProviderTrouble::Denied { status: 401, .. })));
}

/// The time for which trouble is borne is each model's own: a side model that answers does not begin it anew.
#[tokio::test(start_paused = true)]
async fn a_side_model_that_answers_does_not_lengthen_the_patience() {
    let failing = || status(529, None);
    let acts =
        (0..6).map(|_| failing()).chain([Act::Answer(streamed(vec![Ok(STREAM)]))]).chain((0..50).map(|_| failing()));
    let gateway = open(Acting::new(acts.collect()), Caps::default());
    let begun = tokio::time::Instant::now();
    call(&gateway, ask()).await;
    call(&gateway, request(r#"{"model":"small","messages":[]}"#)).await;
    call(&gateway, ask()).await;
    assert!(begun.elapsed().as_secs() <= 20 && gateway.trouble().is_some(), "{:?}", begun.elapsed());
}
