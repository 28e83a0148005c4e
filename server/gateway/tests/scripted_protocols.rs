//! One script answers every vendor's protocol: the same words, tool calls and tokens, by each one's own agents' requests.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod support;

use std::sync::Arc;

use domain::usage::TokenUsage;
use gateway::protocol::sse::SseReader;
use gateway::upstream::scripted::ScriptedUpstream;
use gateway::{Caps, Protocol, TrialGateway};
use serde_json::{Value, json};
use support::{call, open, post};

const SCRIPT: &str = r#"{"schema": "skilldelta-model-1", "rules": [
  {"when": {"skill_listed": "Counts sheep.", "task_contains": "sheep", "system_contains": "be kind"}, "turns": [
    {"text": "I öpen the skill, which takes more words than fit into a piece.", "usage": {"input": 100, "cache_read": 40, "output": 7},
     "tools": [{"name": "bash", "input": {"command": "cat SKILL.md && echo \"a command that is longer than one piece\""}},
               {"one_of": [{"name": "skill", "input": {"name": "x"}}, {"name": "bash", "input": {"command": "ls"}}]}]},
    {"text": "Done.", "usage": {"input": 3, "output": 2}}]},
  {"when": {"task_contains": "overloaded"}, "turns": [{"error": {"status": 400, "type": "bad", "message": "its words"}}]}
]}"#;

fn gateway() -> TrialGateway {
    open(Arc::new(ScriptedUpstream::parse("scripted", "s", SCRIPT.as_bytes()).unwrap()), Caps::default())
}

/// What an agent asks at its turn: `turns` = how many times the model has spoken.
struct Ask {
    protocol: Protocol,
    stream: bool,
    task: &'static str,
    turns: usize,
    tools: bool,
}

impl Ask {
    fn request(&self) -> http::Request<bytes::Bytes> {
        let (path, mut body) = match self.protocol {
            Protocol::Anthropic => ("/v1/messages", self.anthropic()),
            Protocol::OpenaiChat => ("/v1/chat/completions", self.chat()),
            Protocol::OpenaiResponses => ("/v1/responses", self.responses()),
            Protocol::Gemini if self.stream => ("/v1beta/models/m:streamGenerateContent?alt=sse", self.gemini()),
            Protocol::Gemini => ("/v1beta/models/m:generateContent", self.gemini()),
        };
        if self.protocol != Protocol::Gemini {
            body["model"] = json!("m");
            body["stream"] = json!(self.stream);
        }
        if !self.tools {
            body.as_object_mut().unwrap().remove("tools");
        }
        post(path, body.to_string())
    }

    fn anthropic(&self) -> Value {
        let mut messages = vec![
            json!({"role": "user", "content": [{"type": "text", "text": "context"}, {"type": "text", "text": self.task}]}),
        ];
        for _ in 0..self.turns {
            messages.push(
                json!({"role": "assistant", "content": [{"type": "tool_use", "id": "t", "name": "Bash", "input": {}}]}),
            );
            messages.push(json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t", "content": "overloaded"}]}));
        }
        let tools = json!([{"name": "Bash", "description": "Counts sheep.", "input_schema": {"type": "object"}}]);
        json!({"system": "be kind", "messages": messages, "tools": tools})
    }

    fn chat(&self) -> Value {
        let mut messages = vec![
            json!({"role": "system", "content": "be kind. Counts sheep."}),
            json!({"role": "user", "content": self.task}),
        ];
        for _ in 0..self.turns {
            messages.push(json!({"role": "assistant", "content": null, "tool_calls": []}));
            messages.push(json!({"role": "tool", "tool_call_id": "t", "content": "overloaded"}));
        }
        let tools =
            json!([{"type": "function", "function": {"name": "run_shell_command", "parameters": {"type": "object"}}}]);
        json!({"messages": messages, "tools": tools, "stream_options": {"include_usage": true}})
    }

    fn responses(&self) -> Value {
        let text = |role: &str, text: &str| json!({"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]});
        let mut input =
            vec![text("developer", "Counts sheep."), text("user", "<environment_context>"), text("user", self.task)];
        for turn in 0..self.turns {
            // As an agent sends them that puts each result after its call.
            input.push(
                json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "x"}]}),
            );
            for index in 0..2 {
                let id = format!("call_scripted_{turn}_{index}");
                input.push(json!({"type": "function_call", "call_id": id, "name": "exec_command", "arguments": "{}"}));
                input.push(json!({"type": "function_call_output", "call_id": id, "output": "overloaded"}));
            }
        }
        let tools = json!([{"type": "function", "name": "exec_command", "parameters": {"properties": {"cmd": {"type": "string"}}}}, {"type": "custom", "name": "apply_patch"}]);
        json!({"instructions": "be kind", "input": input, "tools": tools})
    }

    fn gemini(&self) -> Value {
        let mut contents = vec![
            json!({"role": "user", "parts": [{"text": "This is the context."}]}),
            json!({"role": "model", "parts": [{"text": "Got it. Thanks for the context!"}]}),
            json!({"role": "user", "parts": [{"text": self.task}]}),
        ];
        for _ in 0..self.turns {
            contents
                .push(json!({"role": "model", "parts": [{"functionCall": {"name": "run_shell_command", "args": {}}}]}));
            contents.push(json!({"role": "user", "parts": [{"functionResponse": {"name": "r", "response": {"output": "overloaded"}}}]}));
        }
        let tools = json!([{"functionDeclarations": [{"name": "run_shell_command", "parametersJsonSchema": {"type": "object"}}]}]);
        json!({"systemInstruction": {"parts": [{"text": "be kind. Counts sheep."}]}, "contents": contents, "tools": tools})
    }
}

