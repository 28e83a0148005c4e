//! The rules of the Agent Skills specification, each as a finding with its line.

use domain::finding::{Finding, Severity};
use domain::skill::folder_name;
use serde_json::Value;

use super::frontmatter::Frontmatter;
use super::members::names;
use super::size::{MAX_BODY_TOKENS, estimated_tokens};
use super::yaml::Field;

/// Longest `name` by the specification, in characters.
pub const MAX_NAME_CHARS: usize = 64;
/// Longest `description` by the specification, in characters.
pub const MAX_DESCRIPTION_CHARS: usize = 1024;
/// Longest `compatibility` by the specification, in characters.
pub const MAX_COMPATIBILITY_CHARS: usize = 500;
/// Longest body that the specification recommends, in lines.
pub const MAX_BODY_LINES: usize = 500;

const KNOWN_KEYS: [&str; 6] = ["name", "description", "license", "compatibility", "metadata", "allowed-tools"];

/// With more unknown keys than this, one finding names them together.
const MANY_KEYS: usize = 3;
const OWN_DATA: &str = "agents ignore it or read it in their own way; the place for own data is `metadata`";

/// Gravity and code of a finding.
struct Rule<'c>(Severity, &'c str);

/// Collects the findings about one `SKILL.md`.
pub(super) struct Lint<'a> {
    file: &'a str,
    pub(super) findings: Vec<Finding>,
}

impl<'a> Lint<'a> {
    pub(super) fn new(file: &'a str) -> Self {
        Self { file, findings: Vec::new() }
    }

    pub(super) fn bom(&mut self) {
        let message = "the file begins with a byte-order mark; it is skipped in reading and kept in the stored bytes";
        self.findings.push(Finding::note("bom", self.file, message).at(1, Some(1)));
    }

    /// The trimmed name, where it can be used.
    pub(super) fn name(&mut self, fields: &[Field], folder: Option<&str>) -> Option<String> {
        let (field, name) = self.required(fields, "name", "name: count-sheep")?;
        if name.chars().any(char::is_control) {
            let message = "`name` goes over several lines or holds control characters";
            self.add(field, Rule(Severity::Error, "name_invalid"), message, "write the name in one line");
            return None;
        }
        self.hidden_characters(field, &name);
        if !conforms(&name) {
            let message = format!("the name `{name}` does not conform to the specification");
            let hint = format!(
                "use lower-case letters, digits and single hyphens, at most {MAX_NAME_CHARS} characters: `{}`; \
                 in a container the skill's folder is named so",
                folder_name(&name)
            );
            self.add(field, Rule(Severity::Warning, "name_not_conforming"), &message, &hint);
        }
        if let Some(folder) = folder.filter(|folder| *folder != name) {
            let message = format!("the name `{name}` differs from the folder `{folder}`");
            let hint =
                format!("make them equal; in a container the folder is made from the name: `{}`", folder_name(&name));
            self.add(field, Rule(Severity::Warning, "name_folder_mismatch"), &message, &hint);
        }
        Some(name)
    }

    /// The trimmed description, where it can be used.
    pub(super) fn description(&mut self, fields: &[Field]) -> Option<String> {
        let example = "description: What the skill does and when to use it.";
        let (field, description) = self.required(fields, "description", example)?;
        let length = description.chars().count();
        if length > MAX_DESCRIPTION_CHARS {
            let message =
                format!("the description has {length} characters, the specification allows {MAX_DESCRIPTION_CHARS}");
            let hint = "some agents cut or refuse it: move details to the body";
            self.add(field, Rule(Severity::Warning, "description_long"), &message, hint);
        }
        if !says_when(&description) {
            let message = "the description does not say when the skill is to be used";
            let hint = "agents choose by the description alone: add `Use when …` with the words that people use";
            self.add(field, Rule(Severity::Note, "description_without_trigger"), message, hint);
        }
        self.hidden_characters(field, &description);
        Some(description)
    }

