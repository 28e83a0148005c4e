//! What a plan puts into its arms: treatment, baseline, distractors; which of them go together.

use std::collections::BTreeSet;

use domain::comparison::{Baseline, Comparison};
use domain::finding::Finding;
use domain::id::SkillVersionId;
use domain::listing::{BaselineRequest, PlanRequest};
use domain::plan::{SkillRef, Treatment};
use domain::skill::SkillPackage;
use domain::task::Task;

use crate::{Ops, OpsError, Result};

/// A control whose `SKILL.md` is this many times longer or shorter says less about the content.
const LIKE_LENGTH: f64 = 2.0;

/// The arms of a plan, found and checked.
pub(crate) struct Arms {
    pub(crate) treatment: Treatment,
    pub(crate) comparison: Comparison,
    /// All skills that are on trial.
    pub(crate) skills: Vec<SkillPackage>,
    pub(crate) findings: Vec<Finding>,
}

/// Skill versions as a plan names them, and what is in them.
#[derive(Default)]
struct Chosen {
    refs: Vec<SkillRef>,
    packages: Vec<SkillPackage>,
}

impl Ops {
    /// Finds what a request wants in its arms.
    pub(crate) async fn arms(&self, request: &PlanRequest, tasks: &[Task]) -> Result<Arms> {
        let treatment = self.treatment(request, tasks).await?;
        let distractors = self.chosen(&request.distractors).await?;
        let mut findings = Vec::new();
        let (treatment, with, baseline, without) = match &request.baseline {
            BaselineRequest::NoSkill => (treatment.0, treatment.1, Baseline::NoSkill, Vec::new()),
            BaselineRequest::Itself => {
                let without = treatment.1.clone();
                (treatment.0, treatment.1, Baseline::Same, without)
            }
            BaselineRequest::Nothing => (Treatment::Nothing, Vec::new(), Baseline::Same, Vec::new()),
            BaselineRequest::PreviousVersion { versions } => {
                let old = self.baseline(versions).await?;
                previous(&treatment.0, &old.refs)?;
                (treatment.0, treatment.1, Baseline::PreviousVersion { versions: old.refs }, old.packages)
            }
            BaselineRequest::Control { versions } => {
                let control = self.baseline(versions).await?;
                unrelated(&treatment.1, &control.packages)?;
                findings.extend(unlike_in_length(&treatment.1, &control.packages));
                (treatment.0, treatment.1, Baseline::Control { versions: control.refs }, control.packages)
            }
        };
        // Bundled skills lie in their own tasks only, so folders are compared task by task.
        let by_task: Vec<&[SkillPackage]> = match &treatment {
            Treatment::TasksOwn => tasks.iter().map(|task| task.bundled_skills.as_slice()).collect(),
            Treatment::Skills { .. } | Treatment::Nothing => vec![with.as_slice()],
        };
        for arm in by_task.into_iter().chain([without.as_slice()].into_iter().filter(|_| baseline != Baseline::Same)) {
            one_folder_each(arm.iter().chain(&distractors.packages))?;
        }
        let comparison = Comparison { baseline, distractors: distractors.refs };
        if let Some(fault) = comparison.fault(&treatment) {
            return Err(OpsError::field("baseline", fault));
        }
        let skills = with.into_iter().chain(without).collect();
        Ok(Arms { treatment, comparison, skills, findings })
    }

    async fn treatment(&self, request: &PlanRequest, tasks: &[Task]) -> Result<(Treatment, Vec<SkillPackage>)> {
        if request.baseline == BaselineRequest::Nothing {
            return Ok((Treatment::Nothing, Vec::new()));
        }
        if !request.skills.is_empty() {
            let chosen = self.chosen(&request.skills).await?;
            return Ok((Treatment::Skills { versions: chosen.refs }, chosen.packages));
        }
        let bare: Vec<&str> =
            tasks.iter().filter(|task| task.bundled_skills.is_empty()).map(|task| task.name.as_str()).collect();
        if !bare.is_empty() {
            return Err(OpsError::field(
                "skill",
                format!(
                    "these tasks bring no skill of their own: {}; leave them out or choose a skill",
                    bare.join(", ")
                ),
            ));
        }
        Ok((Treatment::TasksOwn, tasks.iter().flat_map(|task| task.bundled_skills.clone()).collect()))
    }