/// What an agent gets: text, calls, and why it stopped.
#[derive(Debug, Default, PartialEq)]
struct Got {
    text: String,
    calls: Vec<(String, Value)>,
    stop: String,
}

fn parse(protocol: Protocol, stream: bool, text: &str) -> Got {
    let mut got = Got::default();
    let events: Vec<Value> = if stream {
        let events = SseReader::new().push(text.as_bytes());
        events
            .iter()
            .filter(|event| event.data != "[DONE]")
            .map(|event| serde_json::from_str(&event.data).unwrap())
            .collect()
    } else {
        vec![serde_json::from_str(text).unwrap()]
    };
    let mut arguments = String::new();
    for event in &events {
        match protocol {
            Protocol::Anthropic => anthropic(event, &mut got, &mut arguments),
            Protocol::OpenaiChat => chat(event, &mut got, &mut arguments),
            Protocol::OpenaiResponses => responses(event, &mut got),
            Protocol::Gemini => gemini(event, &mut got),
        }
    }
    got
}

fn anthropic(event: &Value, got: &mut Got, arguments: &mut String) {
    for block in event["content"].as_array().into_iter().flatten() {
        match block["type"].as_str().unwrap() {
            "text" => got.text.push_str(block["text"].as_str().unwrap()),
            _ => got.calls.push((block["name"].as_str().unwrap().to_owned(), block["input"].clone())),
        }
    }
    if let Some(name) = event["content_block"]["name"].as_str() {
        got.calls.push((name.to_owned(), Value::Null));
    }
    got.text.push_str(event["delta"]["text"].as_str().unwrap_or_default());
    arguments.push_str(event["delta"]["partial_json"].as_str().unwrap_or_default());
    if event["type"] == "content_block_stop" && !arguments.is_empty() {
        got.calls.last_mut().unwrap().1 = serde_json::from_str(&std::mem::take(arguments)).unwrap();
    }
    let stop = event["stop_reason"].as_str().or(event["delta"]["stop_reason"].as_str());
    got.stop.push_str(stop.unwrap_or_default());
}

fn chat(event: &Value, got: &mut Got, arguments: &mut String) {
    let choice = &event["choices"][0];
    let said = if choice["message"].is_null() { &choice["delta"] } else { &choice["message"] };
    got.text.push_str(said["content"].as_str().unwrap_or_default());
    for called in said["tool_calls"].as_array().into_iter().flatten() {
        if let Some(name) = called["function"]["name"].as_str() {
            arguments.clear();
            got.calls.push((name.to_owned(), Value::Null));
        }
        arguments.push_str(called["function"]["arguments"].as_str().unwrap());
        if let Ok(whole) = serde_json::from_str(arguments) {
            got.calls.last_mut().unwrap().1 = whole;
        }
    }
    got.stop.push_str(choice["finish_reason"].as_str().unwrap_or_default());
}

fn responses(event: &Value, got: &mut Got) {
    let done = if event["object"] == "response" { event } else { &event["response"] };
    got.text.push_str(
        event["delta"].as_str().filter(|_| event["type"] == "response.output_text.delta").unwrap_or_default(),
    );
    let done = if done["status"] == "completed" { done } else { return };
    for item in done["output"].as_array().unwrap() {
        match item["type"].as_str().unwrap() {
            "message" if event["type"].is_null() => got.text.push_str(item["content"][0]["text"].as_str().unwrap()),
            "message" => assert_eq!(item["content"][0]["text"], got.text.as_str()),
            _ => got.calls.push((
                item["name"].as_str().unwrap().to_owned(),
                serde_json::from_str(item["arguments"].as_str().unwrap()).unwrap(),
            )),
        }
    }
    got.stop.push_str("completed");
}

