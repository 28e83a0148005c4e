//! Agents: the programs that solve tasks, each behind one trait in a file of its own.

pub mod activation;
pub mod bash;
mod claude_code;
mod codex;
pub mod command;
pub mod evidence;
mod gemini_cli;
pub mod installed;
mod mini_swe_agent;
pub mod nop;
mod openclaw;
mod opencode;
mod openhands;
pub mod oracle;
mod qwen_code;
mod recorder;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use domain::finding::Finding;
use domain::path::RelPath;
use domain::plan::PromptIntake;
use domain::time::Timestamp;
use domain::trace::{Trace, TraceStep};
use domain::tree::LoadedTree;
use domain::usage::TokenUsage;
use formats::trace::SkillsSeen;
use gateway::TrialGateway;

use crate::network::Access;
use crate::sandbox::{ExecEnd, Exit, Mount, Redactor, Sandbox, SandboxError, Sink};

/// The version of the agents that are part of this program.
const OWN_VERSION: &str = env!("CARGO_PKG_VERSION");

/// A program that solves tasks.
#[async_trait]
pub trait Agent: Send + Sync {
    /// As users choose it.
    fn name(&self) -> &str;

    /// Part of every number's provenance.
    fn version(&self) -> String;

    /// Where it looks for skills, as absolute folders in the container. Skills are placed in the first.
    fn skill_folders(&self, home: &str, workdir: &str) -> Vec<String>;

    /// Whether it calls a model.
    fn needs_model(&self) -> bool;

    /// Whether it needs the task's own solution.
    fn needs_oracle(&self) -> bool {
        false
    }

    /// What it has spent where no gateway counted: nothing, unless it may call models by ways of its own.
    fn uncounted_usage(&self) -> TokenUsage {
        TokenUsage::ZERO
    }

    /// What is mounted into its container, read-only: its tree.
    fn mounts(&self) -> Vec<Mount> {
        Vec::new()
    }

    /// Whether it calls its model from inside the container, for which the trial needs a network that leads to the gateway.
    fn calls_from_container(&self) -> bool {
        false
    }

    /// Whether all that it does is ours or the task's own: nobody then looks at what it leaves behind.
    fn is_trusted(&self) -> bool {
        false
    }

    /// How it takes the text of its task.
    fn prompt_intake(&self) -> PromptIntake {
        PromptIntake::Any
    }

    /// Why skills cannot be evaluated with it, in one sentence; `None` where they can.
    fn skill_obstacle(&self) -> Option<&'static str> {
        None
    }

    /// Works on the task until it is done or a limit is reached. What it started may still run when this returns.
    async fn run(&self, context: AgentContext<'_>) -> AgentRun;
}

/// What an agent gets to work with.
pub struct AgentContext<'a> {
    /// The container.
    pub sandbox: &'a dyn Sandbox,
    /// The task, as the agent is told it.
    pub instruction: &'a str,
    /// Working folder, absolute.
    pub workdir: &'a str,
    /// The user's home folder, absolute.
    pub home: &'a str,
    /// User in the container; `None` = the container's.
    pub user: Option<&'a str>,
    /// Set on top of the container's environment.
    pub env: &'a [(String, String)],
    /// The way to its model.
    pub gateway: Option<&'a TrialGateway>,
    /// The same way from inside the container, for an agent that calls from there.
    pub access: Option<ModelAccess<'a>>,
    /// The task's own solution.
    pub oracle: Option<OracleFiles<'a>>,
    /// Longest run.
    pub limit: Duration,
    /// Takes the raw output of commands.
    pub log: &'a mut dyn Sink,
    /// Takes each step once it is complete, clean and capped.
    pub steps: &'a mut (dyn FnMut(TraceStep) + Send),
    /// Cleans what goes into the trace.
    pub redactor: &'a Redactor,
    /// Asks what time it is.
    pub clock: &'a (dyn Fn() -> Timestamp + Send + Sync),
}

