//! Frontmatter YAML by one parser with tight budgets. Faults name the line of the original file and what to do.

use std::fmt;

use domain::finding::Finding;
use serde::Deserialize;
use serde::de::{DeserializeOwned, MapAccess, Visitor};
use serde_json::Value;
use serde_saphyr::{Error, MessageFormatter, Options, Spanned, UserMessageFormatter};

use super::yaml_hint;

/// One top-level `key: value` of a frontmatter.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// The key as text.
    pub key: String,
    /// The value; block scalars are resolved.
    pub value: Value,
    /// The line of the file, from 1, on which the key stands.
    pub line: u32,
    /// The column in characters, from 1, at which the key starts.
    pub column: u32,
}

/// Why a frontmatter's YAML could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct YamlFault {
    /// The stable word for the kind: `yaml_syntax`, `yaml_tab`, `yaml_duplicate_key`, `yaml_too_complex` or `yaml_shape`.
    pub code: &'static str,
    /// The line of the file, from 1, where it is known.
    pub line: Option<u32>,
    /// The column in characters, from 1.
    pub column: Option<u32>,
    /// What is wrong, in one sentence, without its place.
    pub message: String,
    /// What to do about it, where that can be told.
    pub hint: Option<String>,
}

impl YamlFault {
    /// The fault as an error about `file`.
    #[must_use]
    pub fn finding(&self, file: &str) -> Finding {
        let mut finding = Finding::error(self.code, file, self.message.clone());
        finding.line = self.line;
        finding.column = self.column;
        finding.hint.clone_from(&self.hint);
        finding
    }
}

/// YAML text as a typed value; `start_line` is the line of the file on which `yaml` begins.
///
/// # Errors
/// [`YamlFault`] with its line in the file.
pub fn parse<T: DeserializeOwned>(yaml: &str, start_line: u32) -> Result<T, YamlFault> {
    serde_saphyr::from_str_with_options(yaml, options(false)).map_err(|error| fault(yaml, start_line, &error))
}

/// YAML text as its top-level fields in the order of the file. Only `true` and `false` are booleans.
///
/// # Errors
/// [`YamlFault`] with its line in the file.
pub fn fields(yaml: &str, start_line: u32) -> Result<Vec<Field>, YamlFault> {
    // The library takes a text without any node for a missing value, not for an empty mapping.
    if yaml.lines().all(|line| line.trim().is_empty() || line.trim_start().starts_with('#')) {
        return Ok(Vec::new());
    }
    let entries: Entries =
        serde_saphyr::from_str_with_options(yaml, options(true)).map_err(|error| fault(yaml, start_line, &error))?;
    let field = |(key, value): (Spanned<String>, Value)| Field {
        key: key.value,
        value,
        line: file_line(key.referenced.line(), start_line),
        column: u32::try_from(key.referenced.column()).unwrap_or(u32::MAX),
    };
    Ok(entries.0.into_iter().map(field).collect())
}

/// The keys and values of a mapping in the order of the file, which a map type would lose.
struct Entries(Vec<(Spanned<String>, Value)>);

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct EntriesVisitor;

        impl<'de> Visitor<'de> for EntriesVisitor {
            type Value = Entries;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("lines of the form `key: value`")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Entries, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }

        deserializer.deserialize_map(EntriesVisitor)
    }
}

/// Budgets far above any honest frontmatter and far below what hurts: no alias bombs, no deep nesting.
fn options(strict_booleans: bool) -> Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: 32,
            flow_nesting_limit: 32,
            max_documents: 2,
            max_nodes: 4_000,
            max_events: 12_000,
            max_aliases: 100,
            max_anchors: 100,
            max_recorded_anchor_events: 4_000,
            max_recorded_anchor_bytes: 1024 * 1024,
            max_merge_keys: 100,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: 4_000,
            max_replay_stack_depth: 8,
        },
        emit_comments: false,
        leading_zero_numbers_as_strings: true,
        strict_booleans: strict_booleans,
        non_finite_float_policy: serde_saphyr::NonFiniteFloatPolicy::AsString,
        with_snippet: false,
    }
}

fn too_complex(fault: &mut YamlFault) {
    fault.code = "yaml_too_complex";
    fault.message = "the YAML is larger, deeper or refers to itself more than is allowed".to_owned();
    fault.hint = Some("use plain `key: value` lines without anchors".to_owned());
}

/// The library's complaint as a fault with its place in the file.
pub(super) fn fault(yaml: &str, start_line: u32, error: &Error) -> YamlFault {
    let error = innermost(error);
    let place = error.location().filter(|location| location.line() > 0);
    let line = place.map_or(0, |location| usize::try_from(location.line()).unwrap_or(usize::MAX));
    let column = place.and_then(|location| u32::try_from(location.column()).ok()).filter(|column| *column > 0);
    let mut fault = YamlFault {
        code: "yaml_syntax",
        line: place.map(|location| file_line(location.line(), start_line)),
        column,
        message: brief(&UserMessageFormatter.format_message(error)),
        hint: None,
    };
    match error {
        Error::DuplicateMappingKey { key, .. } => {
            fault.code = "yaml_duplicate_key";
            fault.message = match key {
                Some(key) => format!("the key `{}` stands here a second time", brief(key)),
                None => "a key stands here a second time".to_owned(),
            };
            fault.hint = Some("keep one of the two".to_owned());
        }
        Error::Budget { .. }
        | Error::AliasReplayLimitExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. } => {
            too_complex(&mut fault);
        }
        Error::ExternalMessage { msg, .. } if msg.contains("recursion limit") => too_complex(&mut fault),
        Error::ExternalMessage { .. }
        | Error::Eof { .. }
        | Error::ContainerEndMismatch { .. }
        | Error::UnknownAnchor { .. } => syntax(&mut fault, yaml, line, start_line),
        Error::MultipleDocuments { .. } => {
            fault.message = "the YAML ends before the closing `---`".to_owned();
            fault.hint = Some("remove the line `...`".to_owned());
        }
        Error::Unexpected { expected: "mapping start", .. } => {
            fault.code = "yaml_shape";
            fault.message = "`key: value` lines are expected here".to_owned();
            fault.hint = Some("write a field as `name: …`, one a line".to_owned());
        }
        _ => fault.code = "yaml_shape",
    }
    fault
}

/// Puts the likely cause of a syntax error in place of the library's words where it can be told from the text.
fn syntax(fault: &mut YamlFault, yaml: &str, line: usize, start_line: u32) {
    let Some(cause) = yaml_hint::cause(yaml, line, &fault.message) else { return };
    fault.code = cause.code;
    fault.line = Some(file_line(cause.line as u64, start_line));
    fault.column = Some(u32::try_from(cause.column).unwrap_or(u32::MAX));
    fault.message = cause.message;
    fault.hint = Some(cause.hint);
}

fn innermost(mut error: &Error) -> &Error {
    while let Error::AliasError { error: inner, .. } | Error::WithSnippet { error: inner, .. } = error {
        error = inner;
    }
    error
}

fn file_line(yaml_line: u64, start_line: u32) -> u32 {
    let line = yaml_line.saturating_add(u64::from(start_line)).saturating_sub(1);
    u32::try_from(line).unwrap_or(u32::MAX)
}

/// Hostile text cut to a length that fits a page.
fn brief(text: &str) -> String {
    let mut short: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(200).collect();
    if text.chars().nth(200).is_some() {
        short.push('…');
    }
    short
}