    /// The licence, where it is a text.
    pub(super) fn license(&mut self, fields: &[Field]) -> Option<String> {
        let field = find(fields, "license")?;
        match &field.value {
            Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
            Value::Null => None,
            other => {
                let message = format!("`license` is {}, not a text", kind(other));
                self.add(field, Rule(Severity::Warning, "license_not_text"), &message, "");
                None
            }
        }
    }

    /// `compatibility`, `metadata`, `allowed-tools`, and keys that the specification does not know.
    pub(super) fn optional_fields(&mut self, fields: &[Field], front: &Frontmatter) {
        for field in fields {
            match field.key.as_str() {
                "compatibility" => self.compatibility(field),
                "metadata" => self.metadata(field),
                "allowed-tools" => self.allowed_tools(field),
                _ => {}
            }
        }
        let unknown: Vec<&Field> = fields.iter().filter(|field| !KNOWN_KEYS.contains(&field.key.as_str())).collect();
        match unknown.as_slice() {
            [first, .., _] if unknown.len() > MANY_KEYS => self.unknown_keys(first, &unknown),
            few => few.iter().for_each(|field| self.unknown_key(field, front)),
        }
    }

    pub(super) fn body(&mut self, front: &Frontmatter) {
        let lines = front.body.lines().count();
        if front.body.trim().is_empty() {
            let finding = Finding::warning("body_empty", self.file, "nothing follows the frontmatter");
            let finding = finding.hint("the body is what the agent reads when it opens the skill");
            self.findings.push(finding.at(front.body_start_line, None));
            return;
        }
        let tokens = estimated_tokens(&front.body);
        if lines > MAX_BODY_LINES || tokens > MAX_BODY_TOKENS {
            let message = format!(
                "the body has {lines} lines and about {tokens} tokens (an estimate); the specification recommends at most \
                 {MAX_BODY_LINES} lines and {MAX_BODY_TOKENS} tokens"
            );
            let finding = Finding::note("body_long", self.file, message);
            let hint = "move details to files that the body points to: the agent reads all of the body, and a file only when it needs it";
            self.findings.push(finding.at(front.body_start_line, None).hint(hint));
        }
    }

