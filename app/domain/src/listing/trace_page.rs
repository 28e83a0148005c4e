//! A stretch of an aligned pair of traces, as the page of a pair shows it.

use serde::{Deserialize, Serialize};

use crate::condition::Pair;
use crate::trace::{Source, ToolCall};
use crate::trace_diff::RowClass;
use crate::usage::TokenUsage;

/// Which rows of a trace diff are wanted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RowFilter {
    /// Every row.
    #[default]
    All,
    /// Rows that are not [`RowClass::Same`].
    Differences,
    /// Rows of one class.
    Class(RowClass),
    /// Rows that open a skill.
    Skill,
    /// Rows that run tests.
    Tests,
    /// Rows with a call that failed.
    Errors,
}

impl RowFilter {
    /// Those that a page offers, in order.
    pub const OFFERED: [Self; 10] = [
        Self::All,
        Self::Differences,
        Self::Class(RowClass::OnlyWith),
        Self::Class(RowClass::OnlyWithout),
        Self::Class(RowClass::ArgumentsDiffer),
        Self::Class(RowClass::ResultDiffers),
        Self::Class(RowClass::Moved),
        Self::Skill,
        Self::Tests,
        Self::Errors,
    ];

    /// The word used in URLs.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Differences => "differences",
            Self::Class(class) => class.word(),
            Self::Skill => "skill",
            Self::Tests => "tests",
            Self::Errors => "errors",
        }
    }

    /// The filter of a word in a URL; an unknown word asks for nothing in particular.
    #[must_use]
    pub fn of(word: &str) -> Self {
        let classes = RowClass::ALL.map(Self::Class);
        Self::OFFERED.into_iter().chain(classes).find(|filter| filter.word() == word).unwrap_or_default()
    }
}

/// Which stretch of a trace diff is wanted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceView {
    /// Which rows.
    pub filter: RowFilter,
    /// How many of them are passed over.
    pub from: usize,
}

/// A stretch of an aligned pair of traces.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TracePage {
    /// What was asked for.
    pub view: TraceView,
    /// Rows in all.
    pub total: usize,
    /// Number of rows that pass each of [`RowFilter::OFFERED`].
    pub counts: Vec<(RowFilter, usize)>,
    /// Most rows that a page holds.
    pub page_rows: usize,
    /// The rows of this stretch.
    pub rows: Vec<TraceRow>,
    /// First row in which the agents decided differently, from 0.
    pub first_decision: Option<usize>,
    /// First run of tests in both arms that answered differently, from 0.
    pub first_test_difference: Option<usize>,
    /// Rows that open a skill, from 0.
    pub skill_opened: Vec<usize>,
    /// Tokens used up to each row, for each arm that tells them; at most a few hundred points.
    pub spent: Vec<SpentAt>,
}

impl TracePage {
    /// Rows that pass the filter.
    #[must_use]
    pub fn matching(&self) -> usize {
        let found = self.counts.iter().find(|(filter, _)| *filter == self.view.filter);
        found.map_or(self.rows.len(), |(_, count)| *count)
    }
}

/// Tokens used up to and with a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpentAt {
    /// The row, from 0.
    pub row: usize,
    /// All classes of tokens; `None` as long as no step of the arm told any.
    pub tokens: Pair<Option<u64>>,
}

/// One row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TraceRow {
    /// Place in the diff, from 0.
    pub index: usize,
    /// How the sides differ.
    pub class: RowClass,
    /// Where the other side stands, for what was moved.
    pub twin: Option<usize>,
    /// The best alignment was looked for near the diagonal only.
    pub approximate: bool,
    /// Both sides; at least one is there.
    pub sides: Pair<Option<StepPart>>,
    /// Lines of the words that differ, where the row is words alone; empty where the texts are too long or have too little in common.
    pub words: Vec<DiffLine>,
    /// Lines of the arguments that differ, where both sides have some and they are not too long.
    pub arguments: Vec<DiffLine>,
    /// The same of the results.
    pub results: Vec<DiffLine>,
}

/// A tool call with the words before it, or words alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StepPart {
    /// Number of the step in its trace, from 1.
    pub step: usize,
    /// Number of the call in its step, from 1; `None` for words alone.
    pub call_number: Option<usize>,
    /// Who speaks.
    pub source: Source,
    /// Beside the conversation.
    pub aside: bool,
    /// Done by a sub-agent.
    pub sub_agent: bool,
    /// What is said; with the first call of a step only.
    pub text: String,
    /// The model's reasoning; with the first call of a step only.
    pub reasoning: Option<String>,
    /// The call.
    pub call: Option<ToolCall>,
    /// Tokens of the step; with its first call only.
    pub usage: Option<TokenUsage>,
}

/// Which side a line belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LineSide {
    /// Both sides have it.
    Both,
    /// The no-skill side.
    Without,
    /// The with-skill side.
    With,
    /// Lines that both have are left out here.
    Gap,
}

/// A line of a comparison.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiffLine {
    /// Whose it is.
    pub side: LineSide,
    /// Without its line end.
    pub text: String,
}

/// How long a trace is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceSize {
    /// Model turns, those of sub-agents included.
    pub turns: usize,
    /// Tool calls.
    pub tool_calls: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_filter_is_found_by_its_word() {
        for filter in RowFilter::OFFERED {
            assert_eq!(RowFilter::of(filter.word()), filter);
        }
        assert_eq!(RowFilter::of("words-differ"), RowFilter::Class(RowClass::WordsDiffer));
        assert_eq!(RowFilter::of("<script>"), RowFilter::All);
    }
}
