//! A row: what it is about, what was measured, who vouches for it, and what that shows.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::family::Standing;
use super::record::RowTaskSet;
use crate::analysis::rank::{Contender, Fraction, Unranked};
use crate::demonstration::Demonstration;
use crate::hash::ContentHash;
use crate::id::{EvaluationId, SkillId};
use crate::plan::AgentRef;
use crate::stats::delta::DeltaEstimate;
use crate::stats::interval::Interval;
use crate::stats::quadrant::Quadrant;
use crate::stats::verdict::{DeltaVerdict, VerdictRule};
use crate::time::Timestamp;

/// Who vouches for a row's numbers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Attestation {
    /// Run here.
    Own,
    /// Run here with a model whose answers came from a file.
    Scripted,
    /// Run here by an agent that calls no model.
    NoCodingAgent,
    /// Others ran it and reported it.
    Imported {
        /// What a person is told beside it.
        sentence: String,
    },
    /// A table that others published.
    Published {
        /// Which.
        table: String,
    },
}

impl Attestation {
    /// Of what was run here.
    #[must_use]
    pub const fn own(demonstration: Option<Demonstration>) -> Self {
        match demonstration {
            None => Self::Own,
            Some(Demonstration::ScriptedModel) => Self::Scripted,
            Some(Demonstration::NoCodingAgent) => Self::NoCodingAgent,
        }
    }

    /// What a person is told of a row that does not compete; `None` of one that does.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Own => None,
            Self::Scripted => Some(Demonstration::ScriptedModel.hint().to_owned()),
            Self::NoCodingAgent => Some(Demonstration::NoCodingAgent.hint().to_owned()),
            Self::Imported { sentence } => Some(sentence.clone()),
            Self::Published { table } => {
                Some(format!("{table}: nobody here saw the runs, and no task stands behind its numbers but one."))
            }
        }
    }

    /// The word in tables and JSON.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Own => "run here",
            Self::Scripted => Demonstration::ScriptedModel.word(),
            Self::NoCodingAgent => Demonstration::NoCodingAgent.word(),
            Self::Imported { .. } => "imported, self-reported",
            Self::Published { .. } => "published by others",
        }
    }

    /// Whether the row competes: only what was run here by a coding agent with a real model does.
    #[must_use]
    pub const fn competes(&self) -> bool {
        matches!(self, Self::Own)
    }
}

/// A skill of a row's treatment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RowSkill {
    /// Its name.
    pub name: String,
    /// Whose it is, where it is known here.
    pub owner: Option<String>,
    /// Its row, where it is known here.
    pub skill: Option<SkillId>,
    /// The version's address.
    pub version: Option<ContentHash>,
    /// 1 for the skill's first version, 2 for its second.
    pub number: Option<u32>,
}

impl RowSkill {
    /// `v2`, or the first digits of the address, or nothing.
    #[must_use]
    pub fn version_in_short(&self) -> Option<String> {
        self.number.map(|number| format!("v{number}")).or_else(|| self.version.map(|version| version.short()))
    }
}

/// A row's numbers. Shares, unless said otherwise; `None` is unknown.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Tasks with a complete pair (n).
    pub tasks: u32,
    /// Complete pairs.
    pub pairs: u64,
    /// The others.
    pub pairs_incomplete: u64,
    /// Pass rate without the skill.
    pub without: Option<f64>,
    /// Pass rate with it.
    pub with: Option<f64>,
    /// Their difference.
    pub delta: Option<f64>,
    /// Δ with interval, p and flips; `None` for tables that tell none.
    pub estimate: Option<DeltaEstimate>,
    /// With-skill trials that opened the skill.
    pub opened: u64,
    /// With-skill trials for which that can be told.
    pub opened_known: u64,
    /// Token overhead.
    pub rho: Option<f64>,
    /// Its interval.
    pub rho_ci: Option<Interval>,
    /// Better or worse against dearer or cheaper.
    pub quadrant: Option<Quadrant>,
    /// Tokens of the with-skill arm for each task it solved.
    pub tokens_per_solve: Option<f64>,
    /// List price of the with-skill arm for each task it solved.
    pub money_per_solve: Option<f64>,
    /// The price table behind it.
    pub prices: Option<String>,
    /// Δ as a share of what could be gained.
    pub gain: Option<f64>,
    /// Trials that ended, one way or the other.
    pub trials: u64,
    /// Of them, those not scored for trouble of engine, provider or verifier.
    pub trials_not_scored: u64,
}

impl Measured {
    /// The 95 % interval of Δ.
    #[must_use]
    pub fn delta_ci(&self) -> Option<Interval> {
        self.estimate.map(|estimate| estimate.ci)
    }

    /// Share of with-skill trials that opened the skill.
    #[must_use]
    pub fn opened_rate(&self) -> Option<f64> {
        (self.opened_known > 0).then(|| self.opened as f64 / self.opened_known as f64)
    }

    /// Share of trials that could not be scored.
    #[must_use]
    pub fn error_rate(&self) -> Option<f64> {
        (self.trials > 0).then(|| self.trials_not_scored as f64 / self.trials as f64)
    }

    /// Pairs for each task, where it is the same number for all.
    #[must_use]
    pub fn repeats(&self) -> Option<u64> {
        let tasks = u64::from(self.tasks);
        (tasks > 0 && self.pairs.is_multiple_of(tasks)).then(|| self.pairs / tasks)
    }
}

