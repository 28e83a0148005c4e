//! mini-swe-agent, headless, over Chat Completions. It discovers no skills at all: a skill would have to be named in its task, and then the
//! task would differ between the arms.

use formats::trace::TraceFormat;

use super::installed::{Call, Program, Record};

const TRAJECTORY: &str = ".mini-swe-agent.traj.json";

/// The agent.
pub(super) struct MiniSweAgent;

impl Program for MiniSweAgent {
    fn program(&self) -> &'static str {
        "mini"
    }

    fn skill_folders(&self, _: &str, _: &str) -> Vec<String> {
        Vec::new()
    }

    fn skill_obstacle(&self) -> Option<&'static str> {
        Some(
            "mini-swe-agent looks for no skills anywhere, so a skill cannot be evaluated with it; choose an agent that discovers skills",
        )
    }

    fn own_folders(&self) -> &'static [&'static str] {
        &[".config/mini-swe-agent"]
    }

    fn arguments(&self, call: &Call<'_>) -> Vec<String> {
        let model = format!("openai/{}", call.model);
        let file = format!("{}/{TRAJECTORY}", call.home.trim_end_matches('/'));
        let task = format!("--task={}", call.instruction);
        ["-y", "--exit-immediately", "-m", &model, "-o", &file, &task].map(str::to_owned).to_vec()
    }

    fn env(&self, call: &Call<'_>) -> Vec<(String, String)> {
        [
            ("MSWEA_CONFIGURED", "true".to_owned()),
            ("MSWEA_COST_TRACKING", "ignore_errors".to_owned()),
            ("LITELLM_LOCAL_MODEL_COST_MAP", "True".to_owned()),
            ("OPENAI_API_BASE", format!("{}/v1", call.base_url)),
            ("OPENAI_API_KEY", call.token.to_owned()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .to_vec()
    }

    fn record(&self) -> Record {
        Record::File(TRAJECTORY, TraceFormat::MiniSweAgent)
    }
}