fn gemini(event: &Value, got: &mut Got) {
    let candidate = &event["candidates"][0];
    for part in candidate["content"]["parts"].as_array().unwrap() {
        got.text.push_str(part["text"].as_str().unwrap_or_default());
        if let Some(name) = part["functionCall"]["name"].as_str() {
            got.calls.push((name.to_owned(), part["functionCall"]["args"].clone()));
        }
    }
    got.stop.push_str(candidate["finishReason"].as_str().unwrap_or_default());
}

#[tokio::test]
async fn the_same_turns_come_in_every_protocol_whole_and_streamed() {
    for (protocol, shell, argument, stop) in [
        (Protocol::Anthropic, "Bash", "command", ["tool_use", "end_turn"]),
        (Protocol::OpenaiChat, "run_shell_command", "command", ["tool_calls", "stop"]),
        (Protocol::OpenaiResponses, "exec_command", "cmd", ["completed", "completed"]),
        (Protocol::Gemini, "run_shell_command", "command", ["STOP", "STOP"]),
    ] {
        for stream in [false, true] {
            let gateway = gateway();
            let task = "count the sheep";
            let (status, text, _) =
                call(&gateway, Ask { protocol, stream, task, turns: 0, tools: true }.request()).await;
            let got = parse(protocol, stream, &text);
            let command = "cat SKILL.md && echo \"a command that is longer than one piece\"";
            let calls = [command, "ls"].map(|command| (shell.to_owned(), json!({argument: command})));
            let want = Got {
                text: "I öpen the skill, which takes more words than fit into a piece.".to_owned(),
                calls: calls.to_vec(),
                stop: stop[0].to_owned(),
            };
            assert_eq!((status.as_u16(), got), (200, want), "{protocol:?} {stream}: {text}");
            let usage = TokenUsage { input: Some(100), cache_read: Some(40), cache_write: Some(0), output: Some(7) };
            assert_eq!(gateway.usage(), usage, "{protocol:?} {stream}");

            for turns in [1, 2] {
                let (_, text, _) = call(&gateway, Ask { protocol, stream, task, turns, tools: true }.request()).await;
                let got = parse(protocol, stream, &text);
                assert_eq!((got.text.as_str(), got.stop.as_str()), ("Done.", stop[1]), "{protocol:?} {stream}: {text}");
            }
            assert_eq!(gateway.usage().total(), Some(147 + 2 * 5), "{protocol:?} {stream}");
        }
    }
}

#[tokio::test]
async fn a_request_without_tools_gets_words_alone_and_errors_come_in_the_vendors_form() {
    for protocol in Protocol::ALL {
        let gateway = gateway();
        let title = Ask { protocol, stream: true, task: "a title for: count the sheep", turns: 0, tools: false };
        // Without its tools Anthropic's request does not tell of the skill, so no rule holds for it.
        if protocol != Protocol::Anthropic {
            let (_, text, _) = call(&gateway, title.request()).await;
            let got = parse(protocol, true, &text);
            assert!(got.calls.is_empty() && got.text.starts_with("I öpen"), "{text}");
        }
        let wrong = Ask { protocol, stream: true, task: "overloaded", turns: 0, tools: true };
        let (status, text, _) = call(&gateway, wrong.request()).await;
        let body: Value = serde_json::from_str(&text).unwrap();
        let kind = if protocol == Protocol::Gemini { &body["error"]["status"] } else { &body["error"]["type"] };
        assert_eq!((status.as_u16(), kind, &body["error"]["message"]), (400, &json!("bad"), &json!("its words")));
    }
}

#[tokio::test]
async fn a_gemini_stream_without_events_is_a_list() {
    let gateway = gateway();
    let ask = Ask { protocol: Protocol::Gemini, stream: true, task: "sheep", turns: 1, tools: true };
    let request = post("/v1beta/models/m:streamGenerateContent", ask.request().into_body());
    let (_, text, _) = call(&gateway, request).await;
    let list: Vec<Value> = serde_json::from_str(&text).unwrap();
    assert_eq!(list[0]["candidates"][0]["content"]["parts"][0]["text"], "Done.");
    assert_eq!(gateway.usage().total(), Some(5));
}
