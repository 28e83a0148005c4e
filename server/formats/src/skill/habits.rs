//! What a skill will have the agent do that an environment may forbid or a reader should know: fetch from the network, run scripts.

use std::sync::LazyLock;

use domain::finding::Finding;
use regex::Regex;

use super::contents::Texts;
use super::layout::SKILL_MD;
use super::members::names;

/// Programs that fetch, as commands; and the calls of common languages that do.
const FETCHES: &str = r"(?m)\b(?P<what>curl|wget|git clone|(?:pip3?|pipx|uv pip|uv tool|npm|pnpm|yarn|bun|gem|cargo|go|apt|apt-get|apk|dnf|yum|brew) (?:install|add|get|ci)|npx|uvx|docker pull|requests\.(?:get|post)|urllib\.request|httpx\.|urlopen)\b";
/// A download that goes straight into a shell or an interpreter.
const PIPED: &str = r"(?m)\b(?:curl|wget)\b[^|\n]*\|\s*(?:sudo\s+)?(?:env\s+)?(?:ba|z|da)?sh\b";
static FETCH: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(FETCHES).ok());
static PIPE: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(PIPED).ok());

/// Endings of files that an agent runs.
const SCRIPTS: [&str; 12] = [".sh", ".bash", ".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".ps1", ".bat", ".php"];

/// Notes about a skill's habits; a warning where a download is run unseen. `name` gives a file its name in findings.
pub(super) fn check(texts: &Texts<'_>, name: &dyn Fn(&str) -> String) -> Vec<Finding> {
    let mut scripts: Vec<&str> = Vec::new();
    let mut fetches: Vec<String> = Vec::new();
    let mut findings = Vec::new();
    for (path, text) in texts {
        let script = is_script(path, text);
        if script {
            scripts.push(path);
        } else if !path.ends_with(".md") {
            continue;
        }
        if let Some(found) = PIPE.as_ref().and_then(|pipe| pipe.find(text)) {
            let message = "a download is piped into a shell";
            let finding = Finding::warning("pipes_download", name(path), message).at(line(text, found.start()), None);
            findings.push(finding.hint("ship the script or pin and check what is fetched: nobody sees what is run"));
        }
        if let Some(found) = FETCH.as_ref().and_then(|fetch| fetch.captures(text)?.name("what")) {
            fetches.push(format!("`{}` ({path}:{})", found.as_str(), line(text, found.start())));
        }
    }
    let file = name(SKILL_MD);
    if !fetches.is_empty() {
        let message = format!("the skill speaks of fetching from the network: {}", names(&fetches));
        let hint = "in a task whose network is closed this fails; say so in `compatibility`, or ship what is needed";
        findings.push(Finding::note("uses_network", &file, message).hint(hint));
    }
    if !scripts.is_empty() {
        let message = format!("the skill brings scripts for the agent to run: {}", names(&scripts));
        findings.push(Finding::note("runs_scripts", &file, message).hint("read them before others install the skill"));
    }
    findings
}

fn is_script(path: &str, text: &str) -> bool {
    text.starts_with("#!") || SCRIPTS.iter().any(|end| path.to_ascii_lowercase().ends_with(end))
}

fn line(text: &str, at: usize) -> u32 {
    let before = text.get(..at).unwrap_or_default();
    u32::try_from(before.matches('\n').count() + 1).unwrap_or(u32::MAX)
}
