//! One assertion: a check that a script can decide, or the reason why none can. The types are those of evolve's superset of skill-creator's
//! file; a plain sentence is for a model.

use domain::path::RelPath;
use serde::Deserialize;
use serde_json::Value;

use crate::task::settings::brief;

/// The types, for a hint.
pub(super) const KNOWN: &str = "known are `file_exists` and `file_absent` {path}, `regex` and `not_regex` {path, pattern}, `contains` and \
     `not_contains` {path, value}, `command` {run, cwd, requires, expect_exit}";

/// What an assertion is.
#[derive(Debug)]
pub(super) enum Assertion {
    /// A script decides it.
    Decided(Check),
    /// It is well written and no script can decide it; the reason.
    Left(String),
    /// It is badly written; what is wrong.
    Wrong(String),
}

/// A check and its name in reports.
#[derive(Debug)]
pub(super) struct Check {
    pub(super) name: String,
    pub(super) kind: Kind,
}

/// Paths are relative to the working folder.
#[derive(Debug)]
pub(super) enum Kind {
    /// Something is (or is not) at a path.
    File { path: RelPath, there: bool },
    /// A file is there, and a pattern occurs in it (or does not). `^` and `$` stand at line ends.
    Text { path: RelPath, pattern: String, found: bool },
    /// A command ends with an exit code. Without the program `requires` it is skipped.
    Command { run: String, cwd: Option<RelPath>, requires: Option<String>, exit: u8 },
}

#[derive(Deserialize)]
struct Fields {
    #[serde(rename = "type")]
    kind: String,
    name: Option<String>,
    path: Option<String>,
    pattern: Option<String>,
    #[serde(alias = "text")]
    value: Option<String>,
    run: Option<String>,
    cwd: Option<String>,
    requires: Option<String>,
    expect_exit: Option<i64>,
}

/// Reads one assertion.
pub(super) fn read(json: &str) -> Assertion {
    match serde_json::from_str::<Value>(json) {
        Ok(Value::String(text)) => {
            Assertion::Left(format!("only a model can judge this, and none is asked: {:?}", brief(&text)))
        }
        Ok(value @ Value::Object(_)) => match serde_json::from_value::<Fields>(value) {
            Ok(fields) => decided(&fields).unwrap_or_else(Assertion::Wrong),
            Err(error) => Assertion::Wrong(format!("the assertion cannot be read: {error}")),
        },
        Ok(_) | Err(_) => Assertion::Wrong("an assertion is a sentence or a table with a `type`".to_owned()),
    }
}

fn decided(fields: &Fields) -> Result<Assertion, String> {
    let kind = match fields.kind.as_str() {
        "file_exists" | "file_absent" => Kind::File { path: path(fields)?, there: fields.kind == "file_exists" },
        "regex" | "not_regex" | "contains" | "not_contains" => {
            if fields.path.is_none() {
                return Ok(Assertion::Left(format!(
                    "`{}` without a `path` looks at the agent's answer; a verifier sees the files that the agent left",
                    fields.kind
                )));
            }
            Kind::Text { path: path(fields)?, pattern: pattern(fields)?, found: !fields.kind.starts_with("not_") }
        }
        "command" => command(fields)?,
        "tool_call" => {
            return Ok(Assertion::Left(
                "`tool_call` looks at how the agent worked; a verifier sees the files that it left".to_owned(),
            ));
        }
        "llm" => {
            let text = fields.value.as_deref().unwrap_or_default();
            return Ok(Assertion::Left(format!("only a model can judge this, and none is asked: {:?}", brief(text))));
        }
        other => return Err(format!("the type {:?} is not known", brief(other))),
    };
    let name = fields.name.as_deref().map(str::trim).filter(|name| !name.is_empty());
    Ok(Assertion::Decided(Check { name: name.map_or_else(|| named(fields, &kind), brief), kind }))
}

fn named(fields: &Fields, kind: &Kind) -> String {
    let word = fields.kind.as_str();
    match kind {
        Kind::File { path, .. } => format!("{word}: {path}"),
        Kind::Text { path, pattern, .. } => {
            format!(
                "{word}: {path}: {}",
                brief(fields.value.as_deref().filter(|_| word.ends_with("contains")).unwrap_or(pattern))
            )
        }
        Kind::Command { run, .. } => format!("{word}: {}", brief(run)),
    }
}

fn path(fields: &Fields) -> Result<RelPath, String> {
    let text = fields.path.as_deref().ok_or_else(|| format!("`{}` needs a `path`", fields.kind))?;
    relative("path", text)
}

fn relative(key: &str, text: &str) -> Result<RelPath, String> {
    RelPath::new(text.trim_start_matches("./").trim_end_matches('/'))
        .map_err(|error| format!("`{key}` must lie below the working folder, {:?} does not: {error}", brief(text)))
}

/// A regular expression; `contains` has its text taken literally.
fn pattern(fields: &Fields) -> Result<String, String> {
    if fields.kind.ends_with("contains") {
        let value = fields.value.as_deref().filter(|value| !value.is_empty());
        return value.map(regex::escape).ok_or_else(|| format!("`{}` needs a `value`", fields.kind));
    }
    let pattern = fields.pattern.as_deref().ok_or_else(|| format!("`{}` needs a `pattern`", fields.kind))?;
    // Patterns are written for RE2, which this library's are too; what it refuses (looking around, referring back) is no such pattern.
    regex::RegexBuilder::new(pattern).multi_line(true).build().map_err(|error| {
        format!("`pattern` is no RE2 expression: {}", error.to_string().lines().last().unwrap_or_default())
    })?;
    if pattern.contains('\0') { Err("`pattern` holds a NUL".to_owned()) } else { Ok(pattern.to_owned()) }
}

fn command(fields: &Fields) -> Result<Kind, String> {
    let run = fields.run.clone().filter(|run| !run.trim().is_empty() && !run.contains('\0'));
    let run = run.ok_or("`command` needs `run`, the command")?;
    let cwd = fields.cwd.as_deref().filter(|cwd| !matches!(*cwd, "" | "." | "./"));
    let plain =
        |name: &String| name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '+' | '/'));
    let requires = fields.requires.clone().filter(|name| !name.is_empty());
    if requires.as_ref().is_some_and(|name| !plain(name)) {
        return Err("`requires` is no name of a program".to_owned());
    }
    let exit =
        u8::try_from(fields.expect_exit.unwrap_or(0)).map_err(|_| "`expect_exit` must be from 0 to 255".to_owned())?;
    Ok(Kind::Command { run, cwd: cwd.map(|cwd| relative("cwd", cwd)).transpose()?, requires, exit })
}
