//! Task sets: named lists of tasks under which results are put together. A set stays as it was made, so that what stands under one name was
//! made on the same tasks.

use std::collections::BTreeSet;

use domain::id::TaskId;
use domain::plan::TaskRef;

use crate::{Ops, OpsError, Result};

/// Longest name, in characters.
const MOST_NAME: usize = 100;

impl Ops {
    /// Makes a task set of these tasks, unless there is one of that name already.
    ///
    /// # Errors
    /// [`OpsError::Invalid`] where the name is no name; or storage trouble.
    pub async fn ensure_task_set(&self, name: &str, tasks: &[TaskId]) -> Result<()> {
        let name = name.trim();
        if name.is_empty() || name.chars().count() > MOST_NAME || name.chars().any(char::is_control) {
            return Err(OpsError::invalid(format!("a task set's name is one line of 1 to {MOST_NAME} characters")));
        }
        if self.members(name).await?.is_none() {
            self.store.put_task_set(name, tasks, self.now()).await?;
        }
        Ok(())
    }

    /// The name under which a plan's result is put: the one asked for, or that of the set which holds exactly these tasks.
    pub(crate) async fn task_set_of(&self, asked: Option<&str>, tasks: &[TaskRef]) -> Result<Option<String>> {
        let chosen: BTreeSet<TaskId> = tasks.iter().map(|task| task.id).collect();
        let Some(name) = asked.map(str::trim) else {
            for set in self.store.task_sets().await? {
                if set.tasks as usize == chosen.len() && self.members(&set.name).await?.as_ref() == Some(&chosen) {
                    return Ok(Some(set.name));
                }
            }
            return Ok(None);
        };
        let Some(members) = self.members(name).await? else {
            return Err(OpsError::NotFound { what: "task set", id: name.to_owned() });
        };
        match tasks.iter().find(|task| !members.contains(&task.id)) {
            None => Ok(Some(name.to_owned())),
            Some(task) => Err(OpsError::invalid(format!(
                "the task {} ({}) is not in the task set {name}, or was there in another version; a set stays as it was made, so choose another name",
                task.name,
                task.version.short()
            ))),
        }
    }

    async fn members(&self, name: &str) -> Result<Option<BTreeSet<TaskId>>> {
        let sets = self.store.task_sets().await?;
        let Some(set) = sets.into_iter().find(|set| set.name == name) else { return Ok(None) };
        let members = self.store.task_set_members(set.id).await?;
        Ok(Some(members.into_iter().map(|task| task.id).collect()))
    }
}
