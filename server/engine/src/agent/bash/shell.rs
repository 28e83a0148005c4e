//! The one tool: a command in the container, with a time limit of its own and an output that a model can bear.

use std::time::Duration;

use domain::trace::ToolResult;
use tokio::time::Instant;

use crate::agent::command::Tee;
use crate::agent::recorder::tool_result;
use crate::sandbox::{ExecEnd, ExecSpec, Exit, Sandbox, SandboxError, Sink, StdStream};

/// Bytes of output that the model sees of each end.
const SHOWN: usize = 8 * 1024;
/// How much later than the command's own limit everything in the container is killed, in case the image has no `timeout`.
const GRACE: Duration = Duration::from_secs(15);

/// Runs `$2` in bash where there is one, and ends it after `$1` seconds. Not as a login shell: `/etc/profile` would undo the image's PATH.
const SCRIPT: &str = r#"
limit=$1 line=$2 shell=/bin/sh
command -v bash >/dev/null 2>&1 && shell=bash
if command -v timeout >/dev/null 2>&1; then exec timeout -k 5 "$limit" "$shell" -c "$line"; fi
exec "$shell" -c "$line"
"#;

/// Where commands run.
pub(super) struct Shell<'a> {
    pub(super) sandbox: &'a dyn Sandbox,
    pub(super) workdir: &'a str,
    pub(super) user: Option<&'a str>,
    pub(super) env: &'a [(String, String)],
    pub(super) log: &'a mut dyn Sink,
    pub(super) command_limit: Duration,
}

/// How a command ended.
pub(super) struct Ran {
    pub(super) result: ToolResult,
    pub(super) end: ExecEnd,
    /// The run's own time is over.
    pub(super) at_deadline: bool,
}

impl Shell<'_> {
    /// Runs one command, until `deadline` at the latest.
    pub(super) async fn run(&mut self, command: &str, deadline: Instant) -> Result<Ran, SandboxError> {
        let left = deadline.saturating_duration_since(Instant::now());
        let backstop = self.command_limit.saturating_add(GRACE).min(left);
        let seconds = self.command_limit.as_secs().max(1).to_string();
        let mut spec = ExecSpec::new(["/bin/sh", "-c", SCRIPT, "sh", seconds.as_str(), command], backstop);
        spec.workdir = Some(self.workdir.to_owned());
        spec.user = self.user.map(str::to_owned);
        spec.env = self.env.to_vec();
        self.log.write(StdStream::Out, format!("$ {command}\n").as_bytes());
        let mut tee = Tee::new(self.log, SHOWN, SHOWN);
        let end = self.sandbox.exec(&spec, &mut tee).await?;
        let at_deadline = matches!(end.exit, Exit::TimedOut { .. }) && backstop == left;
        let text = shown(&tee.text(), self.ending(&end));
        Ok(Ran { result: tool_result(&end, text), end, at_deadline })
    }

    /// What the model is told of the end, beside the output; `None` for success.
    fn ending(&self, end: &ExecEnd) -> Option<String> {
        let limit = self.command_limit;
        let late = end.duration >= limit;
        match end.exit {
            Exit::Exited(0) => None,
            Exit::Exited(124) | Exit::Exited(137) | Exit::Signalled(9) if late => {
                Some(format!("timed out after {} s; start what runs longer in the background", limit.as_secs()))
            }
            Exit::TimedOut { .. } => {
                Some(format!("timed out after {} s; every process was killed", end.duration.as_secs()))
            }
            other @ (Exit::Exited(_) | Exit::Signalled(_) | Exit::OutOfMemory { .. }) => Some(other.to_string()),
        }
    }
}

fn shown(output: &str, ending: Option<String>) -> String {
    let output = output.trim_end();
    match (output.is_empty(), ending) {
        (true, None) => "(no output)".to_owned(),
        (true, Some(ending)) => format!("[{ending}]"),
        (false, None) => output.to_owned(),
        (false, Some(ending)) => format!("{output}\n[{ending}]"),
    }
}
