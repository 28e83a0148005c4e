//! What was compared, as a result names it: in words, and arm by arm.

use serde::{Deserialize, Serialize};

use super::ReportSkill;
use crate::comparison::{Baseline, Compared};
use crate::condition::{Condition, Pair};
use crate::hash::ContentHash;
use crate::plan::{EvaluationPlan, SkillRef, Treatment};
use crate::report::number;

/// What was compared.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ComparisonReport {
    /// `no-skill`, `previous-version`, `control` or `a-a`.
    pub kind: Compared,
    /// For people, such as `sheep@1a2b3c4d5e6f against sheep@0f9e8d7c6b5a`.
    pub words: String,
    /// What each arm held of it: the trials named `no-skill` are those of `without`.
    pub arms: Pair<ArmReport>,
    /// Skills that were present in both arms.
    pub distractors: Vec<ReportSkill>,
}

/// What one arm held.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArmReport {
    /// `no-skill`, `with-skill`, `previous-version`, `new-version`, `control`, `arm-a` or `arm-b`.
    pub name: String,
    /// The skills on trial in it.
    pub skills: Vec<ReportSkill>,
}

impl ComparisonReport {
    /// Of a plan.
    #[must_use]
    pub fn of(plan: &EvaluationPlan) -> Self {
        let kind = plan.comparison.kind();
        let with = of_treatment(&plan.treatment);
        let without = match &plan.comparison.baseline {
            Baseline::NoSkill => Vec::new(),
            Baseline::PreviousVersion { versions } | Baseline::Control { versions } => named(versions),
            Baseline::Same => with.clone(),
        };
        let skills = Pair { without, with };
        let distractors = named(&plan.comparison.distractors);
        let words = words(kind, &skills, &distractors);
        let names = kind.arms();
        let arm = |name: &str, skills| ArmReport { name: name.to_owned(), skills };
        let arms = Pair { without: arm(names.without, skills.without), with: arm(names.with, skills.with) };
        Self { kind, words, arms, distractors }
    }

    /// What an arm is called.
    #[must_use]
    pub const fn arm(&self, condition: Condition) -> &'static str {
        let names = self.kind.arms();
        names.get(condition)
    }

    /// Skill against no skill and nothing beside.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.kind == Compared::NoSkill && self.distractors.is_empty()
    }
}

/// The skills of a treatment.
pub(super) fn of_treatment(treatment: &Treatment) -> Vec<ReportSkill> {
    match treatment {
        Treatment::TasksOwn => vec![ReportSkill { name: ReportSkill::TASKS_OWN.to_owned(), version: None }],
        Treatment::Skills { versions } => named(versions),
        Treatment::Nothing => Vec::new(),
    }
}

fn named(versions: &[SkillRef]) -> Vec<ReportSkill> {
    let skill = |skill: &SkillRef| ReportSkill {
        name: skill.name.clone(),
        version: skill.version.known().map(ContentHash::to_hex),
    };
    versions.iter().map(skill).collect()
}

fn words(kind: Compared, skills: &Pair<Vec<ReportSkill>>, distractors: &[ReportSkill]) -> String {
    let list = |skills: &[ReportSkill]| match skills {
        [] => "no skill".to_owned(),
        skills => skills.iter().map(ReportSkill::words).collect::<Vec<_>>().join(" + "),
    };
    let (without, with) = (list(&skills.without), list(&skills.with));
    let words = match kind {
        Compared::NoSkill | Compared::PreviousVersion => format!("{with} against {without}"),
        Compared::Control => format!("{with} against the unrelated {without}"),
        Compared::Same => format!("A/A: {with} against {without}"),
    };
    match distractors.len() as u64 {
        0 => words,
        n => format!("{words}, beside {}", number::counted(n, "distractor skill")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::Comparison;
    use crate::id::SkillVersionId;
    use crate::plan::{AgentRef, RunSettings};

    fn skill(name: &str, bytes: &str) -> SkillRef {
        SkillRef { id: SkillVersionId(1), name: name.into(), version: ContentHash::of(bytes.as_bytes()) }
    }

    fn check(treatment: Treatment, baseline: Baseline, distractors: &[SkillRef], arms: [&str; 2], words: &str) {
        let plan = EvaluationPlan {
            title: String::new(),
            treatment,
            comparison: Comparison { baseline, distractors: distractors.to_vec() },
            tasks: vec![],
            task_set: None,
            agent: AgentRef::new("nop", "1"),
            model: None,
            repeats: 1,
            seed: 1,
            settings: RunSettings::default(),
            kind: Default::default(),
        };
        let report = ComparisonReport::of(&plan);
        assert_eq!([report.arms.without.name.as_str(), &report.arms.with.name], arms);
        assert_eq!(report.words, words);
        assert_eq!(report.is_plain(), plan.comparison.is_plain());
        let stored: EvaluationPlan = serde_json::from_value(serde_json::to_value(&plan).unwrap()).unwrap();
        assert_eq!(stored, plan);
    }

    #[test]
    fn every_kind_is_named_by_what_was_compared() {
        let (new, old) = (skill("sheep", "new"), skill("sheep", "old"));
        let [at_new, at_old] = [&new, &old].map(|skill| skill.version.short());
        let skills =
            |versions: &[&SkillRef]| Treatment::Skills { versions: versions.iter().copied().cloned().collect() };
        let plain = ["no-skill", "with-skill"];
        check(skills(&[&new]), Baseline::NoSkill, &[], plain, &format!("sheep@{at_new} against no skill"));
        check(Treatment::TasksOwn, Baseline::NoSkill, &[], plain, "task's own against no skill");
        check(
            Treatment::TasksOwn,
            Baseline::NoSkill,
            &[skill("goats", "g"), skill("cows", "c")],
            plain,
            "task's own against no skill, beside 2 distractor skills",
        );
        check(
            skills(&[&new]),
            Baseline::PreviousVersion { versions: vec![old.clone()] },
            &[],
            ["previous-version", "new-version"],
            &format!("sheep@{at_new} against sheep@{at_old}"),
        );
        check(
            skills(&[&new]),
            Baseline::Control { versions: vec![old] },
            &[],
            ["control", "with-skill"],
            &format!("sheep@{at_new} against the unrelated sheep@{at_old}"),
        );
        check(Treatment::Nothing, Baseline::Same, &[], ["arm-a", "arm-b"], "A/A: no skill against no skill");
        check(
            skills(&[&new]),
            Baseline::Same,
            &[],
            ["arm-a", "arm-b"],
            &format!("A/A: sheep@{at_new} against sheep@{at_new}"),
        );
    }
}