    /// A field that must be a text; reports where it is missing, blank or something else.
    fn required<'f>(&mut self, fields: &'f [Field], key: &str, example: &str) -> Option<(&'f Field, String)> {
        let hint = format!("add a line such as `{example}`");
        let Some(field) = find(fields, key) else {
            let finding = Finding::error(&format!("{key}_missing"), self.file, format!("`{key}` is missing"));
            self.findings.push(finding.at(1, None).hint(hint));
            return None;
        };
        match &field.value {
            Value::String(text) if !text.trim().is_empty() => Some((field, text.trim().to_owned())),
            Value::String(_) | Value::Null => {
                self.add(field, Rule(Severity::Error, &format!("{key}_missing")), &format!("`{key}` is empty"), &hint);
                None
            }
            other => {
                let message = format!("`{key}` is {}, not a text", kind(other));
                let hint = format!("put the value in quotes: `{key}: \"…\"`");
                self.add(field, Rule(Severity::Error, &format!("{key}_invalid")), &message, &hint);
                None
            }
        }
    }

    fn compatibility(&mut self, field: &Field) {
        let message = match &field.value {
            Value::String(text) if text.chars().count() > MAX_COMPATIBILITY_CHARS => {
                format!("`compatibility` has more than {MAX_COMPATIBILITY_CHARS} characters")
            }
            Value::String(_) | Value::Null => return,
            other => format!("`compatibility` is {}, not a text", kind(other)),
        };
        self.add(field, Rule(Severity::Warning, "compatibility_invalid"), &message, "");
    }

    fn metadata(&mut self, field: &Field) {
        let message = match &field.value {
            Value::Object(map) if map.values().all(Value::is_string) => return,
            Value::Null => return,
            Value::Object(_) => "`metadata` holds values that are not texts".to_owned(),
            other => format!("`metadata` is {}, not a map of texts", kind(other)),
        };
        let hint = "put numbers, dates and booleans in quotes";
        self.add(field, Rule(Severity::Note, "metadata_not_texts"), &message, hint);
    }

    fn allowed_tools(&mut self, field: &Field) {
        let (severity, message) = match &field.value {
            Value::String(_) | Value::Null => return,
            Value::Array(_) => (Severity::Note, "`allowed-tools` is a list, the specification has a text".to_owned()),
            other => (Severity::Warning, format!("`allowed-tools` is {}, not a text", kind(other))),
        };
        self.add(field, Rule(severity, "allowed_tools_not_text"), &message, "");
    }

    fn unknown_key(&mut self, field: &Field, front: &Frontmatter) {
        let key = short(&field.key);
        let brackets = field.value.is_array() && front.line(field.line).is_some_and(|line| line.contains('['));
        let (list, hint) = if brackets {
            (", and its value is a list", format!("if a text in square brackets is meant, quote it: `{key}: \"[…]\"`"))
        } else {
            ("", OWN_DATA.to_owned())
        };
        let message = format!("`{key}` is no field of the Agent Skills specification{list}");
        self.add(field, Rule(Severity::Warning, "unknown_key"), &message, &hint);
    }

    fn unknown_keys(&mut self, first: &Field, unknown: &[&Field]) {
        let keys: Vec<String> = unknown.iter().map(|field| short(&field.key)).collect();
        let message = format!("{} keys are no fields of the Agent Skills specification: {}", keys.len(), names(&keys));
        self.add(first, Rule(Severity::Warning, "unknown_key"), &message, OWN_DATA);
    }

    fn hidden_characters(&mut self, field: &Field, text: &str) {
        if let Some(hidden) = text.chars().find(|c| is_hidden(*c)) {
            let message = format!("`{}` holds the invisible character U+{:04X}", short(&field.key), u32::from(hidden));
            let hint = "remove it: an agent reads what a reviewer cannot see";
            self.add(field, Rule(Severity::Warning, "hidden_characters"), &message, hint);
        }
    }

    fn add(&mut self, field: &Field, rule: Rule, message: &str, hint: &str) {
        let Rule(severity, code) = rule;
        let finding = Finding::new(severity, code, self.file, message).at(field.line, Some(field.column));
        self.findings.push(if hint.is_empty() { finding } else { finding.hint(hint) });
    }
}

fn find<'f>(fields: &'f [Field], key: &str) -> Option<&'f Field> {
    fields.iter().find(|field| field.key == key)
}

/// Whether a description tells the occasion, by the words that English has for it. Other languages are let through.
fn says_when(description: &str) -> bool {
    let lower = description.to_lowercase();
    let words =
        ["when", "use ", "used ", "using ", "if ", "trigger", "for any", "before ", "after ", "during ", "while "];
    !description.is_ascii() && !lower.chars().any(|c| c.is_ascii_alphabetic())
        || words.iter().any(|word| lower.contains(word))
}

/// Whether a name is what the specification wants; letters of all scripts are let through, as its validator does.
fn conforms(name: &str) -> bool {
    let letters = |c: char| c == '-' || (c.is_alphanumeric() && !c.is_uppercase());
    name.chars().count() <= MAX_NAME_CHARS
        && name.chars().all(letters)
        && !name.starts_with('-')
        && !name.ends_with('-')
        && !name.contains("--")
}

/// Zero-width and direction-changing characters, and those of the tag block.
fn is_hidden(c: char) -> bool {
    matches!(c, '\u{200b}' | '\u{2060}' | '\u{feff}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}')
}

const fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "empty",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a map",
    }
}

/// Hostile text cut to a length that fits a message.
pub(super) fn short(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(100).collect()
}
