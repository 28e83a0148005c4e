//! A trial's `result.json` as Harbor and BenchFlow write it: the fields that tell how it went, and what they mean for the verdict.

use std::collections::BTreeMap;

use domain::time::Timestamp;
use domain::verdict::{FailReason, InfraClass, Verdict};
use serde::Deserialize;

use super::draft::UNKNOWN;
use super::number;

/// The file. Every field but the task's name may be absent or null.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct TrialResult {
    pub task_name: String,
    /// BenchFlow.
    pub skill_mode: Option<String>,
    pub environment_setup: Option<Timing>,
    pub agent_setup: Option<Timing>,
    pub agent_execution: Option<Timing>,
    pub verifier: Option<Timing>,
    /// BenchFlow.
    pub timing: Option<Seconds>,
    config: Config,
    agent_info: Option<AgentInfo>,
    agent_result: Option<AgentResult>,
    verifier_result: Option<VerifierResult>,
    exception_info: Option<ExceptionInfo>,
    started_at: Option<String>,
    finished_at: Option<String>,
    // BenchFlow's own.
    rewards: Option<BTreeMap<String, Option<f64>>>,
    agent: Option<String>,
    agent_name: Option<String>,
    model: Option<String>,
    error: Option<String>,
    error_category: Option<String>,
    verifier_error: Option<String>,
    n_skill_invocations: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Config {
    agent: ConfigAgent,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ConfigAgent {
    name: Option<String>,
    model_name: Option<String>,
    skills: Option<Vec<String>>,
}

#[derive(Debug, Deserialize)]
struct AgentInfo {
    name: String,
    #[serde(default)]
    version: Option<String>,
    #[serde(default)]
    model_info: Option<ModelInfo>,
}

#[derive(Debug, Deserialize)]
struct ModelInfo {
    name: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct AgentResult {
    n_input_tokens: Option<u64>,
    #[serde(alias = "n_cache_read_tokens")]
    n_cache_tokens: Option<u64>,
    n_output_tokens: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct VerifierResult {
    rewards: Option<BTreeMap<String, Option<f64>>>,
}

#[derive(Debug, Deserialize)]
struct ExceptionInfo {
    exception_type: String,
    #[serde(default)]
    exception_message: String,
}

/// A phase by its two instants.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Timing {
    started_at: Option<String>,
    finished_at: Option<String>,
}

impl Timing {
    pub(super) fn ms(&self) -> Option<u64> {
        number::between(number::instant(self.started_at.as_deref()), number::instant(self.finished_at.as_deref()))
    }
}

/// Phases in seconds.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Seconds {
    pub environment_setup: Option<f64>,
    pub agent_setup: Option<f64>,
    pub agent_execution: Option<f64>,
    pub verifier: Option<f64>,
}

impl TrialResult {
    pub(super) fn started(&self) -> Option<Timestamp> {
        number::instant(self.started_at.as_deref())
    }

    pub(super) fn ended(&self) -> Option<Timestamp> {
        number::instant(self.finished_at.as_deref())
    }

    pub(super) fn agent(&self) -> String {
        let info = self.agent_info.as_ref().map(|info| &info.name);
        let name = info.or(self.agent.as_ref()).or(self.agent_name.as_ref()).or(self.config.agent.name.as_ref());
        name.cloned().unwrap_or_else(|| UNKNOWN.to_owned())
    }

    pub(super) fn agent_version(&self) -> Option<String> {
        let version = self.agent_info.as_ref()?.version.clone()?;
        (!version.is_empty()).then_some(version)
    }

    pub(super) fn model(&self) -> Option<String> {
        let info = self.agent_info.as_ref().and_then(|info| info.model_info.as_ref()).map(|model| &model.name);
        info.or(self.model.as_ref()).or(self.config.agent.model_name.as_ref()).cloned()
    }

    /// Names of the skills that the agent was given; `None` where the runner does not tell.
    pub(super) fn skills(&self) -> Option<Vec<String>> {
        let skills = self.config.agent.skills.as_ref()?;
        let name = |path: &String| path.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned();
        Some(skills.iter().map(name).collect())
    }

    /// Prompt tokens in all, those read from a cache, and those written by the model.
    pub(super) fn tokens(&self) -> (Option<u64>, Option<u64>, Option<u64>) {
        let result = self.agent_result.as_ref();
        (
            result.and_then(|result| result.n_input_tokens),
            result.and_then(|result| result.n_cache_tokens),
            result.and_then(|result| result.n_output_tokens),
        )
    }

    pub(super) fn skill_opened(&self) -> Option<bool> {
        self.n_skill_invocations.map(|count| count > 0)
    }

    /// The value called `reward`, or the only one there is.
    pub(super) fn reward(&self) -> Option<f64> {
        let rewards =
            self.verifier_result.as_ref().and_then(|result| result.rewards.as_ref()).or(self.rewards.as_ref())?;
        match rewards.get("reward") {
            Some(reward) => *reward,
            None if rewards.len() == 1 => rewards.values().next().copied().flatten(),
            None => None,
        }
    }

    /// Whose fault it was, by the runner's own names. An agent's time-out decides over any reward.
    pub(super) fn verdict(&self, reward: Option<f64>) -> Verdict {
        if let Some(exception) = &self.exception_info {
            return exception.verdict();
        }
        if let Some(message) = &self.error {
            let timed_out = self.error_category.as_deref().is_some_and(|category| category.contains("timeout"));
            return if timed_out {
                Verdict::Fail { reason: timed_out_by(message) }
            } else {
                Verdict::InfraError { class: InfraClass::Engine, message: message.clone() }
            };
        }
        match (&self.verifier_error, reward) {
            (Some(message), _) => Verdict::VerifierError { message: message.clone() },
            (None, Some(1.0)) => Verdict::Pass,
            (None, Some(_)) => Verdict::Fail { reason: FailReason::WrongResult },
            (None, None) => Verdict::VerifierError { message: "there is no usable reward".to_owned() },
        }
    }
}

impl ExceptionInfo {
    fn verdict(&self) -> Verdict {
        let message = format!("{}: {}", self.exception_type, self.exception_message);
        match self.exception_type.as_str() {
            "AgentTimeoutError" => Verdict::Fail { reason: timed_out_by(&message) },
            "NonZeroAgentExitCodeError" | "AgentError" => Verdict::Fail { reason: FailReason::AgentError { message } },
            "CancelledError" | "KeyboardInterrupt" => Verdict::Cancelled,
            kind if kind.contains("Verifier") || kind.contains("Reward") => Verdict::VerifierError { message },
            kind if kind.contains("Environment") || kind.contains("Docker") || kind.contains("Sandbox") => {
                Verdict::InfraError { class: InfraClass::Container, message }
            }
            _ => Verdict::InfraError { class: InfraClass::Engine, message },
        }
    }
}

/// The limit stands in the message, in seconds; where it does not, the message is all that is known.
fn timed_out_by(message: &str) -> FailReason {
    let seconds = message.split_whitespace().filter_map(|word| word.trim_end_matches('s').parse::<f64>().ok()).next();
    match number::seconds(seconds) {
        Some(limit_ms) if limit_ms > 0 => FailReason::TimedOut { limit_ms },
        _ => FailReason::AgentError { message: message.to_owned() },
    }
}
