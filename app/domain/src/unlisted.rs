//! Which evaluations are in no row of the leaderboard, and why: a row speaks of tasks as they are, so that rows of one family can be compared.

use serde::{Deserialize, Serialize};

use crate::changed_limits::ChangedLimits;
use crate::plan::{EvaluationPlan, PlanKind};

/// Why an evaluation is in no row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unlisted {
    /// A task audit says nothing of a skill.
    Audit,
    /// It compares something else than a skill with no skill.
    OtherComparison,
    /// Its phases had another network than the tasks say.
    OtherNetwork,
    /// Its phases had another time than the tasks say.
    OtherTime,
    /// It might end once its own evidence sufficed, after which a p for a fixed number of tasks is too small.
    EndedByEvidence,
}

impl Unlisted {
    /// The first reason; `None` = it is in a row once it is finished.
    #[must_use]
    pub fn of(plan: &EvaluationPlan) -> Option<Self> {
        let settings = &plan.settings;
        let reasons = [
            (plan.kind != PlanKind::Evaluation, Self::Audit),
            (!plan.comparison.is_plain(), Self::OtherComparison),
            (!settings.network.is_none(), Self::OtherNetwork),
            (!ChangedLimits::of(settings).is_time_as_said(), Self::OtherTime),
            (settings.stop.evidence, Self::EndedByEvidence),
        ];
        reasons.into_iter().find_map(|(holds, reason)| holds.then_some(reason))
    }

    /// In words, to stand after `in no row of the leaderboard: `.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Audit => "it audits tasks",
            Self::OtherComparison => "it compares something else than a skill with no skill",
            Self::OtherNetwork => "its network was not that of the tasks",
            Self::OtherTime => "its time limits were not those of the tasks",
            Self::EndedByEvidence => "it might end as soon as its own evidence sufficed",
        }
    }
}
