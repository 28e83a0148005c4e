//! openclaw, headless. Its envelope names tools and not what they were used for: only the wire shows whether a skill was opened.

use formats::trace::TraceFormat;
use serde_json::json;

use super::installed::{Call, Program, Record};

/// The agent.
pub(super) struct OpenClaw;

impl Program for OpenClaw {
    fn program(&self) -> &'static str {
        "openclaw"
    }

    fn skill_folders(&self, home: &str, workdir: &str) -> Vec<String> {
        vec![
            format!("{home}/.openclaw/skills"),
            format!("{home}/.agents/skills"),
            format!("{workdir}/skills"),
            format!("{workdir}/.agents/skills"),
        ]
    }

    fn own_folders(&self) -> &'static [&'static str] {
        &[".openclaw"]
    }

    fn files(&self, call: &Call<'_>) -> Vec<(String, String)> {
        let config = json!({
            "models": {"providers": {"skilldelta": {
                "baseUrl": format!("{}/v1", call.base_url),
                "apiKey": call.token,
                "api": "openai-completions",
                "models": [{"id": call.model, "name": call.model}],
            }}},
        });
        vec![(".openclaw/openclaw.json".to_owned(), config.to_string())]
    }

    fn arguments(&self, call: &Call<'_>) -> Vec<String> {
        let (model, home) = (format!("skilldelta/{}", call.model), call.home.trim_end_matches('/'));
        let (state, config) = (format!("{home}/.openclaw"), format!("{home}/.openclaw/openclaw.json"));
        let flags = ["agent", "exec", call.instruction, "--cwd", call.workdir, "--model", &model, "--json"];
        flags.into_iter().chain(["--state-dir", &state, "--config", &config]).map(str::to_owned).collect()
    }

    fn env(&self, _: &Call<'_>) -> Vec<(String, String)> {
        Vec::new()
    }

    fn record(&self) -> Record {
        Record::Output(TraceFormat::OpenClaw)
    }
}
