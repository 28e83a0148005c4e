//! Environment variables of a phase: literal values, and `${NAME}` templates which ask for a value from the host.

use std::collections::BTreeMap;

use domain::finding::{Finding, Severity};
use serde_json::Value;

use super::settings::{Section, brief, scalar};

/// The variables of one phase.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct EnvVars {
    /// Literal values; also the default of a template that has one.
    pub(super) literal: BTreeMap<String, String>,
    /// Variable by the name asked for on the host. An approved value goes over a literal one.
    pub(super) from_host: BTreeMap<String, String>,
}

/// `${NAME}` and `${NAME:-default}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Template {
    pub(super) name: String,
    pub(super) default: Option<String>,
}

/// The template that `text` is, as a whole.
pub(super) fn template(text: &str) -> Option<Template> {
    let inner = text.strip_prefix("${")?.strip_suffix('}')?;
    let (name, default) = match inner.split_once(":-") {
        Some((name, default)) => (name, Some(default.to_owned())),
        None => (inner, None),
    };
    is_name(name).then(|| Template { name: name.to_owned(), default })
}

/// The `env` table of a section.
pub(super) fn read(section: &Section<'_>, out: &mut Vec<Finding>) -> EnvVars {
    match section.get("env") {
        None => EnvVars::default(),
        Some(Value::Object(entries)) => from_entries(section, entries.iter(), out),
        Some(other) => {
            out.push(section.wrong_type("env", "a table of variables", other));
            EnvVars::default()
        }
    }
}

/// Variables from keys and values.
pub(super) fn from_entries<'v>(
    section: &Section<'_>,
    entries: impl Iterator<Item = (&'v String, &'v Value)>,
    out: &mut Vec<Finding>,
) -> EnvVars {
    let mut vars = EnvVars::default();
    for (key, value) in entries {
        if !is_name(key) {
            let message = format!("{:?} in {} is no name for a variable", brief(key), section.label("env"));
            out.push(
                section
                    .error("bad_variable", key, message)
                    .hint("use letters, digits and `_`, not beginning with a digit"),
            );
            continue;
        }
        match scalar(value).filter(|text| !text.contains('\0')) {
            Some(text) => vars.add(section, key, text, out),
            None => out.push(section.wrong_type(key, "a text", value)),
        }
    }
    vars
}

impl EnvVars {
    fn add(&mut self, section: &Section<'_>, key: &str, text: String, out: &mut Vec<Finding>) {
        match template(&text) {
            Some(Template { name, default }) => {
                if let Some(default) = default {
                    self.literal.insert(key.to_owned(), default);
                }
                self.from_host.insert(key.to_owned(), name);
            }
            None => {
                if text.contains("${") {
                    let message = format!("the value of `{key}` is taken as it is, `${{…}}` included");
                    let finding = section.finding(Severity::Warning, "partial_template", key, message);
                    out.push(
                        finding.hint("only a value that is a template as a whole, such as `${NAME}`, is filled in"),
                    );
                }
                self.literal.insert(key.to_owned(), text);
            }
        }
    }

    /// Tells of templates without a default: a run without the value would judge something else, and none is given away unasked.
    pub(super) fn tell_host(&self, section: &Section<'_>, out: &mut Vec<Finding>) {
        for (key, name) in self.from_host.iter().filter(|(key, _)| !self.literal.contains_key(*key)) {
            let message = format!(
                "the verifier asks for `{name}` of this machine: runs are refused until a person approves that for this task"
            );
            let hint = format!(
                "approve it on the task's page or with --approve-verifier-env {name}; or write the value itself, or a default that \
                 the verifier can do without: `{key} = \"${{{name}:-}}\"`"
            );
            out.push(section.finding(Severity::Warning, "host_value_not_given", key, message).hint(hint));
        }
    }

    /// The literal values alone, for a phase that gets nothing from the host: templates without a default are left out with a warning.
    pub(super) fn without_host(self, section: &Section<'_>, out: &mut Vec<Finding>) -> BTreeMap<String, String> {
        for (key, name) in self.from_host.iter().filter(|(key, _)| !self.literal.contains_key(*key)) {
            let message =
                format!("`{key}` asks for `{name}` of the host and is left out: only a verifier may get such values");
            out.push(section.finding(Severity::Warning, "host_value_left_out", key, message));
        }
        self.literal
    }
}

/// Letters, digits and `_`, not beginning with a digit.
pub(super) fn is_name(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && name.len() <= 256
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}
