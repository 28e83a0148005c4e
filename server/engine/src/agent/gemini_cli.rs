//! Gemini CLI, headless. It wants to find its way of logging in in a settings file.

use formats::trace::TraceFormat;

use super::installed::{Call, Program, Record, Takes};

/// The agent.
pub(super) struct GeminiCli;

impl Program for GeminiCli {
    fn program(&self) -> &'static str {
        "gemini"
    }

    fn skill_folders(&self, home: &str, workdir: &str) -> Vec<String> {
        [home, workdir]
            .iter()
            .flat_map(|base| [format!("{base}/.agents/skills"), format!("{base}/.gemini/skills")])
            .collect()
    }

    fn own_folders(&self) -> &'static [&'static str] {
        &[".gemini"]
    }

    fn files(&self, _: &Call<'_>) -> Vec<(String, String)> {
        let settings = r#"{"security":{"auth":{"selectedType":"gemini-api-key"}},"general":{"disableAutoUpdate":true},"privacy":{"usageStatisticsEnabled":false}}"#;
        vec![(".gemini/settings.json".to_owned(), settings.to_owned())]
    }

    fn arguments(&self, call: &Call<'_>) -> Vec<String> {
        let prompt = call.argument(self.takes()).map(|task| format!("--prompt={task}"));
        ["-y", "--skip-trust", "-m", call.model, "-o", "stream-json"]
            .into_iter()
            .map(str::to_owned)
            .chain(prompt)
            .collect()
    }

    fn takes(&self) -> Takes {
        Takes::Either
    }

    fn env(&self, call: &Call<'_>) -> Vec<(String, String)> {
        [
            ("GEMINI_API_KEY", call.token),
            ("GOOGLE_GEMINI_BASE_URL", call.base_url),
            ("GEMINI_TELEMETRY_ENABLED", "false"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec()
    }

    fn record(&self) -> Record {
        Record::Output(TraceFormat::GeminiStream)
    }
}
