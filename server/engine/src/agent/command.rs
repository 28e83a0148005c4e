//! `command` runs anyone's own command line as the agent. What it does inside, and what it spends, is not seen.

use async_trait::async_trait;
use domain::hash::ContentHash;
use domain::usage::TokenUsage;

use super::recorder::{Recorder, tool_result};
use super::{Agent, AgentContext, AgentEnd, AgentRun, shared_skill_folders};
use crate::sandbox::{CappedLog, ExecEnd, ExecSpec, Sandbox, SandboxError, Sink, StdStream, Upload, plain_text};

/// As users choose it.
pub const NAME: &str = "command";
/// Where the command finds the task.
pub const INSTRUCTION_FILE: &str = "/tmp/skilldelta/instruction.md";
/// Longest instruction that is also given as a variable: the kernel takes no longer ones (128 KiB each).
const LONGEST_VARIABLE: usize = 100_000;
/// Bytes kept of each end of the output for the trace; the log keeps more.
const KEPT: usize = 32 * 1024;

/// Runs a shell command in the working folder, with the task in `$INSTRUCTION` and in the file `$INSTRUCTION_FILE`.
#[derive(Debug, Clone)]
pub struct CommandAgent {
    command: String,
}

impl CommandAgent {
    /// An agent that runs `command` with `sh -c`.
    #[must_use]
    pub fn new(command: &str) -> Self {
        Self { command: command.to_owned() }
    }
}

#[async_trait]
impl Agent for CommandAgent {
    fn name(&self) -> &str {
        NAME
    }

    /// Names the command line, since nothing else about it is known.
    fn version(&self) -> String {
        ContentHash::of(self.command.as_bytes()).short()
    }

    fn skill_folders(&self, home: &str, workdir: &str) -> Vec<String> {
        shared_skill_folders(home, workdir)
    }

    fn needs_model(&self) -> bool {
        false
    }

    fn uncounted_usage(&self) -> TokenUsage {
        TokenUsage::UNKNOWN
    }

    async fn run(&self, context: AgentContext<'_>) -> AgentRun {
        let mut recorder = Recorder::new(context.redactor, context.steps, context.clock);
        recorder.user(context.instruction);
        let upload = Upload::new().file(INSTRUCTION_FILE, context.instruction.as_bytes(), false);
        if let Err(error) = context.sandbox.upload(upload).await {
            return recorder.end(AgentEnd::SandboxFailed(error));
        }
        let mut spec = ExecSpec::shell(&self.command, context.limit);
        spec.workdir = Some(context.workdir.to_owned());
        spec.user = context.user.map(str::to_owned);
        spec.env = context.env.to_vec();
        spec.kill_after = true;
        spec.env.push(("INSTRUCTION_FILE".to_owned(), INSTRUCTION_FILE.to_owned()));
        if context.instruction.len() <= LONGEST_VARIABLE && !context.instruction.contains('\0') {
            spec.env.push(("INSTRUCTION".to_owned(), context.instruction.to_owned()));
        }
        match captured(context.sandbox, &spec, context.log).await {
            Ok((end, text)) => {
                recorder.used(&end);
                recorder.command("sh", &self.command, tool_result(&end, text));
                recorder.end(AgentEnd::of_program(&end))
            }
            Err(error) => recorder.end(AgentEnd::SandboxFailed(error)),
        }
    }
}

/// Runs a command whose output goes to the log and, with its middle left out, to the trace.
pub(super) async fn captured(
    sandbox: &dyn Sandbox,
    spec: &ExecSpec,
    log: &mut dyn Sink,
) -> Result<(ExecEnd, String), SandboxError> {
    let mut tee = Tee::new(log, KEPT, KEPT);
    let end = sandbox.exec(spec, &mut tee).await?;
    Ok((end, tee.text()))
}

/// Passes output on and keeps its ends.
pub(super) struct Tee<'a> {
    log: &'a mut dyn Sink,
    kept: CappedLog,
}

impl<'a> Tee<'a> {
    pub(super) fn new(log: &'a mut dyn Sink, head: usize, tail: usize) -> Self {
        Self { log, kept: CappedLog::new(head, tail) }
    }

    /// Both outputs as they came, as a terminal would show them.
    pub(super) fn text(self) -> String {
        plain_text(&String::from_utf8_lossy(&self.kept.finish().bytes))
    }
}

#[async_trait]
impl Sink for Tee<'_> {
    fn write(&mut self, stream: StdStream, bytes: &[u8]) {
        self.log.write(stream, bytes);
        self.kept.push(bytes);
    }

    fn finish(&mut self) {
        self.log.finish();
    }

    async fn ready(&mut self) {
        self.log.ready().await;
    }
}
