//! Whether texts came before the model: a skill's description in what the agent program says by itself (never in what tools answered or the
//! model said), a line of the skill's body anywhere.

use serde_json::{Map, Value};

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
    anywhere: bool,
    seen: bool,
}

/// A text that a request may hold.
pub(crate) struct Open {
    normal: String,
    anywhere: bool,
}

impl Sightings {
    /// `told`: looked for in what the agent program says. `anywhere`: in answers of tools as well.
    pub(crate) fn of(told: &[String], anywhere: &[String]) -> Self {
        let told = told.iter().map(|text| (text, false));
        let texts = told.chain(anywhere.iter().map(|text| (text, true)));
        let wanted = texts.filter(|(text, _)| !text.trim().is_empty()).map(|(text, anywhere)| Wanted {
            anywhere,
            text: text.clone(),
            normal: one_blank(text),
            word: longest_word(text).to_owned(),
            seen: false,
        });
        Self { wanted: wanted.collect() }
    }

    /// The texts not seen yet that a request may hold.
    pub(crate) fn open(&self, body: &[u8]) -> Vec<Open> {
        let body = String::from_utf8_lossy(body);
        let open = self.wanted.iter().filter(|wanted| !wanted.seen && body.contains(&wanted.word));
        open.map(|wanted| Open { normal: wanted.normal.clone(), anywhere: wanted.anywhere }).collect()
    }

    pub(crate) fn saw(&mut self, seen: &[Open]) {
        for wanted in &mut self.wanted {
            let is_it = |open: &Open| open.normal == wanted.normal && open.anywhere == wanted.anywhere;
            wanted.seen = wanted.seen || seen.iter().any(is_it);
        }
    }

    pub(crate) fn seen(&self, anywhere: bool) -> Vec<String> {
        self.wanted
            .iter()
            .filter(|wanted| wanted.seen && wanted.anywhere == anywhere)
            .map(|wanted| wanted.text.clone())
            .collect()
    }
}

/// Which of `texts` a request holds.
pub(crate) fn said(request: &Value, texts: Vec<Open>) -> Vec<Open> {
    texts.into_iter().filter(|text| says(request, text)).collect()
}

fn says(value: &Value, text: &Open) -> bool {
    match value {
        Value::String(found) => one_blank(found).contains(&text.normal),
        Value::Array(values) => values.iter().any(|value| says(value, text)),
        Value::Object(fields) => {
            (text.anywhere || !is_answer(fields)) && fields.values().any(|value| says(value, text))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Whether a tool or the model speaks, in any of the vendors' languages.
fn is_answer(fields: &Map<String, Value>) -> bool {
    let word = |name: &str| fields.get(name).and_then(Value::as_str).unwrap_or_default();
    word("type").ends_with("_result")
        || word("type").ends_with("call_output")
        || matches!(word("role"), "tool" | "assistant" | "model")
        || fields.contains_key("functionResponse")
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

    /// `told` = the description as listed, `anywhere` = a line wherever it stands.
    fn check(request: &Value, told: bool, anywhere: bool) {
        let texts = ["Counts sheep.\n Even \"awake\" ones.".to_owned()];
        let mut sightings = Sightings::of(&texts, &texts);
        let body = request.to_string();
        let seen = said(request, sightings.open(body.as_bytes()));
        sightings.saw(&seen);
        let got = (!sightings.seen(false).is_empty(), !sightings.seen(true).is_empty());
        assert_eq!(got, (told, anywhere), "{request}");
    }

    #[test]
    fn a_listing_is_told_apart_from_what_a_tool_answered() {
        let text = "- count-sheep: Counts sheep. Even \"awake\" ones. (file: x)";
        let said = |content: Value| json!({"messages": [content]});
        check(&json!({"system": [{"text": text}]}), true, true);
        check(&json!({"tools": [{"description": text}]}), true, true);
        check(&said(json!({"role": "user", "content": [{"type": "text", "text": text}]})), true, true);
        check(&json!({"instructions": "count-sheep"}), false, false);
        check(&said(json!({"role": "user", "content": [{"type": "tool_result", "content": text}]})), false, true);
        check(&said(json!({"role": "tool", "content": text})), false, true);
        check(&json!({"input": [{"type": "function_call_output", "output": text}]}), false, true);
        check(&json!({"contents": [{"parts": [{"functionResponse": {"output": text}}]}]}), false, true);
    }
}
