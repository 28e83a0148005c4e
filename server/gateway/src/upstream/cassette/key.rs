//! What of a request tells it from another when the same plan runs again: all of it, but what changes by itself from run to run.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use ::http::Request;
use domain::hash::ContentHash;
use regex::Regex;
use serde_json::Value;

/// Fields that name a session or an account and nothing of the question.
const OF_A_SESSION: [&str; 6] =
    ["metadata", "user", "prompt_cache_key", "safety_identifier", "client_metadata", "session_id"];
/// The conversation, in each vendor's word.
const CONVERSATION: [&str; 3] = ["messages", "input", "contents"];
/// Characters of a part's hash.
const SHORT: usize = 8;

/// Times, durations, unique ids, long hex numbers, temporary files.
const CHANGING: &str = concat!(
    r"(?x)",
    r"\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b",
    r"| \b\d{4}-\d{2}-\d{2}(?:[T\ ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|\ ?[+-]\d{2}:?\d{2})?)?",
    r"| \b(?:(?:Mon|Tues?|Wed(?:nes)?|Thu(?:rs)?|Fri|Sat(?:ur)?|Sun)(?:day)?,?\ +)?",
    r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\ +\d{1,2}(?:,?\ +\d{4}\b|\ +\d{2}:\d{2}(?::\d{2})?)?",
    r"| \b\d{1,2}:\d{2}:\d{2}(?:\.\d+)?\b",
    r"| \b\d+(?:\.\d+)?\ ?(?:ms|s|secs?|seconds?|milliseconds?|m\d+(?:\.\d+)?s)\b",
    r"| \b[0-9a-f]{12,}\b",
    r"| /tmp/[A-Za-z0-9._-]+",
);
static PATTERN: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(CHANGING).ok());

/// A request's identity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestKey {
    /// Of all of it.
    pub key: String,
    /// Of all but what tools answered: those answers differ by chance (the order of two outputs, say) where the question is the same.
    pub question: String,
    /// Of each part: top-level fields, and each item of the conversation.
    pub parts: BTreeMap<String, String>,
    /// The last item of the conversation, steadied and cut: what most often differs.
    pub last: String,
}

/// Characters kept of [`RequestKey::last`], and shown of it around a difference.
const LAST: usize = 4000;
const AROUND: usize = 40;

impl RequestKey {
    /// The identity of a request.
    #[must_use]
    pub fn of(request: &Request<bytes::Bytes>) -> Self {
        let place = request.uri().path_and_query().map_or("/", |place| place.as_str());
        let body = serde_json::from_slice::<Value>(request.body());
        let body = body.unwrap_or_else(|_| Value::String(String::from_utf8_lossy(request.body()).into_owned()));
        let mut asked = body.clone();
        leave_out_results(&mut asked);
        let question = whole(&parts_of(place, asked));
        let parts = parts_of(place, body);
        let short = |text: String| ContentHash::of(text.as_bytes()).to_hex().chars().take(SHORT).collect();
        let last = parts.iter().rev().find(|(name, _)| CONVERSATION.iter().any(|list| name.starts_with(list)));
        let last = last.map(|(_, text)| text.chars().take(LAST).collect()).unwrap_or_default();
        Self {
            last,
            key: whole(&parts),
            question,
            parts: parts.into_iter().map(|(name, text)| (name, short(text))).collect(),
        }
    }

    /// The parts that differ from those recorded, in order.
    #[must_use]
    pub fn differences(&self, recorded: &BTreeMap<String, String>) -> Vec<String> {
        let ours = self.parts.iter().filter(|(name, hash)| recorded.get(*name) != Some(hash)).map(|(name, _)| name);
        let theirs = recorded.keys().filter(|name| !self.parts.contains_key(*name));
        let mut names: Vec<_> = ours.chain(theirs).cloned().collect();
        names.sort();
        names
    }
}

/// Where two texts begin to differ, with a little around it; `None` = nowhere.
pub(super) fn first_difference(ours: &str, theirs: &str) -> Option<(String, String)> {
    let same = ours.chars().zip(theirs.chars()).take_while(|(a, b)| a == b).count();
    let around = |text: &str| text.chars().skip(same.saturating_sub(AROUND / 2)).take(AROUND).collect::<String>();
    (ours != theirs).then(|| (around(ours), around(theirs)))
}

fn parts_of(place: &str, body: Value) -> BTreeMap<String, String> {
    let mut parts = BTreeMap::from([("address".to_owned(), place.to_owned())]);
    match body {
        Value::Object(fields) => fields.into_iter().for_each(|(name, value)| add(&mut parts, name, value)),
        other => {
            parts.insert("body".to_owned(), canonical(&other));
        }
    }
    parts
}

fn whole(parts: &BTreeMap<String, String>) -> String {
    let text: String = parts.iter().map(|(name, text)| format!("{name}\n{}:{text}\n", text.len())).collect();
    ContentHash::of(text.as_bytes()).to_hex()
}

/// Takes out what tools answered, in each vendor's form.
fn leave_out_results(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(leave_out_results),
        Value::Object(fields) => {
            let word = |name: &str| fields.get(name).and_then(Value::as_str).unwrap_or_default();
            let result =
                word("type").ends_with("tool_result") || word("type").ends_with("_output") || word("role") == "tool";
            if result {
                fields.retain(|name, _| name != "content" && name != "output");
            }
            fields.remove("functionResponse");
            fields.values_mut().for_each(leave_out_results);
        }
        _ => {}
    }
}

