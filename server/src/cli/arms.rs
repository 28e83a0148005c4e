//! What the arms of `skilldelta eval` get, from the command line.

use std::path::PathBuf;

use anyhow::anyhow;
use clap::Args;
use domain::id::SkillVersionId;
use domain::listing::BaselineRequest;
use domain::repository::SkillSource;
use ops::{Ops, Upload, Wanted};

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
            BaselineRequest::PreviousVersion { versions: all(ops, &self.baseline_skill, Wanted::ToCompare).await? }
        } else if !self.control.is_empty() {
            BaselineRequest::Control { versions: all(ops, &self.control, Wanted::ToCompare).await? }
        } else {
            BaselineRequest::NoSkill
        };
        let distractors = all(ops, &self.distractor, Wanted::ToCompare).await?;
        Ok(Chosen { skills: self.treatment(ops).await?, baseline, distractors })
    }

    async fn treatment(&self, ops: &Ops) -> Result<Vec<SkillVersionId>, Failure> {
        if !self.skill.iter().any(|skill| skill == TASKS_OWN) {
            return all(ops, &self.skill, Wanted::Itself).await;
        }
        if self.skill.len() > 1 {
            return Err(Failure::unusable(anyhow!("--skill task stands alone: it means each task's own skills")));
        }
        Ok(Vec::new())
    }
}

async fn all(ops: &Ops, places: &[String], wanted: Wanted) -> Result<Vec<SkillVersionId>, Failure> {
    let mut versions = Vec::with_capacity(places.len());
    for place in places {
        versions.push(one(ops, place, wanted).await?);
    }
    Ok(versions)
}

async fn one(ops: &Ops, place: &str, wanted: Wanted) -> Result<SkillVersionId, Failure> {
    let intake = ops.take_skills(OWNER, upload(place)?, wanted).await.map_err(unusable)?;
    intake.accepted.iter().for_each(|skill| say(&skill.findings));
    say(&intake.findings);
    refuse(&intake.refused)?;
    match intake.accepted.as_slice() {
        [] => Err(Failure::unusable(anyhow!("there is no skill in {place}; a skill is a folder with a SKILL.md"))),
        [skill] => Ok(skill.version_id),
        several => {
            let names: Vec<&str> = several.iter().map(|skill| skill.path.as_str()).collect();
            let number = several.len();
            Err(Failure::unusable(anyhow!(
                "there are {number} skills in {place}; name one of them: {}",
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
