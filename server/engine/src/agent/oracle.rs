//! `oracle` runs the task's own solution. A task that fails with it is broken.

use async_trait::async_trait;
use domain::plan::PromptIntake;

use super::command::captured;
use super::recorder::{Recorder, tool_result};
use super::{Agent, AgentContext, AgentEnd, AgentRun, OWN_VERSION, OracleFiles, shared_skill_folders};
use crate::sandbox::{ExecSpec, Exit, Upload};

/// As users choose it.
pub const NAME: &str = "oracle";
/// Both names that solutions use for their own folder.
const FOLDERS: [&str; 2] = ["/oracle", "/solution"];

/// Runs `solve.sh`.
#[derive(Debug, Clone, Copy, Default)]
pub struct OracleAgent;

#[async_trait]
impl Agent for OracleAgent {
    fn name(&self) -> &str {
        NAME
    }

    fn version(&self) -> String {
        OWN_VERSION.to_owned()
    }

    /// Also the place where v1.0 images kept their skills, since some v1.0 solutions import them from there.
    fn skill_folders(&self, home: &str, workdir: &str) -> Vec<String> {
        let old = format!("{}/.claude/skills", home.trim_end_matches('/'));
        std::iter::once(old).chain(shared_skill_folders(home, workdir)).collect()
    }

    fn needs_model(&self) -> bool {
        false
    }

    fn is_trusted(&self) -> bool {
        true
    }

    fn needs_oracle(&self) -> bool {
        true
    }

    fn prompt_intake(&self) -> PromptIntake {
        PromptIntake::Unread
    }

    async fn run(&self, context: AgentContext<'_>) -> AgentRun {
        let mut recorder = Recorder::new(context.redactor, context.steps, context.clock);
        recorder.user(context.instruction);
        let Some(oracle) = context.oracle else {
            return recorder.end(AgentEnd::Crashed { message: "the task has no solution of its own".to_owned() });
        };
        let script = script(&oracle);
        let upload = FOLDERS.iter().fold(Upload::new(), |upload, folder| upload.tree(folder, oracle.files));
        if let Err(error) = context.sandbox.upload(upload).await {
            return recorder.end(AgentEnd::SandboxFailed(error));
        }
        let mut spec = ExecSpec::new(["bash", script.as_str()], context.limit);
        spec.workdir = Some(context.workdir.to_owned());
        spec.user = context.user.map(str::to_owned);
        spec.env = context.env.to_vec();
        spec.kill_after = true;
        spec.env.extend(oracle.env.iter().map(|(name, value)| (name.clone(), value.clone())));
        let (end, text) = match captured(context.sandbox, &spec, context.log).await {
            Ok(ended) => ended,
            Err(error) => return recorder.end(AgentEnd::SandboxFailed(error)),
        };
        recorder.used(&end);
        recorder.command(NAME, &format!("bash {script}"), tool_result(&end, text));
        match end.exit {
            // The verifier decides, as everywhere: a script may end so although its work is done.
            Exit::Exited(code) if code != 0 => {
                recorder.note(&format!("solve.sh: exit {code}"));
                recorder.end(AgentEnd::Completed)
            }
            _ => recorder.end(AgentEnd::of_program(&end)),
        }
    }
}

/// The script under the name that its task uses.
fn script(oracle: &OracleFiles<'_>) -> String {
    let folder = if oracle.folder.file_name() == "oracle" { "/oracle" } else { "/solution" };
    format!("{folder}/solve.sh")
}