fn add(parts: &mut BTreeMap<String, String>, name: String, value: Value) {
    if OF_A_SESSION.contains(&name.as_str()) {
        return;
    }
    match value {
        Value::Array(items) if CONVERSATION.contains(&name.as_str()) || name == "tools" => {
            for (index, item) in items.iter().enumerate() {
                parts.insert(format!("{name}[{index:04}]"), canonical(item));
            }
        }
        other => {
            parts.insert(name, canonical(&other));
        }
    }
}

/// JSON with sorted keys, and texts without what changes by itself.
fn canonical(value: &Value) -> String {
    match value {
        Value::String(text) => Value::String(steady(text)).to_string(),
        Value::Array(items) => format!("[{}]", items.iter().map(canonical).collect::<Vec<_>>().join(",")),
        Value::Object(fields) => {
            let sorted: BTreeMap<_, _> = fields.iter().collect();
            let fields =
                sorted.into_iter().map(|(name, value)| format!("{}:{}", Value::from(name.as_str()), canonical(value)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
        }
        plain => plain.to_string(),
    }
}

fn steady(text: &str) -> String {
    PATTERN.as_ref().map_or_else(|| text.to_owned(), |pattern| pattern.replace_all(text, "·").into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(body: &str) -> RequestKey {
        RequestKey::of(&Request::post("/v1/messages").body(bytes::Bytes::from(body.to_owned())).unwrap())
    }

    #[test]
    fn only_what_changes_by_itself_is_left_out() {
        for (left, right, same) in [
            (r#"{"a":1,"b":2}"#, r#"{ "b":2, "a":1 }"#, true),
            (r#"{"a":1}"#, r#"{"a":2}"#, false),
            (r#"{"metadata":{"user_id":"x"}}"#, r#"{"metadata":{"user_id":"y"}}"#, true),
            (r#"{"t":"Today is 2026-11-30."}"#, r#"{"t":"Today is 2027-01-02."}"#, true),
            (r#"{"t":"Monday, November 30, 2026 x"}"#, r#"{"t":"Friday, January 1, 2027 x"}"#, true),
            (r#"{"t":"1 root 12 Nov 30 12:01 f"}"#, r#"{"t":"1 root 12 Dec  1 09:44 f"}"#, true),
            (r#"{"t":"2 passed in 0.03s"}"#, r#"{"t":"2 passed in 1.20s"}"#, true),
            (r#"{"t":"2 passed in 0.03s"}"#, r#"{"t":"1 passed in 0.03s"}"#, false),
            (r#"{"t":"real 0m1.2s"}"#, r#"{"t":"real 0m3.4s"}"#, true),
            (
                r#"{"t":"id 3f2504e0-4f89-11d3-9a0c-0305e82c3301"}"#,
                r#"{"t":"id 00000000-4f89-11d3-9a0c-0305e82c3301"}"#,
                true,
            ),
            (r#"{"t":"/tmp/a1b2/x"}"#, r#"{"t":"/tmp/c3d4/x"}"#, true),
            (r#"{"t":"0123456789ab"}"#, r#"{"t":"ba9876543210"}"#, true),
            (r#"{"t":"march 7 apples"}"#, r#"{"t":"march 8 apples"}"#, false),
            (r#"{"messages":[1,2]}"#, r#"{"messages":[2,1]}"#, false),
            ("not json", "not json!", false),
        ] {
            assert_eq!(key(left).key == key(right).key, same, "{left} {right}");
        }
    }

    #[test]
    fn the_question_is_the_same_whatever_the_tools_answered() {
        let anthropic = |text: &str| {
            format!(
                r#"{{"messages":[{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t","content":"{text}"}},{{"type":"text","text":"q"}}]}}]}}"#
            )
        };
        let chat = |text: &str| format!(r#"{{"messages":[{{"role":"tool","tool_call_id":"t","content":"{text}"}}]}}"#);
        let responses =
            |text: &str| format!(r#"{{"input":[{{"type":"function_call_output","call_id":"t","output":"{text}"}}]}}"#);
        let gemini = |text: &str| {
            format!(r#"{{"contents":[{{"parts":[{{"functionResponse":{{"response":{{"output":"{text}"}}}}}}]}}]}}"#)
        };
        for (left, right) in [
            (anthropic("a"), anthropic("b")),
            (chat("a"), chat("b")),
            (responses("a"), responses("b")),
            (gemini("a"), gemini("b")),
        ] {
            let (left_key, right_key) = (key(&left), key(&right));
            assert!(left_key.question == right_key.question && left_key.key != right_key.key, "{left}");
        }
        let said = |text: &str| key(&format!(r#"{{"messages":[{{"role":"user","content":"{text}"}}]}}"#)).question;
        assert_ne!(said("a"), said("b"));
    }

    #[test]
    fn a_difference_is_named() {
        let recorded = key(r#"{"system":"s","messages":[{"a":1},{"b":1}],"stream":true}"#);
        let asked = key(r#"{"system":"t","messages":[{"a":1},{"b":2},{"c":3}],"stream":true}"#);
        assert_eq!(asked.differences(&recorded.parts), ["messages[0001]", "messages[0002]", "system"]);
    }
}
