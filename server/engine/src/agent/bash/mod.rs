//! `bash`: our own small agent. A loop in the engine offers a model one tool, a command in the container; nothing has to be installed there.
//! It ends when the model answers without a tool call, or at a limit.

mod discover;
mod model;
mod prompt;
mod session;
mod shell;

use std::time::Duration;

use async_trait::async_trait;
use tokio::time::Instant;

use super::recorder::Recorder;
use super::{Agent, AgentContext, AgentEnd, AgentRun, OWN_VERSION, shared_skill_folders};

/// As users choose it.
pub const NAME: &str = "bash";

/// Limits of a run beside those of the task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BashConfig {
    /// Answers of the model.
    pub max_turns: u32,
    /// Longest run of one command.
    pub command_limit: Duration,
    /// Longest answer of the model, in tokens.
    pub max_tokens: u32,
}

impl Default for BashConfig {
    fn default() -> Self {
        Self { max_turns: 100, command_limit: Duration::from_secs(300), max_tokens: 8192 }
    }
}

/// The agent.
#[derive(Debug, Clone, Copy, Default)]
pub struct BashAgent {
    config: BashConfig,
}

impl BashAgent {
    /// An agent with these limits.
    #[must_use]
    pub const fn new(config: BashConfig) -> Self {
        Self { config }
    }
}

#[async_trait]
impl Agent for BashAgent {
    fn name(&self) -> &str {
        NAME
    }

    fn version(&self) -> String {
        OWN_VERSION.to_owned()
    }

    fn skill_folders(&self, home: &str, workdir: &str) -> Vec<String> {
        shared_skill_folders(home, workdir)
    }

    fn needs_model(&self) -> bool {
        true
    }

    async fn run(&self, context: AgentContext<'_>) -> AgentRun {
        let deadline = Instant::now() + context.limit;
        let folders = self.skill_folders(context.home, context.workdir);
        let mut recorder = Recorder::new(context.redactor, context.steps, context.clock);
        let Some(gateway) = context.gateway else {
            return recorder.end(AgentEnd::Crashed { message: "it was started without a model".to_owned() });
        };
        let mut shell = shell::Shell {
            sandbox: context.sandbox,
            workdir: context.workdir,
            user: context.user,
            env: context.env,
            log: context.log,
            command_limit: self.config.command_limit,
        };
        let end = match discover::skills(&mut shell, &folders).await {
            Ok(skills) => {
                let system = prompt::system(context.workdir, &skills);
                let session =
                    session::Session::new(self.config, gateway, shell, &mut recorder, (context.limit, deadline));
                session.run(system, context.instruction).await
            }
            Err(error) => AgentEnd::SandboxFailed(error),
        };
        recorder.end(end)
    }
}
