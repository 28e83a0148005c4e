//! What a reader asks of the leaderboard, as the query string of its address. Unknown names and values are passed over, so that an old link
//! still opens.

use form_urlencoded::Serializer;
use serde::{Deserialize, Serialize};

use super::column::Column;
use super::row::{LeaderboardRow, Says};
use crate::analysis::rank::Direction;
use crate::id::{SkillId, SnapshotId};
use crate::stats::quadrant::Quadrant;

/// Rows on one page.
pub const PAGE_SIZE: usize = 50;
/// Stands before the number of a published snapshot.
const SNAPSHOT: &str = "snapshot-";
/// Longest text that is looked for, in characters.
const MOST_TEXT: usize = 200;

/// Whose rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DataSet {
    /// Those of this server.
    #[default]
    Own,
    /// Table 2 of SWE-Skills-Bench.
    Paper,
    /// Those of this server as they were published.
    Snapshot(SnapshotId),
}

impl DataSet {
    /// The word in addresses.
    #[must_use]
    pub fn word(self) -> String {
        match self {
            Self::Own => "own".to_owned(),
            Self::Paper => "paper".to_owned(),
            Self::Snapshot(id) => format!("{SNAPSHOT}{id}"),
        }
    }

    /// The rows of that word; of any other, own ones.
    #[must_use]
    pub fn from_word(word: &str) -> Self {
        match word.strip_prefix(SNAPSHOT).map(str::parse) {
            Some(Ok(id)) => Self::Snapshot(id),
            _ if word == "paper" => Self::Paper,
            _ => Self::Own,
        }
    }
}

/// How the rows are shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// As a table.
    #[default]
    Table,
    /// Their Δ with intervals on one scale.
    Forest,
    /// Their Δ against their tokens.
    Scatter,
}

impl Shape {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Table, Self::Forest, Self::Scatter];

    /// The word in addresses.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Table => "table",
            Self::Forest => "forest",
            Self::Scatter => "scatter",
        }
    }

    /// The shape of that word; of any other, a table.
    #[must_use]
    pub fn from_word(word: &str) -> Self {
        Self::ALL.into_iter().find(|shape| shape.word() == word).unwrap_or_default()
    }
}

/// By which column, and which way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sort {
    /// The column.
    pub column: Column,
    /// Which way; the unknown stands last either way.
    pub direction: Direction,
}

impl Default for Sort {
    fn default() -> Self {
        Self { column: Column::Delta, direction: Direction::Descending }
    }
}

impl Sort {
    /// `-delta` is the largest first, `delta` the smallest.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        let (word, direction) = match word.strip_prefix('-') {
            Some(rest) => (rest, Direction::Descending),
            None => (word, Direction::Ascending),
        };
        Some(Self { column: Column::from_word(word)?, direction })
    }

    /// The word in addresses.
    #[must_use]
    pub fn word(self) -> String {
        match self.direction {
            Direction::Descending => format!("-{}", self.column.word()),
            Direction::Ascending => self.column.word().to_owned(),
        }
    }
}

/// A view of the leaderboard. Empty texts ask for nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeaderboardQuery {
    /// Whose rows.
    pub data: DataSet,
    /// Words that all must occur in skill, author, version, agent, model, task set or category.
    pub text: String,
    /// Exactly this category.
    pub category: String,
    /// Exactly this agent, whatever its version.
    pub agent: String,
    /// Exactly this model.
    pub model: String,
    /// Exactly this task set.
    pub set: String,
    /// Rows that say this.
    pub verdict: Option<Says>,
    /// Rows in this quadrant.
    pub quadrant: Option<Quadrant>,
    /// Rows with so many tasks at least.
    pub least_tasks: u32,
    /// Rows of any version of this skill.
    pub skill: Option<SkillId>,
    /// Without the rows that cannot be resolved.
    pub resolvable: bool,
    /// As what.
    #[serde(default)]
    pub shape: Shape,
    /// In which order.
    pub sort: Sort,
    /// Which columns; empty = the usual ones.
    pub columns: Vec<Column>,
    /// From 1; 0 = the first.
    pub page: u32,
}

impl LeaderboardQuery {
    /// Reads a query string, with or without its `?`.
    #[must_use]
    pub fn parse(query: &str) -> Self {
        let mut asked = Self::default();
        for (name, value) in form_urlencoded::parse(query.trim_start_matches('?').as_bytes()) {
            asked.take(&name, value.trim());
        }
        asked.columns.sort_unstable();
        asked.columns.dedup();
        // A form names all that it shows, also where that is the usual.
        if asked.columns == Column::ALL.into_iter().filter(|column| column.is_default()).collect::<Vec<_>>() {
            asked.columns.clear();
        }
        asked
    }

    /// What of a query string says nothing here, as it was written; [`LeaderboardQuery::parse`] passes it over, which who reads the rows must know.
    #[must_use]
    pub fn not_understood(query: &str) -> Vec<String> {
        let parts = form_urlencoded::parse(query.trim_start_matches('?').as_bytes());
        let wrong = parts.filter(|(name, value)| !is_understood(name, value.trim()));
        wrong.map(|(name, value)| format!("{name}={value}").chars().take(MOST_TEXT).collect()).collect()
    }

