//! Anthropic Messages.

use serde_json::Value;

use super::{Asked, list, offered, text_of, word};

pub(super) fn read(body: &Value) -> Asked {
    let mut asked = Asked {
        model: word(body, "model").to_owned(),
        stream: body.get("stream") == Some(&Value::Bool(true)),
        system: text_of(body.get("system"), &["text"]),
        tools: list(body, "tools").iter().map(|tool| offered(tool, "input_schema")).collect(),
        ..Asked::default()
    };
    for message in list(body, "messages") {
        asked.say(word(message, "role"), &text_of(message.get("content"), &["text"]));
        asked.turns_taken += usize::from(word(message, "role") == "assistant");
    }
    asked
}
