//! Settings of a task as one tree of values, whether they came from TOML or YAML, and their careful reading: a wrong value becomes a
//! finding with its line, an unknown key a note.

use domain::finding::{Finding, Severity};
use serde_json::{Map, Value};

/// Keys that a file may spell in another way, with the word used here.
pub(super) const SPELLINGS: [(&str, &str); 3] =
    [("sandbox", "environment"), ("solution", "oracle"), ("version", "schema_version")];

/// The settings of one file.
#[derive(Debug, Clone)]
pub(super) struct Source {
    /// `task.toml` or `task.md`.
    pub(super) file: &'static str,
    /// The file's text, to find lines in.
    pub(super) text: String,
    /// What it says; keys are spelled as on the right of [`SPELLINGS`].
    pub(super) values: Map<String, Value>,
}

impl Source {
    /// A source without any setting.
    pub(super) fn empty(file: &'static str) -> Self {
        Self { file, text: String::new(), values: Map::new() }
    }

    /// Renames keys to their one spelling. A file that uses both spellings of one key is refused.
    pub(super) fn new(
        file: &'static str,
        text: String,
        mut values: Map<String, Value>,
        out: &mut Vec<Finding>,
    ) -> Self {
        for (other, word) in SPELLINGS {
            let Some(value) = values.remove(other) else { continue };
            if values.get(word).is_some_and(|first| *first != value) {
                let message = format!("`{other}` and `{word}` are two spellings of one key, and both are there");
                let line = line_of(&text, None, other);
                out.push(placed(Finding::error("two_spellings", file, message), line).hint("keep one of them"));
            } else {
                values.insert(word.to_owned(), value);
            }
        }
        Self { file, text, values }
    }

    /// The table called `name`; empty where it is absent.
    pub(super) fn section<'s>(&'s self, name: &'static str, out: &mut Vec<Finding>) -> Section<'s> {
        let values = match self.values.get(name) {
            None | Some(Value::Null) => None,
            Some(Value::Object(values)) => Some(values),
            Some(other) => {
                let message = format!("`{name}` must be a table, not {}", kind(other));
                out.push(placed(Finding::error("wrong_type", self.file, message), line_of(&self.text, None, name)));
                None
            }
        };
        Section { source: self, name, values }
    }

    /// A finding about a top-level key.
    pub(super) fn finding(&self, severity: Severity, code: &str, key: &str, message: impl Into<String>) -> Finding {
        placed(Finding::new(severity, code, self.file, message), line_of(&self.text, None, key))
    }
}

/// One table of a [`Source`].
#[derive(Debug, Clone, Copy)]
pub(super) struct Section<'s> {
    source: &'s Source,
    name: &'static str,
    values: Option<&'s Map<String, Value>>,
}

impl<'s> Section<'s> {
    /// The value of a key; YAML's and JSON's null counts as absent.
    pub(super) fn get(&self, key: &str) -> Option<&'s Value> {
        self.values?.get(key).filter(|value| !value.is_null())
    }

    /// The table within this one that is called by one of these keys; findings name it `label`.
    pub(super) fn table(&self, keys: &[&str], label: &'static str, out: &mut Vec<Finding>) -> Option<Section<'s>> {
        let (key, value) = keys.iter().find_map(|key| Some((key, self.get(key)?)))?;
        let Value::Object(values) = value else {
            out.push(self.wrong_type(key, "a table", value));
            return None;
        };
        Some(Section { source: self.source, name: label, values: Some(values) })
    }

    /// A table that lies in a list of this one; findings name it `label`.
    pub(super) fn part(&self, label: &'static str, values: &'s Map<String, Value>) -> Section<'s> {
        Section { source: self.source, name: label, values: Some(values) }
    }

    /// Keys and values of the table.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&'s String, &'s Value)> + use<'s> {
        self.values.into_iter().flatten()
    }

    /// A finding about one key of the table.
    pub(super) fn finding(&self, severity: Severity, code: &str, key: &str, message: impl Into<String>) -> Finding {
        let line = line_of(&self.source.text, Some(self.name), key);
        placed(Finding::new(severity, code, self.source.file, message), line)
    }

    /// An error about one key of the table.
    pub(super) fn error(&self, code: &str, key: &str, message: impl Into<String>) -> Finding {
        self.finding(Severity::Error, code, key, message)
    }

    /// The key as findings name it.
    pub(super) fn label(&self, key: &str) -> String {
        format!("`{}.{key}`", self.name)
    }

    /// A text; numbers and booleans are taken as they are written.
    pub(super) fn text(&self, key: &str, out: &mut Vec<Finding>) -> Option<String> {
        let value = self.get(key)?;
        let text = scalar(value).map(|text| text.trim().to_owned());
        if text.is_none() {
            out.push(self.wrong_type(key, "a text", value));
        }
        text.filter(|text| !text.is_empty())
    }

    /// `true` or `false`.
    pub(super) fn flag(&self, key: &str, out: &mut Vec<Finding>) -> Option<bool> {
        let value = self.get(key)?;
        if value.as_bool().is_none() {
            out.push(self.wrong_type(key, "true or false", value));
        }
        value.as_bool()
    }

    /// A list of texts; one text alone counts as a list of one.
    pub(super) fn texts(&self, key: &str, out: &mut Vec<Finding>) -> Vec<String> {
        let items: Vec<&Value> = match self.get(key) {
            None => return Vec::new(),
            Some(Value::Array(items)) => items.iter().collect(),
            Some(other) => vec![other],
        };
        let texts: Vec<String> = items.iter().filter_map(|item| scalar(item)).collect();
        if texts.len() < items.len() {
            out.push(self.error("wrong_type", key, format!("{} must be a list of texts", self.label(key))));
        }
        texts
    }

    /// A note for each key that is not in `known`.
    pub(super) fn note_unknown(&self, known: &[&str], out: &mut Vec<Finding>) {
        for (key, _) in self.entries().filter(|(key, _)| !known.contains(&key.as_str())) {
            let message = format!("{} is not known and has no effect", self.label(&brief(key)));
            out.push(self.finding(Severity::Note, "unknown_key", key, message));
        }
    }

    /// "must be …, not …".
    pub(super) fn wrong_type(&self, key: &str, want: &str, found: &Value) -> Finding {
        self.error("wrong_type", key, format!("{} must be {want}, not {}", self.label(key), kind(found)))
    }
}