    fn take(&mut self, name: &str, value: &str) {
        let text = || value.chars().take(MOST_TEXT).collect::<String>();
        match name {
            "data" => self.data = DataSet::from_word(value),
            "view" => self.shape = Shape::from_word(value),
            "q" => self.text = text(),
            "cat" => self.category = text(),
            "agent" => self.agent = text(),
            "model" => self.model = text(),
            "set" => self.set = text(),
            "verdict" => self.verdict = Says::from_word(value),
            "quadrant" => self.quadrant = Quadrant::from_word(value),
            "n" => self.least_tasks = value.parse().unwrap_or(0),
            "skill" => self.skill = value.parse().ok(),
            "resolvable" => self.resolvable = value == "1",
            "sort" => self.sort = Sort::from_word(value).unwrap_or_default(),
            "cols" => self.columns.extend(value.split(',').filter_map(|word| Column::from_word(word.trim()))),
            "page" => self.page = value.parse().unwrap_or(0),
            _ => {}
        }
    }

    /// The query string, without a `?`; what is as usual is left out.
    #[must_use]
    pub fn to_query(&self) -> String {
        let mut query = Serializer::new(String::new());
        let mut put = |name: &str, value: &str| {
            if !value.is_empty() {
                query.append_pair(name, value);
            }
        };
        if self.data != DataSet::Own {
            put("data", &self.data.word());
        }
        if self.shape != Shape::default() {
            put("view", self.shape.word());
        }
        put("q", &self.text);
        put("cat", &self.category);
        put("agent", &self.agent);
        put("model", &self.model);
        put("set", &self.set);
        put("verdict", self.verdict.map_or("", Says::word));
        put("quadrant", self.quadrant.map_or("", Quadrant::word));
        let number = |n: u32, usual: u32| if n <= usual { String::new() } else { n.to_string() };
        put("n", &number(self.least_tasks, 0));
        put("skill", &self.skill.map(|skill| skill.to_string()).unwrap_or_default());
        put("resolvable", if self.resolvable { "1" } else { "" });
        if self.sort != Sort::default() {
            put("sort", &self.sort.word());
        }
        put("cols", &self.columns.iter().map(|column| column.word()).collect::<Vec<_>>().join(","));
        put("page", &number(self.page, 1));
        query.finish()
    }

    /// The columns to show, from left to right.
    #[must_use]
    pub fn shown(&self) -> Vec<Column> {
        let asked = |column: &Column| {
            if self.columns.is_empty() { column.is_default() } else { self.columns.contains(column) }
        };
        Column::ALL.into_iter().filter(asked).collect()
    }

    /// The same view on its first page, sorted by a column: the other way round where it is sorted by it already.
    #[must_use]
    pub fn sorted_by(&self, column: Column) -> Self {
        let direction = match (self.sort.column == column, self.sort.direction) {
            (true, Direction::Descending) => Direction::Ascending,
            (true, Direction::Ascending) => Direction::Descending,
            (false, _) => column.first_direction(),
        };
        Self { sort: Sort { column, direction }, page: 0, ..self.clone() }
    }

    /// The same view on another page, from 1.
    #[must_use]
    pub fn on_page(&self, page: u32) -> Self {
        Self { page, ..self.clone() }
    }

    /// The same rows, shown in another way.
    #[must_use]
    pub fn shown_as(&self, shape: Shape) -> Self {
        Self { shape, ..self.clone() }
    }

    /// The same shape, order and columns without any filter.
    #[must_use]
    pub fn unfiltered(&self) -> Self {
        let Self { data, shape, sort, .. } = *self;
        Self { data, shape, sort, columns: self.columns.clone(), ..Self::default() }
    }

    /// Whether it leaves rows out.
    #[must_use]
    pub fn is_filtered(&self) -> bool {
        self.on_page(0) != self.unfiltered()
    }

    /// Whether a row is wanted; `words` are those of [`LeaderboardQuery::text`] in lower case, `hay` the row's.
    pub(super) fn wants(&self, row: &LeaderboardRow, hay: &str, words: &[String]) -> bool {
        let record = &row.record;
        let is = |asked: &str, found: Option<&str>| asked.is_empty() || found == Some(asked);
        is(&self.category, record.category.as_deref())
            && is(&self.agent, Some(&record.agent.name))
            && is(&self.model, record.model.as_deref())
            && is(&self.set, Some(&record.task_set.name))
            && self.verdict.is_none_or(|says| row.says() == says)
            && self.quadrant.is_none_or(|quadrant| record.measured.quadrant == Some(quadrant))
            && record.measured.tasks >= self.least_tasks
            && self.skill.is_none_or(|skill| record.skills.iter().any(|one| one.skill == Some(skill)))
            && !(self.resolvable && matches!(row.says(), Says::CannotBeResolved | Says::NoResult))
            && words.iter().all(|word| hay.contains(word.as_str()))
    }
}

fn is_understood(name: &str, value: &str) -> bool {
    let is_known = match name {
        "data" => value == DataSet::Own.word() || DataSet::from_word(value) != DataSet::Own,
        "view" => Shape::ALL.iter().any(|shape| shape.word() == value),
        "q" | "cat" | "agent" | "model" | "set" => true,
        "verdict" => Says::from_word(value).is_some(),
        "quadrant" => Quadrant::from_word(value).is_some(),
        "n" | "page" => value.parse::<u32>().is_ok(),
        "skill" => value.parse::<SkillId>().is_ok(),
        "resolvable" => matches!(value, "0" | "1"),
        "sort" => Sort::from_word(value).is_some(),
        "cols" => value.split(',').all(|word| Column::from_word(word.trim()).is_some()),
        _ => return false,
    };
    // A form names its empty fields as well.
    is_known || value.is_empty()
}