/// How the model is reached from inside a container.
#[derive(Clone, Copy)]
pub struct ModelAccess<'a> {
    /// Scheme, host and port, without a path.
    pub base_url: &'a str,
    /// The trial's own key; worth nothing elsewhere.
    pub token: &'a str,
}

impl<'a> From<Access<'a>> for ModelAccess<'a> {
    fn from(access: Access<'a>) -> Self {
        Self { base_url: access.base_url, token: access.token }
    }
}

/// The task's own solution.
#[derive(Clone, Copy)]
pub struct OracleFiles<'a> {
    /// Its folder in the task: `solution` or `oracle`.
    pub folder: &'a RelPath,
    /// What lies in it, `solve.sh` at the top.
    pub files: &'a LoadedTree,
    /// Set while it runs.
    pub env: &'a BTreeMap<String, String>,
}

/// What a run left behind.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentRun {
    /// How it ended.
    pub end: AgentEnd,
    /// What was done up to then.
    pub trace: Trace,
    /// Worth telling a person beside the end.
    pub note: Option<String>,
    /// Bytes; `None` = unknown.
    pub peak_memory: Option<u64>,
    /// Secrets that were taken out of the trace.
    pub secrets: u64,
    /// Skills in the agent's own record.
    pub skills: SkillsSeen,
    /// What a person should know of the run.
    pub findings: Vec<Finding>,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentEnd {
    /// The agent says that it is done, or has just stopped.
    Completed,
    /// It did not end within its limit.
    TimedOut {
        /// The limit.
        limit: Duration,
    },
    /// It was killed for memory.
    OutOfMemory {
        /// MiB.
        limit_mb: u64,
    },
    /// The model declined the task.
    Refused,
    /// A cap on tokens, calls or turns was reached.
    BudgetExceeded {
        /// Which one.
        cap: String,
    },
    /// It ended with an error of its own.
    Crashed {
        /// Its last words.
        message: String,
    },
    /// The model's provider failed: no score.
    ProviderTrouble {
        /// What happened and what to do.
        message: String,
    },
    /// The model's provider denied access to all of it: no score, and no other attempt would get one.
    ProviderDenied {
        /// What it said and what to do.
        message: String,
    },
    /// What the agent needs is missing or was denied to it, so that it would fail in silence: no score.
    NotReady {
        /// What, and where.
        message: String,
    },
    /// The container or its engine failed: no score.
    SandboxFailed(SandboxError),
}

impl AgentEnd {
    /// The end of an agent whose provider is in trouble that nothing has mended; `None` where it is in none.
    fn of_provider(gateway: &TrialGateway) -> Option<Self> {
        let message = gateway.trouble()?.to_string();
        Some(if gateway.is_denied() { Self::ProviderDenied { message } } else { Self::ProviderTrouble { message } })
    }

    /// The end of an agent that is one program: done only with exit code 0.
    fn of_program(end: &ExecEnd) -> Self {
        match end.exit {
            Exit::Exited(0) => Self::Completed,
            Exit::Exited(_) | Exit::Signalled(_) => Self::Crashed { message: end.exit.to_string() },
            Exit::TimedOut { limit } => Self::TimedOut { limit },
            Exit::OutOfMemory { limit_mb } => Self::OutOfMemory { limit_mb },
        }
    }
}

/// The agents that need no configuration.
pub const BUILTIN: [&str; 3] = [bash::NAME, oracle::NAME, nop::NAME];

/// One of [`BUILTIN`]; `None` for any other name.
#[must_use]
pub fn builtin(name: &str) -> Option<Arc<dyn Agent>> {
    match name {
        bash::NAME => Some(Arc::new(bash::BashAgent::default())),
        oracle::NAME => Some(Arc::new(oracle::OracleAgent)),
        nop::NAME => Some(Arc::new(nop::NopAgent)),
        _ => None,
    }
}

/// The folders of the Agent Skills convention that several agents share.
fn shared_skill_folders(home: &str, workdir: &str) -> Vec<String> {
    let below = |base: &str| format!("{}/.agents/skills", base.trim_end_matches('/'));
    let mut folders = vec![below(home), below(workdir)];
    folders.dedup();
    folders
}
