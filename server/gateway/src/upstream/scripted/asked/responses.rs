//! OpenAI Responses.

use serde_json::Value;

use super::{Asked, list, offered, text_of, word};

/// How the ids of our own tool calls begin; the number of the turn comes next.
pub(in super::super) const CALL_ID: &str = "call_scripted_";

pub(super) fn read(body: &Value) -> Asked {
    let mut asked = Asked {
        model: word(body, "model").to_owned(),
        stream: body.get("stream") == Some(&Value::Bool(true)),
        system: word(body, "instructions").to_owned(),
        tools: list(body, "tools")
            .iter()
            .filter(|tool| word(tool, "type") == "function")
            .map(|tool| offered(tool, "parameters"))
            .collect(),
        ..Asked::default()
    };
    match body.get("input") {
        Some(Value::String(text)) => asked.say("user", text),
        _ => items(list(body, "input"), &mut asked),
    }
    asked
}

/// One turn of the model is several items, between which an agent may put results; so turns are told by the ids of calls where there are
/// any, else by their standing together.
fn items(items: &[Value], asked: &mut Asked) {
    let mut speaking = false;
    for item in items {
        let call =
            word(item, "call_id").strip_prefix(CALL_ID).and_then(|rest| rest.split('_').next()?.parse::<usize>().ok());
        match (word(item, "type"), word(item, "role"), call) {
            ("message" | "", "assistant", _) => {
                asked.turns_taken += usize::from(!speaking);
                speaking = true;
            }
            ("message" | "", role, _) => {
                asked.say(role, &text_of(item.get("content"), &["input_text", "text"]));
                speaking = false;
            }
            ("function_call" | "custom_tool_call" | "local_shell_call", _, Some(turn)) => {
                asked.turns_taken = asked.turns_taken.max(turn.saturating_add(1));
                speaking = true;
            }
            ("function_call" | "custom_tool_call" | "local_shell_call", _, None) => {
                asked.turns_taken += usize::from(!speaking);
                speaking = true;
            }
            ("reasoning", ..) => {}
            _ => speaking = false,
        }
    }
}
