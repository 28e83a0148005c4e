//! What the arms of `skilldelta eval` get, from the command line.

use std::path::PathBuf;

use anyhow::anyhow;
use clap::Args;
use domain::id::SkillVersionId;
use domain::listing::BaselineRequest;
use domain::repository::SkillSource;
use ops::{Ops, Upload};

use super::Failure;
use super::eval::{refuse, say, unusable};

/// Whose skills those from the command line are.
const OWNER: &str = "local";
/// Stands for each task's own skills.
const TASKS_OWN: &str = "task";

/// What is compared.
#[derive(Debug, Args)]
pub struct ArmArgs {
    /// A skill (folder, archive, SKILL.md, or https://HOST/REPOSITORY@COMMIT#FOLDER), or the word `task` for each task's own skills. May
    /// be given several times.
    #[arg(long, required_unless_present = "a_a", value_name = "PATH|URL|task")]
    skill: Vec<String>,
    /// Compare with this earlier version of the skill in place of no skill. May be given several times.
    #[arg(long, value_name = "PATH", conflicts_with_all = ["control", "a_a"])]
    baseline_skill: Vec<String>,
    /// Compare with this skill, which has nothing to do with the tasks, in place of no skill. May be given several times.
    #[arg(long, value_name = "PATH", conflicts_with = "a_a")]
    control: Vec<String>,
    /// A skill that lies in both arms. May be given several times.
    #[arg(long, value_name = "PATH")]
    distractor: Vec<String>,
    /// The same in both arms, to see what chance alone does: without --skill no skill twice, with it the skill twice.
    #[arg(long)]
    a_a: bool,
}

/// The same, stored.
pub(super) struct Chosen {
    pub(super) skills: Vec<SkillVersionId>,
    pub(super) baseline: BaselineRequest,
    pub(super) distractors: Vec<SkillVersionId>,
}

impl ArmArgs {
    /// Reads and stores the skills.
    pub(super) async fn choose(&self, ops: &Ops) -> Result<Chosen, Failure> {
        let baseline = if self.a_a {
            if self.skill.is_empty() { BaselineRequest::Nothing } else { BaselineRequest::Itself }
        } else if !self.baseline_skill.is_empty() {
            BaselineRequest::PreviousVersion { versions: all(ops, &self.baseline_skill).await? }
        } else if !self.control.is_empty() {
            BaselineRequest::Control { versions: all(ops, &self.control).await? }
        } else {
            BaselineRequest::NoSkill
        };
        Ok(Chosen { skills: self.treatment(ops).await?, baseline, distractors: all(ops, &self.distractor).await? })
    }

    async fn treatment(&self, ops: &Ops) -> Result<Vec<SkillVersionId>, Failure> {
        if !self.skill.iter().any(|skill| skill == TASKS_OWN) {
            return all(ops, &self.skill).await;
        }
        if self.skill.len() > 1 {
            return Err(Failure::unusable(anyhow!("--skill task stands alone: it means each task's own skills")));
        }
        Ok(Vec::new())
    }
}

async fn all(ops: &Ops, wanted: &[String]) -> Result<Vec<SkillVersionId>, Failure> {
    let mut versions = Vec::with_capacity(wanted.len());
    for wanted in wanted {
        versions.push(one(ops, wanted).await?);
    }
    Ok(versions)
}

async fn one(ops: &Ops, wanted: &str) -> Result<SkillVersionId, Failure> {
    let intake = ops.upload_skills(OWNER, upload(wanted)?).await.map_err(unusable)?;
    intake.accepted.iter().for_each(|skill| say(&skill.findings));
    say(&intake.findings);
    refuse(&intake.refused)?;
    match intake.accepted.as_slice() {
        [] => Err(Failure::unusable(anyhow!("there is no skill in {wanted}; a skill is a folder with a SKILL.md"))),
        [skill] => Ok(skill.version_id),
        several => {
            let names: Vec<&str> = several.iter().map(|skill| skill.path.as_str()).collect();
            let number = several.len();
            Err(Failure::unusable(anyhow!(
                "there are {number} skills in {wanted}; name one of them: {}",
                names.join(", ")
            )))
        }
    }
}

/// Skills in a repository.
pub(super) fn skill_source(wanted: &str) -> Result<SkillSource, Failure> {
    wanted.parse().map_err(|error| Failure::unusable(anyhow!("{wanted} cannot be fetched: {error}")))
}

/// A place on the disk, or in a repository.
fn upload(wanted: &str) -> Result<Upload, Failure> {
    if SkillSource::is_meant(wanted) {
        return skill_source(wanted).map(Upload::Repository);
    }
    let path = PathBuf::from(wanted);
    if !path.exists() {
        return Err(Failure::unusable(anyhow!("there is no skill at {wanted}; check the path")));
    }
    Ok(Upload::Path(path))
}
