//! The layout of SkillsBench v1.0 and Harbor: `task.toml`, `instruction.md`, `tests/`, `solution/`.

use domain::finding::Finding;
use domain::tree::LoadedFile;
use serde_json::{Map, Number, Value};

use super::settings::Source;

pub(super) const CONFIG: &str = "task.toml";
pub(super) const PROMPT: &str = "instruction.md";
pub(super) const VERIFIER: &str = "tests";
pub(super) const ORACLE: &str = "solution";

/// The settings in `task.toml`; `None` where it cannot be read.
pub(super) fn settings(file: &LoadedFile, out: &mut Vec<Finding>) -> Option<Source> {
    let text = text(CONFIG, &file.bytes, out)?;
    match text.parse::<toml::Table>() {
        Ok(table) => {
            let values = table.into_iter().map(|(key, value)| (key, to_value(value))).collect();
            Some(Source::new(CONFIG, text, values, out))
        }
        Err(error) => {
            out.push(syntax(&text, &error));
            None
        }
    }
}

/// The instruction in the file called `name`: the whole text.
pub(super) fn instruction(name: &str, file: &LoadedFile, out: &mut Vec<Finding>) -> Option<String> {
    text(name, &file.bytes, out).map(|text| text.trim().to_owned())
}

/// The text of a file without byte-order mark and with bare line feeds.
pub(super) fn text(name: &str, bytes: &[u8], out: &mut Vec<Finding>) -> Option<String> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Some(text.trim_start_matches('\u{feff}').replace("\r\n", "\n").replace('\r', "\n")),
        Err(error) => {
            let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
            let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
            let message = format!("the file is not UTF-8: byte {} cannot be read", error.valid_up_to());
            let finding = Finding::error("not_utf8", name, message).hint("save the file as UTF-8");
            out.push(finding.at(u32::try_from(line).unwrap_or(u32::MAX), None));
            None
        }
    }
}

fn syntax(text: &str, error: &toml::de::Error) -> Finding {
    let finding = Finding::error("toml_syntax", CONFIG, error.message().trim().replace('\n', ", "));
    let Some(before) = error.span().and_then(|span| text.get(..span.start)) else { return finding };
    let line = before.matches('\n').count() + 1;
    let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    finding.at(u32::try_from(line).unwrap_or(u32::MAX), u32::try_from(column).ok())
}

/// Dates and numbers that JSON does not know become texts.
fn to_value(value: toml::Value) -> Value {
    match value {
        toml::Value::String(text) => Value::String(text),
        toml::Value::Integer(number) => Value::from(number),
        toml::Value::Float(number) => match Number::from_f64(number) {
            Some(number) => Value::Number(number),
            None => Value::String(number.to_string()),
        },
        toml::Value::Boolean(flag) => Value::Bool(flag),
        toml::Value::Datetime(date) => Value::String(date.to_string()),
        toml::Value::Array(items) => items.into_iter().map(to_value).collect(),
        toml::Value::Table(table) => {
            Value::Object(table.into_iter().map(|(key, value)| (key, to_value(value))).collect::<Map<_, _>>())
        }
    }
}
