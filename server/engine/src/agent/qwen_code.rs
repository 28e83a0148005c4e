//! Qwen Code, headless, over Chat Completions.

use formats::trace::TraceFormat;

use super::installed::{Call, Program, Record, Takes};

/// The agent.
pub(super) struct QwenCode;

impl Program for QwenCode {
    fn program(&self) -> &'static str {
        "qwen"
    }

    fn skill_folders(&self, home: &str, workdir: &str) -> Vec<String> {
        [home, workdir]
            .iter()
            .flat_map(|base| [format!("{base}/.qwen/skills"), format!("{base}/.agents/skills")])
            .collect()
    }

    fn own_folders(&self) -> &'static [&'static str] {
        &[".qwen"]
    }

    fn arguments(&self, call: &Call<'_>) -> Vec<String> {
        let prompt = call.argument(self.takes()).map(|task| format!("--prompt={task}"));
        ["--auth-type", "openai", "-y", "-o", "stream-json"].into_iter().map(str::to_owned).chain(prompt).collect()
    }

    fn takes(&self) -> Takes {
        Takes::Either
    }

    fn env(&self, call: &Call<'_>) -> Vec<(String, String)> {
        [
            ("OPENAI_API_KEY", call.token.to_owned()),
            ("OPENAI_BASE_URL", format!("{}/v1", call.base_url)),
            ("OPENAI_MODEL", call.model.to_owned()),
            ("QWEN_TELEMETRY_ENABLED", "false".to_owned()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .to_vec()
    }

    fn record(&self) -> Record {
        Record::Output(TraceFormat::QwenStream)
    }
}
