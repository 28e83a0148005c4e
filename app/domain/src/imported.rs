//! Evaluations that others ran. They are kept as they were reported, marked wherever they appear, and never mixed with own runs or ranked.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::finding::Finding;
use crate::hash::ContentHash;
use crate::id::EvaluationId;
use crate::time::Timestamp;

/// The forms in which results of others are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ResultFormat {
    /// Our own JSON, made by another Skilldelta.
    Skilldelta,
    /// Report folders of SWE-Skills-Bench's own program.
    SweSkillsBench,
    /// `details/*.json` of AgentCompass.
    Agentcompass,
    /// SkillsBench reviews of EvalScope.
    Evalscope,
    /// Job folders of Harbor and BenchFlow.
    Harbor,
    /// `benchmark.json` of skill-creator.
    SkillCreator,
}

impl ResultFormat {
    /// All of them, our own first.
    pub const ALL: [Self; 6] =
        [Self::Skilldelta, Self::SweSkillsBench, Self::Agentcompass, Self::Evalscope, Self::Harbor, Self::SkillCreator];

    /// The word used on the command line, in tables and JSON.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Skilldelta => "skilldelta",
            Self::SweSkillsBench => "swe-skills-bench",
            Self::Agentcompass => "agentcompass",
            Self::Evalscope => "evalscope",
            Self::Harbor => "harbor",
            Self::SkillCreator => "skill-creator",
        }
    }

    /// The format of that word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.word() == word)
    }

    /// The runner's name, for people.
    #[must_use]
    pub const fn runner(self) -> &'static str {
        match self {
            Self::Skilldelta => "another Skilldelta",
            Self::SweSkillsBench => "SWE-Skills-Bench",
            Self::Agentcompass => "AgentCompass",
            Self::Evalscope => "EvalScope",
            Self::Harbor => "Harbor",
            Self::SkillCreator => "skill-creator",
        }
    }
}

impl fmt::Display for ResultFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// Where an imported evaluation came from. Its numbers are self-reported: nobody here saw the runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Imported {
    /// In which form it was read.
    pub format: ResultFormat,
    /// Name of the file or folder that was read.
    pub source: String,
    /// Over the paths and bytes of all files that were read.
    pub hash: ContentHash,
    /// When it was read.
    pub at: Timestamp,
    /// What could not be taken, and what is to be known about what was.
    pub findings: Vec<Finding>,
    /// Where the exporting Skilldelta had it from, if it had imported it itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Box<Imported>>,
}

impl Imported {
    /// Whether another runner made it, rather than a Skilldelta elsewhere.
    #[must_use]
    pub fn is_foreign(&self) -> bool {
        self.format != ResultFormat::Skilldelta || self.before.as_ref().is_some_and(|before| before.is_foreign())
    }

    /// What a person is told beside every such result: `Imported from Harbor (job-1), self-reported`.
    #[must_use]
    pub fn sentence(&self) -> String {
        let (runner, source) = (self.format.runner(), &self.source);
        let before = self.before.as_ref().map(|before| format!(", which had it from {}", before.format.runner()));
        format!(
            "Imported from {runner} ({source}){}; self-reported: nobody here saw the runs",
            before.unwrap_or_default()
        )
    }
}

/// The answer to an import: nothing is dropped in silence.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ImportIntake {
    /// What went in.
    pub accepted: Vec<AcceptedEvaluation>,
    /// About the source as a whole: what was refused or left out, where, why, and how to mend it.
    pub findings: Vec<Finding>,
}

/// An evaluation that went in.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AcceptedEvaluation {
    /// Its row.
    pub id: EvaluationId,
    /// What people call it.
    pub title: String,
    /// `false` = these very bytes were imported before.
    pub is_new: bool,
    /// How it was read.
    pub format: ResultFormat,
    /// Number of tasks.
    pub tasks: u64,
    /// Number of trials.
    pub trials: u64,
    /// Pairs with both trials scored.
    pub pairs_complete: u64,
    /// What could not be taken, and what is to be known about what was.
    pub findings: Vec<Finding>,
}
