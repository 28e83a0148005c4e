//! Which tasks a run is about, from the command line: read, refused or left out with their findings, chosen by name.

use std::path::PathBuf;

use anyhow::anyhow;
use clap::Args;
use domain::finding::Finding;
use domain::id::TaskId;
use domain::listing::Refused;
use domain::task::DataVersion;
use ops::Ops;

use super::Failure;
use super::eval::{refuse, say, unusable};

/// Which of the tasks at the given places.
#[derive(Debug, Args)]
pub struct TaskChoice {
    /// Take only the tasks of these names; `batch1-*` takes all that begin so.
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    task_ids: Vec<String>,
    /// Read SkillsBench tasks in this layout, auto, 1.1 or 1.0; tasks that do not have it are refused.
    #[arg(long, default_value_t, value_name = "VERSION")]
    data_version: DataVersion,
    /// Approve that the verifiers of these tasks get this variable of this machine, as their `verifier.env` asks. It reaches the verifier
    /// alone, and is taken out of what is kept. May be given several times.
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    approve_verifier_env: Vec<String>,
}

impl TaskChoice {
    /// The chosen tasks below `folders`, stored; all of them become the task set of that name, where one is given.
    ///
    /// # Errors
    /// A task that cannot be used, a name that is none (exit 2), or storage trouble.
    pub(super) async fn tasks(
        &self,
        ops: &Ops,
        folders: &[PathBuf],
        set: Option<&str>,
    ) -> Result<Vec<TaskId>, Failure> {
        let intake = ops.add_task_folders(folders, self.data_version).await.map_err(unusable)?;
        if let Some(set) = set {
            let all: Vec<TaskId> = intake.accepted.iter().map(|task| task.id).collect();
            ops.ensure_task_set(set, &all).await.map_err(unusable)?;
        }
        let names = &self.task_ids;
        let wanted = |name: &str| names.is_empty() || names.iter().any(|wanted| is_meant(wanted, name));
        let refused: Vec<Refused> = intake
            .refused
            .into_iter()
            .filter(|refused| wanted(refused.path.rsplit(['/', '#']).next().unwrap_or_default()))
            .collect();
        // A case of an evals.json that only a model can judge is none of ours; the others are run without it.
        let judged = |task: &Refused| {
            task.findings.iter().all(|finding| !finding.is_error() || finding.code == "nothing_to_check")
        };
        let (left_out, refused): (Vec<Refused>, Vec<Refused>) = refused.into_iter().partition(judged);
        refuse(&refused)?;
        for task in &left_out {
            eprintln!("{} is left out:", task.path);
            say(&task.findings);
        }
        let chosen: Vec<_> = intake.accepted.iter().filter(|task| wanted(&task.name)).collect();
        if let Some(missing) = names.iter().find(|name| !chosen.iter().any(|task| is_meant(name, &task.name))) {
            let names: Vec<&str> = intake.accepted.iter().map(|task| task.name.as_str()).collect();
            return Err(Failure::unusable(anyhow!("there is no task '{missing}'; there are: {}", names.join(", "))));
        }
        for task in &chosen {
            let placed =
                |finding: &Finding| Finding { file: format!("{}/{}", task.name, finding.file), ..finding.clone() };
            say(&task.findings.iter().map(placed).collect::<Vec<_>>());
        }
        let chosen: Vec<TaskId> = chosen.into_iter().map(|task| task.id).collect();
        ops.approve_for(&chosen, &self.approve_verifier_env).await.map_err(unusable)?;
        Ok(chosen)
    }
}

/// A name, or the beginning of names before a `*`.
fn is_meant(wanted: &str, name: &str) -> bool {
    wanted.strip_suffix('*').map_or(wanted == name, |start| name.starts_with(start))
}
