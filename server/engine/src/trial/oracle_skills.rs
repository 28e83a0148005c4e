//! Solutions of v1.0 tasks may import the task's skills from wherever its Dockerfile copied them. Such a solution gets them there, under their
//! own folder names, in an arm that has them on trial. No other agent does: it finds the treatment in its own folder.

use domain::order::TrialOrder;

use super::fault::Fault;
use crate::agent::Agent;
use crate::blobs::{Blobs, load_tree};
use crate::image::SKILLS_FOLDER;
use crate::sandbox::{Sandbox, Upload};

/// Fills the places with the task's bundled skills, where that is called for. Comes after the audit.
pub(super) async fn place(
    blobs: &dyn Blobs,
    order: &TrialOrder,
    agent: &dyn Agent,
    sandbox: &dyn Sandbox,
    places: &[String],
) -> Result<(), Fault> {
    let wants = agent.needs_oracle()
        && order.task.oracle.as_ref().is_some_and(|oracle| oracle.needs_skills)
        && !order.on_trial().is_empty()
        && order.on_trial() == order.task.bundled_skills;
    if !wants || places.is_empty() {
        return Ok(());
    }
    let domain::task::ImageSource::Build { context } = &order.task.environment.image else { return Ok(()) };
    let tree = order.task.tree.below(&format!("{context}/{SKILLS_FOLDER}"));
    let files = load_tree(blobs, &tree).await.map_err(|source| Fault::Blobs { what: "a bundled skill", source })?;
    let upload = places.iter().fold(Upload::new(), |upload, place| upload.tree(place, &files));
    Ok(sandbox.upload(upload).await?)
}
