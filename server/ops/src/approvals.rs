//! Approving that a task's verifier gets a variable of this machine, and what a plan gets of what was approved.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use domain::approval::{self, Approval, AskedVariable, HostLookup, Obstacle, Scope, Withheld};
use domain::finding::Finding;
use domain::id::TaskId;
use domain::plan::TaskRef;
use domain::report::number::counted;
use domain::task::Task;
use store::{AskingTask, TaskRow};

use crate::{Ops, OpsError, Result, Secrets};

/// Names that a message gives.
const NAMES: usize = 5;

/// Looks up variables of this machine. Its own debug form shows none.
#[derive(Clone)]
pub struct HostValues(HostLookup);

impl HostValues {
    /// With this way to look one up.
    #[must_use]
    pub fn new(look_up: HostLookup) -> Self {
        Self(look_up)
    }

    fn of(&self, name: &str) -> std::result::Result<String, Withheld> {
        (self.0)(name)
    }
}

impl Default for HostValues {
    fn default() -> Self {
        Self(Arc::new(|_| Err(Withheld::NotSet)))
    }
}

impl fmt::Debug for HostValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HostValues")
    }
}

impl Ops {
    /// Approves that the verifier of a task, or of those beside it, gets a variable of this machine. Answers for how many tasks.
    ///
    /// # Errors
    /// [`OpsError::NotFound`]; [`OpsError::Invalid`] where the task asks for no such variable, or this server takes no approvals; storage trouble.
    pub async fn approve_variable(&self, task: TaskId, name: &str, scope: Scope) -> Result<u64> {
        if self.config.takes_no_approvals {
            return Err(OpsError::invalid(
                "this server can be reached from other machines and asks nobody who they are, so nothing of its machine is given away here; \
                 serve on 127.0.0.1 to approve it, or set remote_approvals = true in skilldelta.toml if only people whom you trust can reach it",
            ));
        }
        let approvals = self.meant(task, name, scope).await?;
        self.store.approve(&approvals, self.now()).await?;
        Ok(approvals.len() as u64)
    }

    /// Takes approvals back. Evaluations that were started with them keep them; cancel those.
    ///
    /// # Errors
    /// As [`Ops::approve_variable`].
    pub async fn withdraw_variable(&self, task: TaskId, name: &str, scope: Scope) -> Result<u64> {
        let approvals = self.meant(task, name, scope).await?;
        self.store.withdraw(&approvals).await?;
        Ok(approvals.len() as u64)
    }

    /// Approves variables for those of these tasks that ask for them.
    ///
    /// # Errors
    /// [`OpsError::Invalid`] where none of them asks for one of the variables; storage trouble.
    pub async fn approve_for(&self, tasks: &[TaskId], names: &[String]) -> Result<()> {
        if names.is_empty() {
            return Ok(());
        }
        let (refs, loaded) = self.tasks_of(tasks).await?;
        for name in names {
            let asks = |task: &Task| approval::asked(task).iter().any(|(asked, _)| asked == name);
            let asking = refs.iter().zip(&loaded).filter(|(_, task)| asks(task));
            let approvals: Vec<_> = asking.map(|(task, _)| approval_of(task, name)).collect();
            if approvals.is_empty() {
                let message = format!("the verifier of no chosen task asks for {name}; leave the approval out");
                return Err(OpsError::invalid(message));
            }
            self.store.approve(&approvals, self.now()).await?;
        }
        Ok(())
    }

    /// The variables that a task's verifier asks for, and how they stand.
    pub(crate) async fn asked_variables(&self, row: &TaskRow) -> Result<Vec<AskedVariable>> {
        let asked = approval::asked(&row.task);
        if asked.is_empty() {
            return Ok(Vec::new());
        }
        let approved: HashMap<_, _> = self.store.approvals().await?.into_iter().collect();
        let beside = self.beside(&row.source).await?;
        let variable = |(name, has_default): (&str, bool)| AskedVariable {
            name: name.to_owned(),
            has_default,
            approved_at: approved.get(&Approval { task: row.hash, name: name.to_owned() }).copied(),
            withheld: self.config.host_values.of(name).err(),
            tasks_in_folder: beside.iter().filter(|task| task.names.iter().any(|asked| asked == name)).count() as u64,
            is_closed: self.config.takes_no_approvals,
        };
        Ok(asked.into_iter().map(variable).collect())
    }

