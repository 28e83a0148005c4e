//! OpenHands by its SDK, headless, over Chat Completions: a driver of ours in its tree stands for the command line.

use formats::trace::TraceFormat;

use super::installed::{Call, Program, Record, Takes};

/// Below HOME.
const RECORD: &str = ".openhands/skilldelta-record.json";
const KEY: &str = "SKILLDELTA_MODEL_KEY";

/// The agent.
pub(super) struct OpenHands;

impl Program for OpenHands {
    fn program(&self) -> &'static str {
        "openhands"
    }

    fn skill_folders(&self, home: &str, workdir: &str) -> Vec<String> {
        [home, workdir]
            .iter()
            .flat_map(|base| {
                [".agents/skills", ".openhands/skills", ".openhands/microagents"]
                    .map(|folder| format!("{base}/{folder}"))
            })
            .collect()
    }

    fn own_folders(&self) -> &'static [&'static str] {
        &[".openhands"]
    }

    fn arguments(&self, call: &Call<'_>) -> Vec<String> {
        let record = format!("{}/{RECORD}", call.home.trim_end_matches('/'));
        ["--model", call.model, "--base-url", call.base_url, "--record", &record].map(str::to_owned).to_vec()
    }

    fn takes(&self) -> Takes {
        Takes::Input
    }

    fn env(&self, call: &Call<'_>) -> Vec<(String, String)> {
        vec![(KEY.to_owned(), call.token.to_owned())]
    }

    fn record(&self) -> Record {
        Record::File(RECORD, TraceFormat::OpenHands)
    }
}
