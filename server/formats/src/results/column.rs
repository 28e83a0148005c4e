//! What the columns of results files are called, by us and by others.

use std::collections::HashMap;

/// What a column means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Column {
    Task,
    Condition,
    Repeat,
    Attempt,
    Status,
    Verdict,
    Reward,
    Tokens,
    Input,
    CacheRead,
    CacheWrite,
    Output,
    Usage,
    Cluster,
    Skill,
    Agent,
    Model,
    Scripted,
    Comparison,
    Activated,
    Tests,
    TestsPassed,
    TestsTotal,
}

/// Each column's names; the first is our own, and of two that are present the earlier one counts.
const NAMES: [(Column, &[&str]); Column::COUNT] = [
    (Column::Task, &["task", "task_name", "task_id", "instance", "instance_id"]),
    (Column::Condition, &["condition", "arm", "with_skill", "use_skill", "variant"]),
    (Column::Repeat, &["repeat", "repetition", "rep", "replicate"]),
    (Column::Attempt, &["attempt", "attempt_number", "run", "trial"]),
    (Column::Status, &["status", "state"]),
    (Column::Verdict, &["verdict", "outcome", "result", "passed", "pass", "success", "resolved", "is_resolved"]),
    (Column::Reward, &["reward", "score"]),
    (Column::Tokens, &["tokens", "total_tokens", "tokens_total"]),
    (Column::Input, &["input", "tokens_input", "input_tokens", "prompt_tokens"]),
    (Column::CacheRead, &["cache_read", "tokens_cache_read", "cache_read_tokens", "cache_read_input_tokens"]),
    (
        Column::CacheWrite,
        &["cache_write", "tokens_cache_write", "cache_write_tokens", "cache_creation_input_tokens", "cache_creation"],
    ),
    (Column::Output, &["output", "tokens_output", "output_tokens", "completion_tokens"]),
    (Column::Usage, &["usage"]),
    (Column::Cluster, &["cluster", "repository", "repo", "target_repository"]),
    (Column::Skill, &["skill", "skill_name", "skill_id"]),
    (Column::Agent, &["agent", "agent_name"]),
    (Column::Model, &["model", "model_name"]),
    (Column::Scripted, &["scripted", "scripted_model"]),
    (Column::Comparison, &["comparison"]),
    (Column::Activated, &["activated", "opened", "skill_opened", "skill_used"]),
    (Column::Tests, &["tests", "test_cases"]),
    (Column::TestsPassed, &["tests_passed", "passed_tests", "cases_passed"]),
    (Column::TestsTotal, &["tests_total", "total_tests", "cases_total", "cases"]),
];

impl Column {
    /// How many there are.
    pub const COUNT: usize = 23;

    /// Our own name for it.
    pub fn name(self) -> &'static str {
        self.names().first().copied().unwrap_or_default()
    }

    /// All names, ours first.
    pub fn names(self) -> &'static [&'static str] {
        NAMES.iter().find(|(column, _)| *column == self).map_or(&[], |(_, names)| names)
    }

    /// The column that a header names, and how far down its list of names; `None` where the header is not used.
    fn named(header: &str) -> Option<(Self, usize)> {
        let plain = header.trim().to_lowercase().replace(['-', ' ', '.'], "_");
        NAMES.iter().find_map(|(column, names)| Some((*column, names.iter().position(|name| *name == plain)?)))
    }
}

/// Answers for headers seen before.
#[derive(Default)]
pub(super) struct Headers(HashMap<String, Option<(Column, usize)>>);

impl Headers {
    /// As [`Column::named`], remembered.
    pub fn column(&mut self, header: &str) -> Option<(Column, usize)> {
        match self.0.get(header) {
            Some(known) => *known,
            None => {
                let column = Column::named(header);
                self.0.insert(header.to_owned(), column);
                column
            }
        }
    }

    /// Headers that mean nothing here, sorted.
    pub fn unused(&self) -> Vec<&str> {
        let mut unused: Vec<&str> =
            self.0.iter().filter(|(_, column)| column.is_none()).map(|(header, _)| header.as_str()).collect();
        unused.sort_unstable();
        unused
    }

    /// Whether any header named the column.
    pub fn has(&self, column: Column) -> bool {
        self.0.values().any(|known| known.is_some_and(|(known, _)| known == column))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_column_has_names_and_no_name_means_two_columns() {
        let mut seen = std::collections::HashSet::new();
        for (column, names) in NAMES {
            assert_eq!(column.name(), names[0]);
            names.iter().for_each(|name| assert!(seen.insert(*name), "{name}"));
        }
        assert_eq!(Column::named("Input-Tokens"), Some((Column::Input, 2)));
        assert_eq!(Column::named("duration"), None);
    }
}
