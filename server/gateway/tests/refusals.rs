//! What the gateway does not pass on, said in each vendor's own form; and what may be spent.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod support;

use std::sync::Arc;
use std::time::Duration;

use domain::id::AttemptId;
use gateway::{
    CallOutcome, CapReached, CapScope, Caps, Gateway, Limit, OpenError, PriceTable, Protocol, ProviderTools,
    SharedBudget, Spent, TrialGateway, TrialTicket,
};
use serde_json::{Value, json};
use support::{Acting, ask, call, open, path, post};

/// Status, kind and code of an error as its vendor words it, with its message.
fn read(protocol: Protocol, body: &str) -> (String, String, String) {
    let body: Value = serde_json::from_str(body).unwrap();
    let word = |path: &str| body.pointer(path).and_then(Value::as_str).unwrap_or_default().to_owned();
    let kind = match protocol {
        Protocol::Anthropic => {
            assert_eq!(body["type"], "error");
            "/error/type"
        }
        Protocol::OpenaiChat | Protocol::OpenaiResponses => "/error/type",
        Protocol::Gemini => "/error/status",
    };
    (word(kind), word("/error/code"), word("/error/message"))
}

#[tokio::test]
async fn other_models_and_unreadable_bodies_are_refused_in_the_vendors_form() {
    use Protocol::{Anthropic, Gemini, OpenaiChat, OpenaiResponses};
    let model = r#"{"model":"other"}"#;
    for (protocol, path, body, status, kind, code) in [
        (Anthropic, "/v1/messages", model, 404, "not_found_error", ""),
        (OpenaiChat, "/v1/chat/completions", model, 404, "invalid_request_error", "model_not_found"),
        (
            OpenaiChat,
            "/chat/completions",
            r#"{"model":"m","models":["m","other"]}"#,
            404,
            "invalid_request_error",
            "model_not_found",
        ),
        (OpenaiResponses, "/v1/responses", model, 404, "invalid_request_error", "model_not_found"),
        (Gemini, "/v1beta/models/other:generateContent", "{}", 404, "NOT_FOUND", ""),
        (Anthropic, "/v1/messages", r#"{"model":"m","model":"other"}"#, 400, "invalid_request_error", ""),
        (OpenaiResponses, "/responses", r#"{"model":"m","model":"other"}"#, 400, "invalid_request_error", ""),
        (OpenaiChat, "/v1/chat/completions", "[", 400, "invalid_request_error", ""),
        (Gemini, "/v1beta/models/m:generateContent", "x", 400, "INVALID_ARGUMENT", ""),
        (Gemini, "/v1beta/models/m:predict", "{}", 404, "NOT_FOUND", ""),
        (OpenaiChat, "/v1/embeddings", "{}", 404, "invalid_request_error", "unknown_url"),
    ] {
        let upstream = Acting::new(vec![]);
        let gateway = open(upstream.clone(), Caps::default());
        let (got, text, _) = call(&gateway, post(path, body)).await;
        let (got_kind, got_code, message) = read(protocol, &text);
        assert_eq!((got.as_u16(), got_kind.as_str(), got_code.as_str()), (status, kind, code), "{path} {body}: {text}");
        assert!(!message.is_empty());
        assert_eq!((upstream.calls(), gateway.cost(), gateway.trouble()), (0, Some(0.0), None));
        let record = &gateway.records()[0];
        assert!(matches!(record.outcome, CallOutcome::Refused { .. }) && record.status == Some(status));
    }
}

fn with_tools(tools: &Value) -> String {
    json!({"model": "m", "tools": tools, "input": [], "messages": [], "contents": []}).to_string()
}

#[tokio::test]
async fn the_providers_own_tools_are_refused_while_the_network_is_closed() {
    use Protocol::{Anthropic, Gemini, OpenaiChat, OpenaiResponses};
    let function = json!({"type": "function", "name": "f"});
    for (protocol, tools, hosted) in [
        (Anthropic, json!([{"name": "Bash", "input_schema": {}}, {"type": "custom", "name": "x"}]), None),
        (Anthropic, json!([{"type": "bash_20250124", "name": "bash"}, {"type": "text_editor_20250728"}]), None),
        (Anthropic, json!([{"type": "tool_search_tool_regex_20251119", "name": "t"}]), None),
        (Anthropic, json!([{"type": "web_search_20250305", "name": "web_search"}]), Some("web_search_20250305")),
        (Anthropic, json!([{"name": "B"}, {"type": "web_fetch_20250910"}]), Some("web_fetch_20250910")),
        (Anthropic, json!([{"type": "code_execution_20250825"}]), Some("code_execution_20250825")),
        (Anthropic, json!([{"type": "mcp_toolset", "mcp_server_name": "s"}]), Some("mcp_toolset")),
        (Anthropic, json!([{"type": "not_yet_known_20990101"}]), Some("not_yet_known_20990101")),
        (OpenaiChat, json!([{"type": "function", "function": {"name": "web_search"}}]), None),
        (OpenaiChat, json!([{"type": "web_search"}]), Some("web_search")),
        (
            OpenaiResponses,
            json!([function, {"type": "custom"}, {"type": "local_shell"}, {"type": "namespace", "tools": []}]),
            None,
        ),
        (OpenaiResponses, json!([{"type": "shell", "environment": {"type": "local"}}, {"type": "tool_search"}]), None),
        (OpenaiResponses, json!([{"type": "shell", "environment": {"type": "container_auto"}}]), Some("shell")),
        (OpenaiResponses, json!([function, {"type": "web_search", "external_web_access": false}]), Some("web_search")),
        (OpenaiResponses, json!([{"type": "mcp", "server_url": "https://x"}]), Some("mcp")),
        (OpenaiResponses, json!([{"type": "code_interpreter"}]), Some("code_interpreter")),
        (Gemini, json!([{"functionDeclarations": [{"name": "google_web_search"}]}]), None),
        (Gemini, json!([{"function_declarations": []}, {"googleSearch": {}}]), Some("googleSearch")),
        (Gemini, json!([{"url_context": {}}]), Some("url_context")),
        (Gemini, json!([{"codeExecution": {}}]), Some("codeExecution")),
    ] {
        let upstream = Acting::new(vec![]);
        let gateway = open(upstream.clone(), Caps::default());
        let (status, text, _) = call(&gateway, post(path(protocol), with_tools(&tools))).await;
        match hosted {
            None => assert_eq!((status.as_u16(), upstream.calls()), (200, 1), "{tools}: {text}"),
            Some(name) => {
                assert_eq!((status.as_u16(), upstream.calls()), (400, 0), "{tools}");
                let (_, _, message) = read(protocol, &text);
                assert!(message.contains(name) && message.contains("network is closed"), "{message}");
            }
        }
    }
}

#[tokio::test]
async fn other_ways_out_are_refused_too_and_all_are_allowed_with_an_open_network() {
    for (protocol, body) in [
        (Protocol::Anthropic, json!({"model": "m", "mcp_servers": [{"type": "url", "url": "https://x"}]})),
        (
            Protocol::Anthropic,
            json!({"model": "m", "messages": [{"role": "user", "content": [{"type": "image", "source": {"type": "url", "url": "https://x"}}]}]}),
        ),
        (Protocol::OpenaiChat, json!({"model": "m", "web_search_options": {}})),
        (Protocol::OpenaiChat, json!({"model": "m", "plugins": [{"id": "web"}]})),
        (Protocol::OpenaiResponses, json!({"model": "m", "prompt": {"id": "pmpt_1"}})),
        (Protocol::OpenaiResponses, json!({"model": "m", "tools": [{"type": "web_search"}]})),
    ] {
        let closed = open(Acting::new(vec![]), Caps::default());
        assert_eq!(call(&closed, post(path(protocol), body.to_string())).await.0, 400, "{body}");
        let ticket =
            TrialTicket { provider_tools: ProviderTools::Allowed, ..TrialTicket::new(AttemptId(1), "m", "acting") };
        let opened = Gateway::new(vec![Acting::new(vec![])]).open(ticket).unwrap();
        assert_eq!(call(&opened, post(path(protocol), body.to_string())).await.0, 200, "{body}");
    }
}

/// A gateway whose every call of [`support::STREAM`] costs 1.0.
fn priced(caps: Caps, budget: Option<Arc<SharedBudget>>) -> Result<TrialGateway, OpenError> {
    let prices = "dated = \"2026-01-01\"\ncurrency = \"USD\"\n[[model]]\nnames = [\"m\"]\ninput = 1e5\ncache_read = 0.0\ncache_write = 0.0\noutput = 0.0\n";
    let ticket = TrialTicket { caps, budget, ..TrialTicket::new(AttemptId(1), "m", "acting") };
    let gateway = Gateway::new(vec![Acting::new(vec![])]).with_prices(PriceTable::parse("test", prices).unwrap());
    gateway.open(ticket)
}

#[tokio::test(start_paused = true)]
async fn money_and_time_end_the_calls() {
    let gateway = priced(Caps { money: Some(1.5), ..Caps::default() }, None).unwrap();
    for _ in 0..2 {
        assert_eq!(call(&gateway, ask()).await.0, 200);
    }
    assert_eq!((gateway.cost(), gateway.price_version().as_str()), (Some(2.0), "USD 2026-01-01"));
    assert_eq!(call(&gateway, ask()).await.0, 400);
    let limit = Limit::Money { cap: 1.5, spent: 2.0 };
    assert_eq!(gateway.cap_reached(), Some(CapReached { scope: CapScope::Trial, limit }));

    let gateway = priced(Caps { time: Some(Duration::from_secs(60)), ..Caps::default() }, None).unwrap();
    assert_eq!(call(&gateway, ask()).await.0, 200);
    tokio::time::advance(Duration::from_secs(60)).await;
    assert_eq!(call(&gateway, ask()).await.0, 400);
    assert_eq!(gateway.cap_reached().unwrap().to_string(), "60 s of model use");
}

/// What a trial's own cap refuses spends nothing of the evaluation's.
#[tokio::test]
async fn a_refused_call_is_none_of_the_evaluations() {
    let budget = Arc::new(SharedBudget::new(Caps { calls: Some(9), ..Caps::default() }, Spent::default()));
    let gateway = priced(Caps { calls: Some(1), ..Caps::default() }, Some(Arc::clone(&budget))).unwrap();
    let told = [call(&gateway, ask()).await.0, call(&gateway, ask()).await.0, call(&gateway, ask()).await.0];
    assert_eq!(told.map(|status| status.as_u16()), [200, 400, 400]);
    assert_eq!(budget.spent().calls, 1);
}

#[tokio::test]
async fn an_evaluations_trials_spend_from_one_budget() {
    let spent = Spent { tokens: 15, ..Spent::default() };
    let budget = Arc::new(SharedBudget::new(Caps { tokens: Some(50), calls: Some(9), ..Caps::default() }, spent));
    let (one, two) =
        (priced(Caps::default(), Some(Arc::clone(&budget))), priced(Caps::default(), Some(Arc::clone(&budget))));
    let (one, two) = (one.unwrap(), two.unwrap());
    assert_eq!((call(&one, ask()).await.0, call(&two, ask()).await.0), (http::StatusCode::OK, http::StatusCode::OK));
    assert_eq!((budget.spent().tokens, budget.spent().calls), (55, 2));
    for protocol in Protocol::ALL {
        let (status, text, _) = call(&one, post(path(protocol), r#"{"model":"m"}"#)).await;
        let (kind, code, message) = read(protocol, &text);
        let want = match protocol {
            Protocol::Anthropic => ("invalid_request_error", ""),
            Protocol::OpenaiChat | Protocol::OpenaiResponses => ("invalid_request_error", "billing_hard_limit_reached"),
            Protocol::Gemini => ("FAILED_PRECONDITION", ""),
        };
        assert_eq!((status.as_u16(), kind.as_str(), code.as_str()), (400, want.0, want.1));
        assert!(message.contains("50 tokens for the whole evaluation (55 used)"), "{message}");
    }
    assert_eq!((one.cap_reached().unwrap().scope, two.cap_reached()), (CapScope::Evaluation, None));
}

#[test]
fn a_cap_on_money_needs_prices() {
    let ticket = TrialTicket {
        caps: Caps { money: Some(1.0), ..Caps::default() },
        side_models: vec!["unpriced".to_owned()],
        ..TrialTicket::new(AttemptId(1), "claude-sonnet-4-5", "acting")
    };
    let error = Gateway::new(vec![Acting::new(vec![])]).open(ticket).err().unwrap();
    assert_eq!(error, OpenError::NoPrice { model: "unpriced".to_owned() });
}
