//! Pictures and documents that a request names by an address: the provider fetches them, which is a way out of a closed network. Texts
//! and the arguments of tools hold addresses as well; nobody fetches those here.

use serde_json::Value;

/// Words without which there is nothing to look for. A letter may also be written by its number.
const MARKS: [&str; 6] = ["\"url\"", "\"image_url\"", "\"file_url\"", "\"fileUri\"", "\"file_uri\"", "\\u00"];
/// Fields whose value is fetched, where it is an address or an object with one.
const FETCHED: [&str; 4] = ["image_url", "file_url", "fileUri", "file_uri"];
/// The conversation, in each vendor's word.
const CONVERSATION: [&str; 3] = ["messages", "input", "contents"];
/// What agent and model say to each other by tools.
const OF_TOOLS: [&str; 4] = ["arguments", "args", "response", "function"];
/// Addresses that are named at most, and characters of each.
const NAMED: usize = 3;
const SHOWN: usize = 80;

/// What the provider would fetch.
pub(super) fn fetched(body: &[u8]) -> Vec<String> {
    let marked = std::str::from_utf8(body).is_ok_and(|text| MARKS.iter().any(|mark| text.contains(mark)));
    let body: Value = match marked.then(|| serde_json::from_slice(body)) {
        Some(Ok(body)) => body,
        _ => return Vec::new(),
    };
    let mut found = Vec::new();
    for name in CONVERSATION {
        if let Some(part) = body.get(name) {
            look(part, &mut found);
        }
    }
    found
}

fn look(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| look(item, found)),
        Value::Object(fields) => {
            let kind = fields.get("type").and_then(Value::as_str).unwrap_or_default();
            if kind == "url" {
                note(fields.get("url"), found);
            }
            for (name, value) in fields {
                if FETCHED.contains(&name.as_str()) {
                    note(Some(value.get("url").unwrap_or(value)), found);
                }
                let of_tools = OF_TOOLS.contains(&name.as_str()) || (name == "input" && kind.ends_with("tool_use"));
                if !of_tools {
                    look(value, found);
                }
            }
        }
        _ => {}
    }
}

fn note(address: Option<&Value>, found: &mut Vec<String>) {
    let Some(address) = address.and_then(Value::as_str) else { return };
    let start = address.trim_start().get(..8).unwrap_or(address).to_ascii_lowercase();
    // Others are contents themselves (`data:`), or files that the account has uploaded, which a trial cannot do.
    let remote = start.starts_with("http:") || start.starts_with("https:") || start.starts_with("gs:");
    if remote && found.len() < NAMED {
        found.push(format!("fetch of {}", address.chars().take(SHOWN).collect::<String>()));
    }
}

#[cfg(test)]
mod tests {
    use super::fetched;

    #[test]
    fn only_what_the_provider_would_fetch_counts() {
        let anthropic = |block: &str| format!(r#"{{"messages":[{{"role":"user","content":[{block}]}}]}}"#);
        for (body, found) in [
            (anthropic(r#"{"type":"image","source":{"type":"url","url":"https://x/a?b"}}"#), 1),
            (anthropic(r#"{"type":"image","source":{"\u0074ype":"ur\u006c","url":"https://x"}}"#), 1),
            (anthropic(r#"{"type":"tool_result","content":[{"type":"document","source":{"type":"url","url":"HTTP://x"}}]}"#), 1),
            (anthropic(r#"{"type":"image","source":{"type":"base64","data":"aGk="}}"#), 0),
            (anthropic(r#"{"type":"text","text":"see \"image_url\": https://x"}"#), 0),
            (anthropic(r#"{"type":"tool_use","name":"f","input":{"type":"url","url":"https://x","image_url":"https://x"}}"#), 0),
            (anthropic(r#"{"type":"image_url","image_url":{"url":"https://x"}}"#), 1),
            (anthropic(r#"{"type":"image_url","image_url":{"url":"data:image/png;base64,aGk="}}"#), 0),
            (r#"{"input":[{"role":"user","content":[{"type":"input_image","image_url":"https://x"},{"type":"input_file","file_url":"https://y"}]}]}"#.to_owned(), 2),
            (r#"{"input":[{"type":"function_call","arguments":"{\"image_url\":\"https://x\"}"}]}"#.to_owned(), 0),
            (r#"{"contents":[{"parts":[{"fileData":{"fileUri":"https://youtu.be/x"}}]}]}"#.to_owned(), 1),
            (r#"{"contents":[{"parts":[{"functionCall":{"args":{"fileUri":"https://x"}}}]}]}"#.to_owned(), 0),
            (r#"{"tools":[{"input_schema":{"image_url":"https://x","url":{"type":"url"}}}]}"#.to_owned(), 0),
            ("not json \"url\"".to_owned(), 0),
        ] {
            assert_eq!(fetched(body.as_bytes()).len(), found, "{body}");
        }
    }
}
