//! opencode, headless, over Chat Completions. It asks for a title of the session first, which its stream does not tell and the wire does.

use formats::trace::TraceFormat;
use serde_json::json;

use super::installed::{Call, Program, Record, Takes};

/// The agent.
pub(super) struct OpenCode;

impl Program for OpenCode {
    fn program(&self) -> &'static str {
        "opencode"
    }

    fn skill_folders(&self, home: &str, workdir: &str) -> Vec<String> {
        [
            (home, ".config/opencode/skills"),
            (home, ".agents/skills"),
            (home, ".claude/skills"),
            (workdir, ".opencode/skills"),
            (workdir, ".opencode/skill"),
            (workdir, ".agents/skills"),
            (workdir, ".claude/skills"),
        ]
        .iter()
        .map(|(base, folder)| format!("{base}/{folder}"))
        .collect()
    }

    fn own_folders(&self) -> &'static [&'static str] {
        &[".config/opencode", ".local/share/opencode", ".local/state", ".cache"]
    }

    fn arguments(&self, call: &Call<'_>) -> Vec<String> {
        let flags = ["run", "--format", "json"].into_iter();
        let task = call.argument(self.takes()).map(|task| ["--", task]);
        flags.chain(task.into_iter().flatten()).map(str::to_owned).collect()
    }

    fn takes(&self) -> Takes {
        Takes::Either
    }

    fn env(&self, call: &Call<'_>) -> Vec<(String, String)> {
        let model = format!("skilldelta/{}", call.model);
        let config = json!({
            "model": model,
            "small_model": model,
            "permission": "allow",
            "autoupdate": false,
            "share": "disabled",
            "provider": {"skilldelta": {
                "npm": "@ai-sdk/openai-compatible",
                "options": {"baseURL": format!("{}/v1", call.base_url), "apiKey": call.token},
                "models": {call.model: {}},
            }},
        });
        [
            ("OPENCODE_CONFIG_CONTENT", config.to_string()),
            ("OPENCODE_DISABLE_AUTOUPDATE", "1".to_owned()),
            ("OPENCODE_DISABLE_MODELS_FETCH", "1".to_owned()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .to_vec()
    }

    fn record(&self) -> Record {
        Record::Output(TraceFormat::OpenCode)
    }
}
