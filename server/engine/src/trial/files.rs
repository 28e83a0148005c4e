//! The task's files that the later phases need, fetched while the container is made.

use domain::task::Task;
use domain::tree::LoadedTree;

use super::fault::Fault;
use crate::blobs::{Blobs, load_tree};
use crate::image::ReadyImage;

/// The verifier's, and those of the task's own solution for the agent that runs it.
pub(super) struct PhaseFiles {
    pub(super) verifier: LoadedTree,
    pub(super) oracle: Option<LoadedTree>,
    /// What the verifier's own container is made of, where it has one.
    pub(super) own_image: Option<ReadyImage>,
}

impl PhaseFiles {
    pub(super) async fn load(task: &Task, needs_oracle: bool, blobs: &dyn Blobs) -> Result<Self, Fault> {
        let below = async |folder: &str, what: &'static str| {
            load_tree(blobs, &task.tree.below(folder)).await.map_err(|source| Fault::Blobs { what, source })
        };
        let verifier = below(task.verifier.folder.as_str(), "a verifier file").await?;
        let oracle = match (&task.oracle, needs_oracle) {
            (_, false) => None,
            (None, true) => return Err(Fault::Order(format!("task {} has no solution of its own", task.name))),
            (Some(oracle), true) => Some(below(oracle.folder.as_str(), "a file of the task's solution").await?),
        };
        Ok(Self { verifier, oracle, own_image: None })
    }
}
