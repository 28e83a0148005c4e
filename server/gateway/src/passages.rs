//! How much of known texts stands in a request, line by line: wherever a line of them occurs (in what a tool answered, in a prompt), and where
//! one of their descriptions is told within a longer line. By what is on the wire alone, so it holds for every agent.

use std::collections::HashMap;

use serde_json::Value;

/// Letters and digits by which a line can be no other text's by chance. Shorter lines count beside such a one.
const TELLING: usize = 20;

/// Texts to measure.
#[derive(Debug, Clone, Default)]
pub(crate) struct Passages {
    /// Characters by line.
    lines: HashMap<String, u64>,
    descriptions: Vec<String>,
}

impl Passages {
    /// `texts`: whole files. `descriptions`: texts that also count within a line.
    pub(crate) fn of(texts: &[String], descriptions: &[String]) -> Self {
        let lines = texts.iter().flat_map(|text| split(text)).map(|line| (normal(line), characters(line) + 1));
        Self {
            lines: lines.filter(|(line, _)| !line.is_empty()).collect(),
            descriptions: descriptions.iter().map(|text| normal(text)).filter(|text| !text.is_empty()).collect(),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.descriptions.is_empty()
    }

    /// Characters of the texts in one request.
    pub(crate) fn in_request(&self, request: &Value) -> u64 {
        match request {
            Value::String(text) => self.in_text(text),
            Value::Array(values) => values.iter().map(|value| self.in_request(value)).sum(),
            Value::Object(fields) => fields.values().map(|value| self.in_request(value)).sum(),
            Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        }
    }

    fn in_text(&self, text: &str) -> u64 {
        let (mut sum, mut run, mut is_telling) = (0, 0, false);
        for line in split(text).filter(|line| !numbered(line).unwrap_or(line).trim().is_empty()) {
            match self.known(line) {
                Some((known, characters)) => {
                    run += characters;
                    is_telling |= letters(&known) >= TELLING;
                }
                None => {
                    sum += if is_telling { run } else { 0 };
                    (run, is_telling) = (0, false);
                    sum += self.described(line);
                }
            }
        }
        sum + if is_telling { run } else { 0 }
    }

    /// A line of the texts, also behind a number that a tool put before it.
    fn known(&self, line: &str) -> Option<(String, u64)> {
        let found = |line: &str| self.lines.get_key_value(&normal(line)).map(|(line, length)| (line.clone(), *length));
        found(line).or_else(|| found(numbered(line)?))
    }

    fn described(&self, line: &str) -> u64 {
        let line = normal(line);
        let told = self.descriptions.iter().filter(|description| line.contains(description.as_str()));
        told.map(|description| characters(description)).sum()
    }
}

/// Also where a text stands as JSON within a text.
fn split(text: &str) -> impl Iterator<Item = &str> {
    text.lines().flat_map(|line| line.split("\\n"))
}

fn numbered(line: &str) -> Option<&str> {
    let rest = line.trim_start().trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = rest.trim_start_matches(' ').strip_prefix(['\t', '→', ':', '|'])?;
    (rest.len() < line.trim_start().len()).then_some(rest)
}

fn normal(text: &str) -> String {
    text.replace('\\', "").split_whitespace().collect::<Vec<_>>().join(" ")
}

fn characters(text: &str) -> u64 {
    text.trim().chars().count() as u64
}

fn letters(text: &str) -> usize {
    text.chars().filter(|c| c.is_alphanumeric()).count()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const SKILL: &str = "---\nname: count\ndescription: Counts sheep, awake or not.\n---\n\n# Counting\n\nTwo \"ears\" are one sheep, and no more.\n- done\n";
    const DESCRIPTION: &str = "Counts sheep, awake or not.";

    /// Each line of the skill with its end, white lines apart.
    fn whole() -> u64 {
        SKILL.lines().filter(|line| !line.is_empty()).map(|line| line.len() as u64 + 1).sum()
    }

    #[test]
    fn lines_count_wherever_they_stand_and_short_ones_beside_telling_ones() {
        let passages = Passages::of(&[SKILL.to_owned()], &[DESCRIPTION.to_owned()]);
        let body = SKILL.lines().skip(5).collect::<Vec<_>>().join("\n");
        let numbered: String = SKILL.lines().zip(1..).map(|(line, n)| format!("{n:6}\t{line}\n")).collect();
        for (what, request, want) in [
            ("listed", json!({"system": format!("- count: {DESCRIPTION} (file: x)")}), DESCRIPTION.len() as u64),
            ("read", json!({"messages": [{"role": "tool", "content": SKILL}]}), whole()),
            ("read with numbers", json!({"content": numbered}), whole()),
            ("as JSON in a text", json!({"content": json!({"output": SKILL}).to_string()}), whole() - 4),
            ("its body", json!({"content": body}), 11 + 39 + 7),
            ("a part", json!({"content": "$ head -1\nTwo \"ears\" are one sheep, and no more.\nprompt$"}), 39),
            ("short lines alone", json!({"content": "---\n# Counting\n- done\nother"}), 0),
            ("nothing of it", json!({"content": "name count"}), 0),
        ] {
            assert_eq!(passages.in_request(&request), want, "{what}");
        }
    }

    #[test]
    fn there_is_nothing_to_measure_in_white_space() {
        assert!(Passages::of(&[" \n".to_owned()], &[String::new()]).is_empty());
    }
}
