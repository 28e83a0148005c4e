//! Codex, headless. Its own sandbox does not work in a container, where every command would fail with exit code 0 at the end.

use formats::trace::TraceFormat;

use super::installed::{Call, Program, Record, Takes};

/// Names the gateway in its settings.
const PROVIDER: &str = "skilldelta";
const KEY: &str = "SKILLDELTA_MODEL_KEY";

/// The agent.
pub(super) struct Codex;

impl Program for Codex {
    fn program(&self) -> &'static str {
        "codex"
    }

    fn skill_folders(&self, home: &str, workdir: &str) -> Vec<String> {
        [home, workdir]
            .iter()
            .flat_map(|base| [format!("{base}/.agents/skills"), format!("{base}/.codex/skills")])
            .collect()
    }

    fn own_folders(&self) -> &'static [&'static str] {
        &[".codex"]
    }

    fn arguments(&self, call: &Call<'_>) -> Vec<String> {
        let provider = format!("model_providers.{PROVIDER}");
        let settings = [
            format!("model_provider={PROVIDER}"),
            format!("{provider}.name={PROVIDER}"),
            format!("{provider}.base_url=\"{}/v1\"", call.base_url),
            format!("{provider}.env_key={KEY}"),
            format!("{provider}.wire_api=responses"),
            // The gateway tries again by itself.
            format!("{provider}.request_max_retries=1"),
            format!("{provider}.stream_max_retries=1"),
            // The provider would reach out where the container may not.
            "web_search=\"disabled\"".to_owned(),
        ];
        let flags = ["exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "-m"];
        let mut arguments: Vec<String> = flags.into_iter().map(str::to_owned).collect();
        arguments.push(call.model.to_owned());
        arguments.extend(settings.into_iter().flat_map(|setting| ["-c".to_owned(), setting]));
        // The task comes on the standard input.
        arguments.push("-".to_owned());
        arguments
    }

    fn takes(&self) -> Takes {
        Takes::Input
    }

    fn env(&self, call: &Call<'_>) -> Vec<(String, String)> {
        vec![(KEY.to_owned(), call.token.to_owned())]
    }

    fn record(&self) -> Record {
        Record::Output(TraceFormat::CodexExec)
    }

    fn session(&self) -> Option<(&'static str, &'static str, TraceFormat)> {
        Some((".codex/sessions", ".jsonl", TraceFormat::CodexRollout))
    }
}