    async fn baseline(&self, versions: &[SkillVersionId]) -> Result<Chosen> {
        if versions.is_empty() {
            return Err(OpsError::field(
                "baseline_skill",
                "choose the skill of the baseline arm, or compare with no skill",
            ));
        }
        self.chosen(versions).await
    }

    async fn chosen(&self, versions: &[SkillVersionId]) -> Result<Chosen> {
        let mut chosen = Chosen::default();
        let mut seen = BTreeSet::new();
        for id in versions.iter().filter(|id| seen.insert(id.0)) {
            let row = self.store.skill_version(*id).await?;
            chosen.refs.push(SkillRef { id: *id, name: row.package.manifest.name.clone(), version: row.hash });
            chosen.packages.push(row.package);
        }
        Ok(chosen)
    }
}

/// Old versions must be of skills of the treatment, and not the very same bytes.
fn previous(treatment: &Treatment, old: &[SkillRef]) -> Result<()> {
    let Treatment::Skills { versions: new } = treatment else { return Ok(()) };
    let names = |skills: &[SkillRef]| skills.iter().map(|skill| skill.name.clone()).collect::<BTreeSet<_>>();
    let versions = |skills: &[SkillRef]| skills.iter().map(|skill| skill.version).collect::<BTreeSet<_>>();
    if let Some(stranger) = names(old).difference(&names(new)).next() {
        return Err(OpsError::field(
            "baseline_skill",
            format!(
                "{stranger} is no earlier version of a skill of the with-skill arm; compare with it as a control, or choose a version of the same skill"
            ),
        ));
    }
    if versions(old) == versions(new) {
        return Err(OpsError::field(
            "baseline_skill",
            "both arms have the same versions; choose an A/A evaluation if that is meant",
        ));
    }
    Ok(())
}

fn unrelated(treatment: &[SkillPackage], control: &[SkillPackage]) -> Result<()> {
    let is_treated = |skill: &&SkillPackage| treatment.iter().any(|treated| treated.version() == skill.version());
    match control.iter().find(is_treated) {
        Some(skill) => Err(OpsError::field(
            "baseline_skill",
            format!(
                "{} cannot be its own control; choose a skill that has nothing to do with the tasks",
                skill.manifest.name
            ),
        )),
        None => Ok(()),
    }
}

/// A control that is much longer or shorter tells less: the length alone may matter.
fn unlike_in_length(treatment: &[SkillPackage], control: &[SkillPackage]) -> Option<Finding> {
    let bytes = |skills: &[SkillPackage]| {
        skills.iter().filter_map(|skill| skill.tree.get("SKILL.md")).map(|entry| entry.size).sum::<u64>()
    };
    let (with, without) = (bytes(treatment), bytes(control));
    if with == 0 || without == 0 {
        return None;
    }
    let ratio = without as f64 / with as f64;
    (!(1.0 / LIKE_LENGTH..=LIKE_LENGTH).contains(&ratio)).then(|| {
        let message =
            format!("the control's SKILL.md has {without} bytes, the treatment's {with}: length alone may matter");
        Finding::warning("control_length", "baseline", message).hint("choose a control of about the same length")
    })
}

fn one_folder_each<'a>(skills: impl Iterator<Item = &'a SkillPackage>) -> Result<()> {
    let mut folders = BTreeSet::new();
    for skill in skills {
        if !folders.insert(skill.folder()) {
            let name = &skill.manifest.name;
            return Err(OpsError::field(
                "skill",
                format!("two of the skills would lie in one folder: {name}; choose one"),
            ));
        }
    }
    Ok(())
}
