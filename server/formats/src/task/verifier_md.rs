//! `verifier.md`, the optional description of a verifier: only the strategy `script` that runs `test.sh` is accepted.

use domain::finding::Finding;
use domain::tree::LoadedFile;
use serde_json::Value;

use super::settings::brief;
use crate::skill::frontmatter;

/// Findings about the default strategy of a `verifier.md`. `file` is its path in the task.
pub(super) fn check(file: &str, content: &LoadedFile, out: &mut Vec<Finding>) {
    let front = match frontmatter::split(&content.bytes) {
        // A plain text beside test.sh describes and sets nothing.
        Err(frontmatter::FrontmatterError::Missing | frontmatter::FrontmatterError::Empty) => return,
        Err(error) => return out.push(error.finding(file)),
        Ok(front) => front,
    };
    let fields = match front.fields() {
        Ok(fields) => fields,
        Err(fault) => return out.push(fault.finding(file)),
    };
    let Some(verifier) = fields.iter().find(|field| field.key == "verifier") else { return };
    if let Some((name, strategy)) = default_strategy(&verifier.value) {
        let faults = [wrong_kind(name, strategy), wrong_command(name, strategy)];
        let at = |message| Finding::error("unsupported_verifier", file, message).at(verifier.line, None);
        out.extend(faults.into_iter().flatten().map(|message| {
            at(message).hint("make a strategy of type `script` with the command `./test.sh` the default")
        }));
    }
}

/// The strategy that `default_strategy` names, or the only one.
fn default_strategy(verifier: &Value) -> Option<(&String, &Value)> {
    let strategies = verifier.get("strategies")?.as_object()?;
    match verifier.get("default_strategy").and_then(Value::as_str) {
        Some(name) => strategies.iter().find(|(key, _)| *key == name),
        None => strategies.iter().next(),
    }
}

fn wrong_kind(name: &str, strategy: &Value) -> Option<String> {
    let kind = strategy.get("type").and_then(Value::as_str).unwrap_or("script");
    let message =
        || format!("the verifier's strategy `{}` is of type `{}`; only `script` is run", brief(name), brief(kind));
    (kind != "script").then(message)
}

fn wrong_command(name: &str, strategy: &Value) -> Option<String> {
    let command = strategy.get("command").and_then(Value::as_str)?.trim();
    let script = command.strip_prefix("bash ").or(command.strip_prefix("sh ")).unwrap_or(command).trim();
    let script = ["./", "/verifier/", "/tests/"].iter().find_map(|start| script.strip_prefix(start)).unwrap_or(script);
    let message =
        || format!("the verifier's strategy `{}` runs `{}`; only `./test.sh` is run", brief(name), brief(command));
    (script != "test.sh").then(message)
}