    /// What a plan over these tasks gives to their verifiers, and what a person should know of it.
    ///
    /// # Errors
    /// [`OpsError::Invalid`] with a finding for each task and variable that stands in the way.
    pub(crate) async fn approved_for(&self, refs: &[TaskRef], tasks: &[Task]) -> Result<(Vec<Approval>, Vec<Finding>)> {
        let approved: HashSet<Approval> =
            self.store.approvals().await?.into_iter().map(|(approval, _)| approval).collect();
        let (mut given, mut obstacles) = (BTreeSet::new(), Vec::new());
        for (task, loaded) in refs.iter().zip(tasks) {
            for (name, has_default) in approval::asked(loaded) {
                let approval = approval_of(task, name);
                let value = || self.config.host_values.of(name).map(drop);
                match approval::decide(has_default, approved.contains(&approval), value) {
                    Ok(None) => {}
                    Ok(Some(())) => drop(given.insert(approval)),
                    Err(obstacle) => obstacles.push((task.name.as_str(), name, obstacle)),
                }
            }
        }
        if let Some(refused) = refused(&obstacles) {
            return Err(refused);
        }
        let findings = told(&given);
        Ok((given.into_iter().collect(), findings))
    }

    /// What must not appear in anything that is handed out: the configured values, and those of approved variables.
    pub(crate) async fn secrets(&self) -> Result<Secrets> {
        let approved = self.store.approvals().await?;
        let names: BTreeSet<String> = approved.into_iter().map(|(approval, _)| approval.name).collect();
        Ok(self.config.secrets.with(names.iter().filter_map(|name| self.config.host_values.of(name).ok())))
    }

    /// The approvals that are meant by a task, a name and a scope.
    async fn meant(&self, task: TaskId, name: &str, scope: Scope) -> Result<Vec<Approval>> {
        let row = self.store.task(task).await?;
        if !approval::asked(&row.task).iter().any(|(asked, _)| *asked == name) {
            let message = format!(
                "the verifier of task {} does not ask for {name}; look at the task's page again",
                row.task.name
            );
            return Err(OpsError::invalid(message));
        }
        let own = Approval { task: row.hash, name: name.to_owned() };
        let others = match scope {
            Scope::Task => Vec::new(),
            Scope::Folder => self.beside(&row.source).await?,
        };
        let others = others.into_iter().filter(|task| task.names.iter().any(|asked| asked == name));
        let approvals: BTreeSet<_> = others.map(|task| Approval { task: task.version, ..own.clone() }).collect();
        Ok(approvals.into_iter().filter(|other| *other != own).chain([own.clone()]).collect())
    }

    /// The tasks that ask for variables and were read from the folder that `source` lies in, each as it was read last.
    async fn beside(&self, source: &str) -> Result<Vec<AskingTask>> {
        let folder = Path::new(source).parent();
        let mut seen = HashSet::new();
        let mut tasks = self.store.asking_tasks().await?;
        tasks.retain(|task| Path::new(&task.source).parent() == folder && seen.insert(task.source.clone()));
        Ok(tasks)
    }
}

fn approval_of(task: &TaskRef, name: &str) -> Approval {
    Approval { task: task.version, name: name.to_owned() }
}

/// One finding for each variable and reason, with the tasks that it is about.
fn refused(obstacles: &[(&str, &str, Obstacle)]) -> Option<OpsError> {
    let mut by_reason: BTreeMap<(&str, String), Vec<&str>> = BTreeMap::new();
    for (task, name, obstacle) in obstacles {
        let reason = match obstacle {
            Obstacle::NotApproved => {
                format!(
                    "{name} of this machine, which nobody approved; approve it on the task's page, or with --approve-verifier-env {name}"
                )
            }
            Obstacle::Withheld(why) => format!("{name} of this machine: {}", why.in_words(name)),
        };
        by_reason.entry((name, reason)).or_default().push(task);
    }
    let finding = |((name, reason), tasks): ((&str, String), Vec<&str>)| {
        let (shown, rest) = tasks.split_at_checked(NAMES).unwrap_or((&tasks, &[]));
        let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
        let verifiers = if tasks.len() == 1 { "the verifier of task" } else { "the verifiers of tasks" };
        let ask = if tasks.len() == 1 { "asks" } else { "ask" };
        let message = format!("{verifiers} {}{more} {ask} for {reason}", shown.join(", "));
        Finding::error("variable_not_given", name, message)
    };
    let findings: Vec<Finding> = by_reason.into_iter().map(finding).collect();
    let message = findings.first()?.message.clone();
    Some(OpsError::Invalid { message, findings })
}

fn told(given: &BTreeSet<Approval>) -> Vec<Finding> {
    let mut tasks: BTreeMap<&str, u64> = BTreeMap::new();
    given.iter().for_each(|approval| *tasks.entry(&approval.name).or_default() += 1);
    let finding = |(name, tasks): (&str, u64)| {
        let message =
            format!("{name} of this machine is given to the verifiers of {}, as was approved", counted(tasks, "task"));
        Finding::note("variable_given", "verifier.env", message)
    };
    tasks.into_iter().map(finding).collect()
}
