//! Gemini.

use serde_json::Value;

use super::{Asked, Offered, list, offered, word};

/// What an agent program puts into the model's mouth before the task.
const PUT_INTO_ITS_MOUTH: &str = "Got it. Thanks for the context!";

pub(super) fn read(model: &str, path_and_query: &str, body: &Value) -> Asked {
    let (path, query) = path_and_query.split_once('?').unwrap_or((path_and_query, ""));
    let system = ["systemInstruction", "system_instruction"].iter().find_map(|name| body.get(name));
    let mut asked = Asked {
        model: model.to_owned(),
        stream: path.ends_with(":streamGenerateContent"),
        stream_option: query.split('&').any(|pair| pair == "alt=sse"),
        system: system.map(texts).unwrap_or_default(),
        tools: list(body, "tools").iter().flat_map(tools).collect(),
        ..Asked::default()
    };
    for content in list(body, "contents") {
        let text = texts(content);
        match word(content, "role") {
            "model" => asked.turns_taken += usize::from(text.trim() != PUT_INTO_ITS_MOUTH),
            _ => asked.say("user", &text),
        }
    }
    asked
}

fn texts(content: &Value) -> String {
    list(content, "parts")
        .iter()
        .map(|part| word(part, "text"))
        .filter(|text| !text.is_empty())
        .collect::<Vec<_>>()
        .join("\n")
}

fn tools(group: &Value) -> Vec<Offered> {
    let declared = list(group, "functionDeclarations").iter().chain(list(group, "function_declarations"));
    declared
        .map(|tool| {
            let schema = if tool.get("parametersJsonSchema").is_some() { "parametersJsonSchema" } else { "parameters" };
            offered(tool, schema)
        })
        .collect()
}
