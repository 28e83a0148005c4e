//! The verifier's phase: its files arrive now and not before, the reward folder is fresh, `bash test.sh` runs in the working folder, and
//! what it left is judged (design §5.4).

use std::time::Duration;

use domain::attempt::BlobRef;
use domain::finding::Finding;
use domain::task::Task;
use domain::tree::LoadedTree;
use domain::trial::Phase;
use formats::verdict::pass_rate::CHECKS;
use formats::verdict::{Judgement, VerifierEnding, VerifierRun, judge};

use super::fault::Fault;
use super::live::PhaseLog;
use super::reporter::Reporter;
use crate::blobs::Blobs;
use crate::sandbox::{Caps, Download, ExecEnd, ExecSpec, Exit, Redactor, Sandbox, Upload};

/// Where the verifier's files wait until the script below has cleared the way. An agent's own `/tests` never mixes with them.
const STAGE: &str = "/.skilldelta/verifier";
/// Clears what the agent may have left in the verifier's places, puts the files there under both names that scripts use, and hands over
/// to the test script. The working folder is made anew where the agent removed it, or left
/// a file or a broken link in its place: that is a wrong result, no broken verifier.
const SCRIPT: &str = "set -e
folder() {
  case $1 in '' | / | .) return ;; esac
  folder \"$(dirname \"$1\")\"
  [ -d \"$1\" ] || { rm -f \"$1\"; mkdir \"$1\"; }
}
[ ! -L /logs ] || rm -f /logs
folder /logs
rm -rf /tests /verifier /logs/verifier
folder /logs/verifier
folder /logs/agent
folder /logs/artifacts
cp -a /.skilldelta/verifier /tests
mv /.skilldelta/verifier /verifier
folder \"${2%/}\"
cd \"$2\"
exec bash \"$1/test.sh\"";

/// The same where the image holds the verifier's files, as `tests/Dockerfile` puts them there.
const SCRIPT_IN_IMAGE: &str = "set -e
rm -rf /logs/verifier
mkdir -p /logs/verifier /logs/agent /logs/artifacts
mkdir -p \"$2\"
cd \"$2\"
exec bash \"$1/test.sh\"";

/// What the phase left behind.
pub(super) struct Verified {
    pub(super) judgement: Judgement,
    pub(super) log: Option<BlobRef>,
    pub(super) findings: Vec<Finding>,
}

/// Everything the phase needs.
pub(super) struct Verification<'a> {
    pub(super) task: &'a Task,
    pub(super) sandbox: &'a dyn Sandbox,
    pub(super) blobs: &'a dyn Blobs,
    pub(super) reporter: &'a Reporter,
    pub(super) redactor: &'a Redactor,
    /// Longest run.
    pub(super) limit: Duration,
    pub(super) workdir: &'a str,
    /// Whether the image holds the verifier's files.
    pub(super) has_tests: bool,
    /// Approved values of this machine, by name.
    pub(super) host_env: &'a [(String, String)],
}

impl Verification<'_> {
    /// Runs the verifier and judges.
    pub(super) async fn run(self, files: &LoadedTree) -> Result<Verified, Fault> {
        if !self.has_tests {
            self.sandbox.upload(Upload::new().folder("/.skilldelta", 0o700).tree(STAGE, files)).await?;
        }
        let mut log = PhaseLog::new(Phase::Verifying, self.reporter.clone(), self.redactor);
        let end = self.sandbox.exec(&self.command(), &mut log).await?;
        let left = self.sandbox.download("/logs/verifier", Caps::default()).await?.unwrap_or_default();
        let log = log.end();
        let mut findings = Vec::new();
        if log.secrets > 0 {
            findings.push(super::live::secret_printed("the verifier", log.secrets));
        }
        let run = self.evidence(&end, &left, log.text());
        let judgement = judge(&run);
        let log = log.store(self.blobs).await.map_err(|source| Fault::Blobs { what: "the verifier's log", source })?;
        Ok(Verified { judgement, log, findings })
    }

    fn command(&self) -> ExecSpec {
        let folder = format!("/{}", self.task.verifier.folder.file_name());
        let script = if self.has_tests { SCRIPT_IN_IMAGE } else { SCRIPT };
        let mut command = ExecSpec::new(["/bin/sh", "-c", script, "verifier", &folder, self.workdir], self.limit);
        command.workdir = Some("/".to_owned());
        command.user = Some(self.task.verifier.user.clone().unwrap_or_else(|| "0".to_owned()));
        let mut env = self.task.verifier.env.clone();
        env.extend(self.host_env.iter().cloned());
        command.env = env.into_iter().collect();
        command
    }

    /// A memory kill counts even where the script swallowed it and exited well: what it wrote then is no judgement.
    fn evidence(&self, end: &ExecEnd, left: &Download, output: String) -> VerifierRun {
        let ending = match end.exit {
            Exit::Exited(_) | Exit::Signalled(_) if end.oom_kills.is_some_and(|kills| kills > 0) => {
                VerifierEnding::OutOfMemory { limit_mb: self.task.environment.memory_mb }
            }
            Exit::Exited(code) => VerifierEnding::Exited { code: i64::from(code) },
            Exit::Signalled(signal) => VerifierEnding::Exited { code: 128 + i64::from(signal) },
            Exit::TimedOut { limit } => VerifierEnding::TimedOut { limit },
            Exit::OutOfMemory { limit_mb } => VerifierEnding::OutOfMemory { limit_mb },
        };
        // Before anything is cut out of them, so that no piece of a secret is left at an edge.
        let clean = |bytes: &[u8]| self.redactor.clean_bytes(bytes);
        let file = |path: &str| left.files.get(path).map(|file| clean(&file.bytes));
        let is_ctrf = |name: &str| name.starts_with("ctrf") && name.ends_with(".json");
        VerifierRun {
            ending,
            reward_txt: file("reward.txt"),
            reward_json: file("reward.json"),
            ctrf: left
                .files
                .iter()
                .filter(|(path, _)| is_ctrf(path.file_name()))
                .map(|(path, file)| (path.to_string(), clean(&file.bytes)))
                .collect(),
            junit: left
                .files
                .iter()
                .filter(|(path, _)| path.as_str().ends_with(".xml"))
                .map(|(path, file)| (path.to_string(), clean(&file.bytes)))
                .collect(),
            checks: file(CHECKS),
            output,
            pass_mark: self.task.verifier.pass_mark,
            scoring: self.task.verifier.scoring,
        }
    }
}
