//! The columns of the leaderboard: their words in addresses, heads and hints, and which are shown unless one asks for others.

use serde::{Deserialize, Serialize};

use crate::analysis::rank::Direction;

/// A column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Column {
    /// Place among the rows it can be compared with.
    Tier,
    /// Skills with their versions.
    Skill,
    /// Whose the skill is.
    Author,
    /// What the tasks are about.
    Category,
    /// Agent and model.
    Agent,
    /// On which tasks.
    Set,
    /// Tasks × repeats.
    Size,
    /// Pass rate without the skill.
    Without,
    /// Pass rate with it.
    With,
    /// Their difference with its interval and flips.
    Delta,
    /// What that shows.
    Verdict,
    /// Share of trials that opened the skill.
    Opened,
    /// Token overhead with its interval.
    Rho,
    /// Better or worse against dearer or cheaper.
    Quadrant,
    /// Tokens for each solved task.
    Tokens,
    /// Money for each solved task.
    Money,
    /// Normalised gain.
    Gain,
    /// Share of trials that could not be scored.
    Errors,
    /// p after Holm's adjustment.
    Holm,
    /// Benjamini and Hochberg's q.
    Q,
    /// When the newest evaluation in it was planned.
    Date,
    /// Who vouches for it.
    Source,
}

impl Column {
    /// All of them, from left to right.
    pub const ALL: [Self; 22] = [
        Self::Tier,
        Self::Skill,
        Self::Author,
        Self::Category,
        Self::Agent,
        Self::Set,
        Self::Size,
        Self::Without,
        Self::With,
        Self::Delta,
        Self::Verdict,
        Self::Opened,
        Self::Rho,
        Self::Quadrant,
        Self::Tokens,
        Self::Money,
        Self::Gain,
        Self::Errors,
        Self::Holm,
        Self::Q,
        Self::Date,
        Self::Source,
    ];

    /// The word in addresses and in the heads of a CSV.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Tier => "tier",
            Self::Skill => "skill",
            Self::Author => "author",
            Self::Category => "category",
            Self::Agent => "agent",
            Self::Set => "set",
            Self::Size => "n",
            Self::Without => "without",
            Self::With => "with",
            Self::Delta => "delta",
            Self::Verdict => "verdict",
            Self::Opened => "opened",
            Self::Rho => "rho",
            Self::Quadrant => "quadrant",
            Self::Tokens => "tokens",
            Self::Money => "money",
            Self::Gain => "g",
            Self::Errors => "errors",
            Self::Holm => "p_holm",
            Self::Q => "q",
            Self::Date => "date",
            Self::Source => "source",
        }
    }

    /// The column of that word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|column| column.word() == word)
    }

    /// The head of the column.
    #[must_use]
    pub const fn head(self) -> &'static str {
        match self {
            Self::Tier => "Tier",
            Self::Skill => "Skill",
            Self::Author => "Author",
            Self::Category => "Category",
            Self::Agent => "Agent · model",
            Self::Set => "Task set",
            Self::Size => "n × k",
            Self::Without => "No skill",
            Self::With => "With skill",
            Self::Delta => "Δ pp",
            Self::Verdict => "Verdict",
            Self::Opened => "Opened",
            Self::Rho => "Tokens (ρ)",
            Self::Quadrant => "Quadrant",
            Self::Tokens => "Tokens / solve",
            Self::Money => "Cost / solve",
            Self::Gain => "g",
            Self::Errors => "Errors",
            Self::Holm => "p (Holm)",
            Self::Q => "q (BH)",
            Self::Date => "Newest",
            Self::Source => "Source",
        }
    }

    /// What it holds, in one sentence.
    #[must_use]
    pub const fn hint(self) -> &'static str {
        match self {
            Self::Tier => {
                "Rows of one task set, agent and model whose intervals overlap share a tier; rows of others are not compared"
            }
            Self::Skill => "What the with-skill arm got",
            Self::Author => "Whose the skill is",
            Self::Category => "What the tasks are about",
            Self::Agent => "Who solved the tasks, with which model",
            Self::Set => "On which tasks",
            Self::Size => "Tasks × repeats of each in both arms",
            Self::Without => "Pass rate without the skill",
            Self::With => "Pass rate with the skill",
            Self::Delta => "Pass rate with − without, 95 % interval, pairs rescued and broken",
            Self::Verdict => "By p adjusted for all rows of the same task set, agent and model (Holm)",
            Self::Opened => "With-skill trials that opened the skill, where the trace can tell",
            Self::Rho => "Tokens with ÷ without − 1, 95 % interval",
            Self::Quadrant => "Better or worse against dearer or cheaper",
            Self::Tokens => "Tokens of the with-skill arm for each task it solved",
            Self::Money => "List price of the with-skill arm for each task it solved",
            Self::Gain => "Δ as a share of what could be gained; a dash where all passed without",
            Self::Errors => "Trials left out for trouble of engine, provider or verifier",
            Self::Holm => "p adjusted for all rows of the same task set, agent and model that could reach 0.05",
            Self::Q => "Benjamini and Hochberg's q over all rows of the same task set, agent and model",
            Self::Date => "When the newest evaluation in the row was planned",
            Self::Source => "Run here, scripted model, no coding agent, imported, or published by others",
        }
    }

    /// Whether it holds numbers: they stand right, and a first click sorts the largest on top.
    #[must_use]
    pub const fn is_number(self) -> bool {
        match self {
            Self::Skill | Self::Author | Self::Category | Self::Agent | Self::Set | Self::Source => false,
            Self::Verdict | Self::Quadrant => false,
            Self::Tier | Self::Size | Self::Without | Self::With | Self::Delta | Self::Opened | Self::Rho => true,
            Self::Tokens | Self::Money | Self::Gain | Self::Errors | Self::Holm | Self::Q | Self::Date => true,
        }
    }

    /// Which way a first click sorts.
    #[must_use]
    pub const fn first_direction(self) -> Direction {
        match self {
            Self::Tier | Self::Holm | Self::Q => Direction::Ascending,
            Self::Verdict | Self::Quadrant => Direction::Descending,
            column if column.is_number() => Direction::Descending,
            _ => Direction::Ascending,
        }
    }

    /// Whether it is shown unless one asks for others. Author, category and task set stand below skill and agent anyway.
    #[must_use]
    pub const fn is_default(self) -> bool {
        match self {
            Self::Tier | Self::Skill | Self::Agent | Self::Size | Self::Without | Self::With | Self::Delta => true,
            Self::Verdict | Self::Opened | Self::Rho | Self::Quadrant | Self::Tokens | Self::Date => true,
            Self::Author | Self::Category | Self::Set | Self::Money | Self::Gain | Self::Errors => false,
            Self::Holm | Self::Q | Self::Source => false,
        }
    }
}
