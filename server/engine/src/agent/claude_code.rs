//! Claude Code, headless. Its bundled skills are listed in both arms, so the baseline is the same command without the skill's folder.

use formats::trace::TraceFormat;

use super::installed::{Call, Program, Record, Takes};

/// The agent.
pub(super) struct ClaudeCode;

impl Program for ClaudeCode {
    fn program(&self) -> &'static str {
        "claude"
    }

    fn skill_folders(&self, home: &str, workdir: &str) -> Vec<String> {
        vec![format!("{home}/.claude/skills"), format!("{workdir}/.claude/skills")]
    }

    fn own_folders(&self) -> &'static [&'static str] {
        &[".claude"]
    }

    fn arguments(&self, call: &Call<'_>) -> Vec<String> {
        let flags = ["-p", "--output-format", "stream-json", "--verbose", "--dangerously-skip-permissions", "--model"];
        let flags = flags.into_iter().map(str::to_owned);
        flags.chain([call.model.to_owned()]).collect()
    }

    fn takes(&self) -> Takes {
        Takes::Input
    }

    fn env(&self, call: &Call<'_>) -> Vec<(String, String)> {
        [
            ("ANTHROPIC_BASE_URL", call.base_url),
            ("ANTHROPIC_API_KEY", call.token),
            // Side jobs by the same model: another one would be refused.
            ("ANTHROPIC_SMALL_FAST_MODEL", call.model),
            ("ANTHROPIC_DEFAULT_HAIKU_MODEL", call.model),
            // Root is refused unless it is said that this is a sandbox.
            ("IS_SANDBOX", "1"),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            ("DISABLE_AUTOUPDATER", "1"),
            // The gateway tries again by itself; ten tries of the agent's own on top would look like a slow agent.
            ("CLAUDE_CODE_MAX_RETRIES", "2"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec()
    }

    fn record(&self) -> Record {
        Record::Output(TraceFormat::ClaudeStream)
    }

    fn session(&self) -> Option<(&'static str, &'static str, TraceFormat)> {
        Some((".claude/projects", ".jsonl", TraceFormat::ClaudeSession))
    }
}