/// A row as its own trials tell of it: what is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RowRecord {
    /// Its name in addresses; no other row has it.
    pub key: String,
    /// Rows with the same word were made on the same tasks by the same agent and model, and are judged together.
    pub family: String,
    /// Who vouches for it.
    pub attestation: Attestation,
    /// The treatment; empty = each task's own skills.
    pub skills: Vec<RowSkill>,
    /// What the tasks are about: their common category, or `mixed`.
    pub category: Option<String>,
    /// Who solved the tasks.
    pub agent: AgentRef,
    /// With which model; `None` for agents that call none.
    pub model: Option<String>,
    /// On which tasks.
    pub task_set: RowTaskSet,
    /// What was measured.
    pub measured: Measured,
    /// Δ as a fraction of whole numbers, to rank by.
    pub exact_delta: Option<Fraction>,
    /// Why it has no place; `None` = it may have one.
    pub unranked: Option<Unranked>,
    /// The evaluations in it, oldest first.
    pub evaluations: Vec<EvaluationId>,
    /// When the newest of them was planned.
    pub date: Option<Timestamp>,
}

impl RowRecord {
    /// The names of the treatment's skills.
    #[must_use]
    pub fn skill_names(&self) -> String {
        if self.skills.is_empty() {
            return "task's own".to_owned();
        }
        self.skills.iter().map(|skill| skill.name.as_str()).collect::<Vec<_>>().join(" + ")
    }

    /// Whose the skills are.
    #[must_use]
    pub fn author(&self) -> Option<String> {
        let mut owners: Vec<&str> = self.skills.iter().filter_map(|skill| skill.owner.as_deref()).collect();
        owners.dedup();
        (!owners.is_empty()).then(|| owners.join(", "))
    }

    /// `bash 1 · model`.
    #[must_use]
    pub fn actor(&self) -> String {
        let agent = self.agent.title();
        match &self.model {
            Some(model) => format!("{agent} · {model}"),
            None => agent,
        }
    }

    pub(super) fn contender(&self) -> Contender {
        Contender {
            value: self.exact_delta,
            ci: self.measured.delta_ci(),
            pairs: self.measured.pairs,
            name: self.skill_names(),
            id: self.evaluations.first().map_or(i64::MAX, |id| id.0),
            ranked: self.unranked.is_none(),
        }
    }
}

/// A row among the others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LeaderboardRow {
    /// As its own trials tell of it.
    #[serde(flatten)]
    pub record: RowRecord,
    /// Among the rows of its family.
    #[serde(flatten)]
    pub standing: Standing,
}

impl LeaderboardRow {
    /// What it shows.
    #[must_use]
    pub const fn says(&self) -> Says {
        self.standing.says
    }

    /// Whether its Δ may have a colour: it is settled that the skill makes a difference, and the row has a place.
    #[must_use]
    pub const fn is_settled(&self) -> bool {
        self.says().is_settled() && self.record.unranked.is_none()
    }
}

/// What a row shows, as one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Says {
    /// More tasks pass with the skill.
    Improves,
    /// No difference that matters.
    NoEffect,
    /// Anything may be true.
    Inconclusive,
    /// No outcome of so few tasks could be told from chance.
    CannotBeResolved,
    /// Fewer tasks pass with the skill.
    Harms,
    /// No pair is complete.
    NoResult,
}

impl Says {
    /// From the best to the worst, then the unknown.
    pub const ALL: [Self; 6] =
        [Self::Improves, Self::NoEffect, Self::Inconclusive, Self::CannotBeResolved, Self::Harms, Self::NoResult];

    /// What a verdict says; without one there is no result.
    #[must_use]
    pub const fn of(verdict: Option<&DeltaVerdict>) -> Self {
        match verdict {
            Some(DeltaVerdict::Improves(_)) => Self::Improves,
            Some(DeltaVerdict::NoEffect { .. }) => Self::NoEffect,
            Some(DeltaVerdict::Inconclusive(_)) => Self::Inconclusive,
            Some(DeltaVerdict::CannotBeResolved { .. }) => Self::CannotBeResolved,
            Some(DeltaVerdict::Harms(_)) => Self::Harms,
            None => Self::NoResult,
        }
    }

    /// The stable word for addresses, JSON and style classes.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Improves => "improves",
            Self::NoEffect => "no_effect",
            Self::Inconclusive => "inconclusive",
            Self::CannotBeResolved => "cannot_be_resolved",
            Self::Harms => "harms",
            Self::NoResult => "no_result",
        }
    }

    /// The verdict of that word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|says| says.word() == word)
    }

    /// Whether it is settled that the skill makes a difference.
    #[must_use]
    pub const fn is_settled(self) -> bool {
        matches!(self, Self::Improves | Self::Harms)
    }
}

/// The words of [`DeltaVerdict`].
impl fmt::Display for Says {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Improves => f.write_str("Improves"),
            Self::NoEffect => write!(f, "No effect within ±{} pp", VerdictRule::default().margin * 100.0),
            Self::Inconclusive => f.write_str("Inconclusive"),
            Self::CannotBeResolved => f.write_str("Cannot be resolved"),
            Self::Harms => f.write_str("Harms"),
            Self::NoResult => f.write_str("No result"),
        }
    }
}
