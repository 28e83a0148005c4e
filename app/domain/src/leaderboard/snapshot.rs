//! All rows at one instant, judged together, and the views of them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::column::Column;
use super::family::standings;
use super::honest::VerdictCounts;
use super::query::{LeaderboardQuery, PAGE_SIZE};
use super::row::{LeaderboardRow, RowRecord};
use super::sort::{TextPlaces, sort};
use crate::analysis::rank::{Direction, order};
use crate::id::SkillId;
use crate::time::Timestamp;

/// Most choices that a filter lists; what is rarer is found by its text.
const MOST_CHOICES: usize = 200;

/// One choice of a filter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facet {
    /// Its value.
    pub value: String,
    /// Rows that have it.
    pub rows: u32,
}

/// The choices of the filters, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Facets {
    /// Categories.
    pub categories: Vec<Facet>,
    /// Agents.
    pub agents: Vec<Facet>,
    /// Models.
    pub models: Vec<Facet>,
    /// Task sets.
    pub sets: Vec<Facet>,
}

/// One page of a view.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LeaderboardPage {
    /// What was asked; its page is one that there is.
    pub query: LeaderboardQuery,
    /// At most [`PAGE_SIZE`] rows.
    pub rows: Vec<LeaderboardRow>,
    /// Rows of the view, on all pages.
    pub matching: u32,
    /// Rows in all.
    pub all: u32,
    /// Pages, at least 1.
    pub pages: u32,
    /// The rows of the view by verdict.
    pub counts: VerdictCounts,
    /// The choices of the filters.
    pub facets: Facets,
    /// When the newest of all rows was planned; `None` without one.
    pub newest: Option<Timestamp>,
    /// Finished evaluations that are not in it yet.
    pub waiting: u32,
    /// What a reader should know of these rows as a whole; empty where there is nothing.
    pub note: String,
}

/// All rows.
#[derive(Debug, Default)]
pub struct Snapshot {
    /// In order of Δ, the greatest first.
    rows: Vec<LeaderboardRow>,
    /// For each row what a text is looked for in, in lower case.
    hay: Vec<String>,
    /// Places of the rows in order of Δ, the least first.
    ascending: Vec<usize>,
    texts: TextPlaces,
    facets: Facets,
    newest: Option<Timestamp>,
    note: String,
}

impl Snapshot {
    /// Judges rows together. `note` is told beside every view of them.
    #[must_use]
    pub fn of(records: Vec<RowRecord>, note: String) -> Self {
        let contenders: Vec<_> = records.iter().map(RowRecord::contender).collect();
        let standings = standings(&records);
        let mut judged: Vec<Option<LeaderboardRow>> = records
            .into_iter()
            .zip(standings)
            .map(|(record, standing)| Some(LeaderboardRow { record, standing }))
            .collect();
        let descending = order(&contenders, Direction::Descending);
        let mut place = vec![0; descending.len()];
        for (to, from) in descending.iter().enumerate() {
            if let Some(place) = place.get_mut(*from) {
                *place = to;
            }
        }
        let ascending =
            order(&contenders, Direction::Ascending).into_iter().filter_map(|from| place.get(from).copied()).collect();
        let rows: Vec<LeaderboardRow> =
            descending.into_iter().filter_map(|from| judged.get_mut(from)?.take()).collect();
        Self::held(rows, ascending, note)
    }

    /// Rows that were judged when they were published, in order of Δ: their verdicts stay what they were.
    #[must_use]
    pub fn published(rows: Vec<LeaderboardRow>, note: String) -> Self {
        let contenders: Vec<_> = rows.iter().map(|row| row.record.contender()).collect();
        Self::held(rows, order(&contenders, Direction::Ascending), note)
    }

    fn held(rows: Vec<LeaderboardRow>, ascending: Vec<usize>, note: String) -> Self {
        Self {
            hay: rows.iter().map(hay).collect(),
            texts: TextPlaces::of(&rows),
            facets: facets(&rows),
            newest: rows.iter().filter_map(|row| row.record.date).max(),
            ascending,
            rows,
            note,
        }
    }

    /// All rows, in order of Δ.
    #[must_use]
    pub fn rows(&self) -> &[LeaderboardRow] {
        &self.rows
    }

