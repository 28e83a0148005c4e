//! `nop` does nothing. A task that passes with it measures nothing.

use async_trait::async_trait;
use domain::plan::PromptIntake;

use super::recorder::Recorder;
use super::{Agent, AgentContext, AgentEnd, AgentRun, OWN_VERSION, shared_skill_folders};

/// As users choose it.
pub const NAME: &str = "nop";

/// Does nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NopAgent;

#[async_trait]
impl Agent for NopAgent {
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
        false
    }

    fn is_trusted(&self) -> bool {
        true
    }

    fn prompt_intake(&self) -> PromptIntake {
        PromptIntake::Unread
    }

    async fn run(&self, context: AgentContext<'_>) -> AgentRun {
        let mut recorder = Recorder::new(context.redactor, context.steps, context.clock);
        recorder.user(context.instruction);
        recorder.end(AgentEnd::Completed)
    }
}