/// A text, number or boolean as text.
pub(super) fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Whether a value says anything: not null, not an empty list, table or text.
pub(super) fn says_something(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Array(items) => !items.is_empty(),
        Value::Object(entries) => !entries.is_empty(),
        Value::String(text) => !text.is_empty(),
        Value::Bool(_) | Value::Number(_) => true,
    }
}

/// Hostile text cut to a length that fits a message.
pub(super) fn brief(text: &str) -> String {
    let mut short: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(80).collect();
    if text.chars().nth(80).is_some() {
        short.push('…');
    }
    short
}

fn kind(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => format!("{:?}", brief(text)),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "a table".to_owned(),
    }
}

pub(super) fn placed(finding: Finding, line: Option<u32>) -> Finding {
    match line {
        Some(line) => finding.at(line, None),
        None => finding,
    }
}

/// The line, from 1, on which `key` most likely stands: below the head of `section` where one is given, else without indentation. By
/// sight only: parsers keep no places once values are merged.
pub(super) fn line_of(text: &str, section: Option<&str>, key: &str) -> Option<u32> {
    let spelled = |word: &str, is: &dyn Fn(&str) -> bool| {
        let other = SPELLINGS.iter().find(|(_, one)| *one == word).map(|(other, _)| *other);
        is(word) || other.is_some_and(is)
    };
    let number = |index: usize| u32::try_from(index + 1).ok();
    let Some(section) = section else {
        let is_key = |line: &str| spelled(key, &|word| !line.starts_with([' ', '\t']) && begins_with(line, word));
        return text.lines().position(is_key).and_then(number);
    };
    let start = text.lines().position(|line| spelled(section, &|word| opens(line, word)))?;
    let names = |line: &str| spelled(key, &|word| assigns(line, word) || is_table_of(line, section, word));
    let offset = text.lines().skip(start).position(names);
    number(start + offset.unwrap_or(0))
}

/// The line, from 1, on which `word` stands as a key of any depth, or as the name in `- NAME=value`.
pub(super) fn line_with(text: &str, word: &str) -> Option<u32> {
    let names = |line: &str| {
        let item = line.trim_start().trim_start_matches("- ").trim_start_matches(['"', '\'']);
        item.strip_prefix(word).is_some_and(|rest| rest.is_empty() || rest.starts_with(['=', ':', ' ', '"']))
    };
    text.lines().position(|line| assigns(line, word) || names(line)).and_then(|index| u32::try_from(index + 1).ok())
}

/// `[section]`, `[section.more]`, `section:` or `section = {`.
fn opens(line: &str, section: &str) -> bool {
    let table = line.trim_start().strip_prefix('[').and_then(|rest| rest.trim_start().strip_prefix(section));
    let unindented = !line.starts_with([' ', '\t']);
    table.is_some_and(|rest| rest.trim_start().starts_with([']', '.'])) || (unindented && begins_with(line, section))
}

/// `[section.key]` or `[[section.key]]`.
fn is_table_of(line: &str, section: &str, key: &str) -> bool {
    let head = line.trim_start().strip_prefix('[').map(|head| head.trim_start_matches('['));
    let rest = head.and_then(|head| head.strip_prefix(section)?.strip_prefix('.')?.strip_prefix(key));
    rest.is_some_and(|rest| rest.starts_with([']', '.']))
}

/// [`begins_with`], or the same within a one-line table.
fn assigns(line: &str, key: &str) -> bool {
    let mut parts = line.split(['{', ',']).skip(1).map(str::trim_start);
    begins_with(line, key) || parts.any(|part| is_assignment(part, key))
}

/// `key: …`, `key = …`, `[key]` or `[[key]]`.
fn begins_with(line: &str, key: &str) -> bool {
    let line = line.trim_start();
    let name = line.trim_start_matches('[');
    let is_head = || name.strip_prefix(key).is_some_and(|rest| rest.starts_with([']', '.']));
    is_assignment(line, key) || (name.len() < line.len() && is_head())
}

fn is_assignment(text: &str, key: &str) -> bool {
    text.strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with([':', '=']))
}