    /// All rows of a view, in its order.
    #[must_use]
    pub fn matching(&self, query: &LeaderboardQuery) -> Vec<&LeaderboardRow> {
        let words: Vec<String> = query.text.split_whitespace().map(str::to_lowercase).collect();
        let wanted = |at: &usize| {
            self.rows.get(*at).zip(self.hay.get(*at)).is_some_and(|(row, hay)| query.wants(row, hay, &words))
        };
        let mut found: Vec<usize> = match (query.sort.column, query.sort.direction) {
            (Column::Delta, Direction::Ascending) => self.ascending.iter().copied().filter(wanted).collect(),
            _ => (0..self.rows.len()).filter(wanted).collect(),
        };
        if query.sort.column != Column::Delta {
            sort(&mut found, &self.rows, &self.texts, query.sort);
        }
        found.into_iter().filter_map(|at| self.rows.get(at)).collect()
    }

    /// One page of a view; `waiting` evaluations are not in any row yet.
    #[must_use]
    pub fn page(&self, query: &LeaderboardQuery, waiting: u32) -> LeaderboardPage {
        let found = self.matching(query);
        let pages = u32::try_from(found.len().div_ceil(PAGE_SIZE)).unwrap_or(u32::MAX).max(1);
        let page = query.page.clamp(1, pages);
        let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        LeaderboardPage {
            rows: found
                .iter()
                .skip((page as usize - 1) * PAGE_SIZE)
                .take(PAGE_SIZE)
                .map(|row| LeaderboardRow::clone(row))
                .collect(),
            matching: number(found.len()),
            all: number(self.rows.len()),
            pages,
            counts: VerdictCounts::of(found.into_iter()),
            facets: self.facets.clone(),
            newest: self.newest,
            waiting,
            note: self.note.clone(),
            query: query.on_page(page),
        }
    }

    /// The rows of any version of a skill, newest version first, then the best known one first.
    #[must_use]
    pub fn of_skill(&self, skill: SkillId) -> Vec<LeaderboardRow> {
        let number = |row: &LeaderboardRow| {
            row.record.skills.iter().filter(|one| one.skill == Some(skill)).filter_map(|one| one.number).max()
        };
        let of_it = |row: &&LeaderboardRow| row.record.skills.iter().any(|one| one.skill == Some(skill));
        let mut rows: Vec<LeaderboardRow> = self.rows.iter().filter(of_it).cloned().collect();
        rows.sort_by(|a, b| {
            let competes = |row: &LeaderboardRow| row.record.attestation.competes();
            number(b)
                .cmp(&number(a))
                .then_with(|| competes(b).cmp(&competes(a)))
                .then_with(|| b.record.measured.pairs.cmp(&a.record.measured.pairs))
                .then_with(|| b.record.date.cmp(&a.record.date))
        });
        rows
    }
}

fn hay(row: &LeaderboardRow) -> String {
    let record = &row.record;
    let mut words = vec![record.agent.name.as_str(), &record.agent.version, &record.task_set.name];
    words.extend(record.model.as_deref());
    words.extend(record.category.as_deref());
    let mut versions = String::new();
    for skill in &record.skills {
        words.push(&skill.name);
        words.extend(skill.owner.as_deref());
        versions += &skill.version.map(|version| format!(" {}", version.to_hex())).unwrap_or_default();
    }
    if record.skills.is_empty() {
        words.push("task's own");
    }
    words.join(" ").to_lowercase() + &versions
}

fn facets(rows: &[LeaderboardRow]) -> Facets {
    let count = |of: fn(&RowRecord) -> Option<&str>| {
        let mut values: BTreeMap<&str, u32> = BTreeMap::new();
        rows.iter().filter_map(|row| of(&row.record)).for_each(|value| *values.entry(value).or_default() += 1);
        let mut facets: Vec<Facet> =
            values.into_iter().map(|(value, rows)| Facet { value: value.to_owned(), rows }).collect();
        if facets.len() > MOST_CHOICES {
            facets.sort_by_key(|facet| std::cmp::Reverse(facet.rows));
            facets.truncate(MOST_CHOICES);
            facets.sort_by(|a, b| a.value.cmp(&b.value));
        }
        facets
    };
    Facets {
        categories: count(|row| row.category.as_deref()),
        agents: count(|row| Some(&row.agent.name)),
        models: count(|row| row.model.as_deref()),
        sets: count(|row| Some(&row.task_set.name)),
    }
}
