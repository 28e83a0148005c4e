//! OpenAI Chat Completions.

use serde_json::Value;

use super::{Asked, list, offered, text_of, word};

pub(super) fn read(body: &Value) -> Asked {
    let mut asked = Asked {
        model: word(body, "model").to_owned(),
        stream: body.get("stream") == Some(&Value::Bool(true)),
        stream_option: body.pointer("/stream_options/include_usage") == Some(&Value::Bool(true)),
        tools: list(body, "tools")
            .iter()
            .filter_map(|tool| tool.get("function"))
            .map(|tool| offered(tool, "parameters"))
            .collect(),
        ..Asked::default()
    };
    for message in list(body, "messages") {
        asked.say(word(message, "role"), &text_of(message.get("content"), &["text"]));
        asked.turns_taken += usize::from(word(message, "role") == "assistant");
    }
    asked
}
