//! Whether texts (descriptions of skills) were put before the model by the agent program: looked for in what a request says by itself,
//! never in what tools answered or the model said.

use serde_json::Value;

/// Texts that are looked for, and which of them were seen.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sightings {
    wanted: Vec<Wanted>,
}

#[derive(Debug, Clone)]
struct Wanted {
    text: String,
    /// With single blanks.
    normal: String,
    /// Its longest word, which is looked for first: it costs no parsing.
    word: String,
    seen: bool,
}

impl Sightings {
    pub(crate) fn of(texts: &[String]) -> Self {
        let wanted = texts.iter().filter(|text| !text.trim().is_empty()).map(|text| Wanted {
            text: text.clone(),
            normal: one_blank(text),
            word: longest_word(text).to_owned(),
            seen: false,
        });
        Self { wanted: wanted.collect() }
    }

    /// The texts not seen yet that a request may hold.
    pub(crate) fn open(&self, body: &[u8]) -> Vec<String> {
        let body = String::from_utf8_lossy(body);
        let open = self.wanted.iter().filter(|wanted| !wanted.seen && body.contains(&wanted.word));
        open.map(|wanted| wanted.normal.clone()).collect()
    }

    pub(crate) fn saw(&mut self, normal: &[String]) {
        for wanted in self.wanted.iter_mut().filter(|wanted| normal.contains(&wanted.normal)) {
            wanted.seen = true;
        }
    }

    pub(crate) fn seen(&self) -> Vec<String> {
        self.wanted.iter().filter(|wanted| wanted.seen).map(|wanted| wanted.text.clone()).collect()
    }
}

/// Which of `texts` (with single blanks) a request says.
pub(crate) fn said(body: &[u8], texts: Vec<String>) -> Vec<String> {
    if texts.is_empty() {
        return texts;
    }
    let Ok(request) = serde_json::from_slice::<Value>(body) else { return Vec::new() };
    texts.into_iter().filter(|text| says(&request, text)).collect()
}

fn says(value: &Value, text: &str) -> bool {
    match value {
        Value::String(found) => one_blank(found).contains(text),
        Value::Array(values) => values.iter().any(|value| says(value, text)),
        Value::Object(fields) => {
            let word = |name: &str| fields.get(name).and_then(Value::as_str).unwrap_or_default();
            let is_answer = word("type").ends_with("_result")
                || word("type").ends_with("call_output")
                || matches!(word("role"), "tool" | "assistant" | "model")
                || fields.contains_key("functionResponse");
            !is_answer && fields.values().any(|value| says(value, text))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// A word that JSON and its writers leave as it is.
fn longest_word(text: &str) -> &str {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    words.max_by_key(|word| word.len()).unwrap_or_default()
}

fn one_blank(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(request: &Value, want: bool) {
        let description = "Counts sheep.\n Even \"awake\" ones.";
        let mut sightings = Sightings::of(&[description.to_owned()]);
        let body = request.to_string();
        let seen = said(body.as_bytes(), sightings.open(body.as_bytes()));
        sightings.saw(&seen);
        assert_eq!(!sightings.seen().is_empty(), want, "{request}");
    }

    #[test]
    fn a_listing_counts_and_what_a_tool_answered_does_not() {
        let text = "- count-sheep: Counts sheep. Even \"awake\" ones. (file: x)";
        check(&json!({"system": [{"text": text}]}), true);
        check(&json!({"tools": [{"description": text}]}), true);
        check(&json!({"messages": [{"role": "user", "content": [{"type": "text", "text": text}]}]}), true);
        check(&json!({"instructions": "count-sheep"}), false);
        check(&json!({"messages": [{"role": "user", "content": [{"type": "tool_result", "content": text}]}]}), false);
        check(&json!({"messages": [{"role": "tool", "content": text}]}), false);
        check(&json!({"input": [{"type": "function_call_output", "output": text}]}), false);
        check(&json!({"contents": [{"parts": [{"functionResponse": {"output": text}}]}]}), false);
    }
}
