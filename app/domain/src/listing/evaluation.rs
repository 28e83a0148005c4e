//! Evaluations as lists show them.

use serde::{Deserialize, Serialize};

use crate::demonstration::Demonstration;
use crate::id::EvaluationId;
use crate::imported::Imported;
use crate::leaderboard::Says;
use crate::plan::{AgentRef, ModelRef};
use crate::report::{Headline, ReportSkill};
use crate::time::Timestamp;

/// How the trials of an evaluation stand.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrialCounts {
    /// Waiting.
    pub queued: u64,
    /// Under way.
    pub running: u64,
    /// Passed.
    pub passed: u64,
    /// Failed.
    pub failed: u64,
    /// Finished without a score, for trouble.
    pub not_scored: u64,
    /// Cancelled, by a person or by the plan's own rule.
    pub not_run: u64,
}

impl TrialCounts {
    /// Counts trials by their verdict, where there is one, and their state, in words.
    #[must_use]
    pub fn of<'a>(trials: impl IntoIterator<Item = (Option<&'a str>, &'a str)>) -> Self {
        trials.into_iter().fold(Self::default(), |mut counts, trial| {
            match trial {
                (Some("pass"), _) => counts.passed += 1,
                (Some("fail"), _) => counts.failed += 1,
                (Some("cancelled"), _) => counts.not_run += 1,
                (Some(_), _) => counts.not_scored += 1,
                (None, "queued") => counts.queued += 1,
                (None, _) => counts.running += 1,
            }
            counts
        })
    }

    /// All trials.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.queued + self.running + self.finished()
    }

    /// Finished trials.
    #[must_use]
    pub const fn finished(&self) -> u64 {
        self.passed + self.failed + self.not_scored + self.not_run
    }
}

/// A page of the list of evaluations, newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EvaluationsPage {
    /// Those on it.
    pub evaluations: Vec<EvaluationListing>,
    /// How many there are on all pages.
    pub all: u32,
    /// Which page this is, from 1.
    pub page: u32,
    /// How many pages there are, from 1.
    pub pages: u32,
}

/// A [`Headline`] without its sentences: they tell of tokens, which no list reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShortHeadline {
    /// For sign and colour.
    pub class: String,
    /// For people.
    pub word: String,
}

impl From<Headline> for ShortHeadline {
    fn from(Headline { class, word, .. }: Headline) -> Self {
        Self { class, word }
    }
}

/// An evaluation in a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EvaluationListing {
    /// Its row.
    pub id: EvaluationId,
    /// What people call it.
    pub title: String,
    /// The treatment.
    pub skills: Vec<ReportSkill>,
    /// Who.
    pub agent: AgentRef,
    /// With what.
    pub model: Option<ModelRef>,
    /// Number of tasks.
    pub tasks: u64,
    /// Repeats.
    pub repeats: u32,
    /// How it stands.
    pub counts: TrialCounts,
    /// Over complete pairs so far.
    pub delta: Option<f64>,
    /// The verdict as its result's page gives it.
    pub headline: ShortHeadline,
    /// Where it came from, if others ran it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<Imported>,
    /// When it was planned.
    pub created_at: Timestamp,
}

impl EvaluationListing {
    /// Whether its verdict may have a colour: it was measured here, and it is settled that the skill makes a difference.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        let measured_here = self.demonstration().is_none() && self.imported.is_none();
        measured_here && Says::from_word(&self.headline.class).is_some_and(Says::is_settled)
    }

    /// Why it is no measurement, if it is none.
    #[must_use]
    pub fn demonstration(&self) -> Option<Demonstration> {
        Demonstration::of(&self.agent.name, self.model.as_ref().is_some_and(|model| model.scripted))
    }
}
