//! Which pairs of a result are looked at, and in which order: the filter of the paired matrix, as it stands in addresses. The matrix and the
//! links from pair to pair read the same, so that going on from a pair stays inside what was chosen.

use std::collections::HashMap;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::{PairedTrials, TaskReport};
use crate::condition::Flip;
use crate::id::TaskId;

/// Rows of the matrix that are shown at once.
pub const PAGE: usize = 50;

/// Pairs of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Complete, with this flip.
    Flip(Flip),
    /// Left out of Δ.
    Incomplete,
}

/// In which order tasks stand.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// As planned.
    #[default]
    Plan,
    /// By name.
    Name,
    /// Greatest loss first.
    Harm,
    /// Greatest gain first.
    Gain,
    /// Greatest growth of tokens first.
    Tokens,
}

/// What is looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct View {
    /// Only tasks with such a pair; `None` = all.
    pub kind: Option<Kind>,
    /// In which order.
    pub order: Order,
    /// Whether tasks of one group stand together.
    pub grouped: bool,
    /// From 1.
    pub page: usize,
}

/// One page of the matrix.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MatrixPage {
    /// What was asked for, with the page that there is.
    pub view: View,
    /// Tasks on it, each with its group where there are groups.
    pub rows: Vec<(Option<String>, TaskReport)>,
    /// Tasks that the filter leaves.
    pub tasks: usize,
    /// Tasks in all.
    pub of: usize,
    /// Pages in all, at least 1.
    pub pages: usize,
    /// Whether there are groups to stand together.
    pub has_groups: bool,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 5] = [
        Self::Flip(Flip::Rescued),
        Self::Flip(Flip::Broken),
        Self::Flip(Flip::Both),
        Self::Flip(Flip::Neither),
        Self::Incomplete,
    ];

    /// The word in addresses.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Flip(flip) => flip.word(),
            Self::Incomplete => "incomplete",
        }
    }

    /// The flip; `None` for incomplete pairs.
    #[must_use]
    pub const fn flip(self) -> Option<Flip> {
        match self {
            Self::Flip(flip) => Some(flip),
            Self::Incomplete => None,
        }
    }

    /// Whether a pair is of this kind.
    #[must_use]
    pub fn holds(self, pair: &PairedTrials) -> bool {
        pair.flip == self.flip()
    }
}

impl Order {
    /// All orders.
    pub const ALL: [Self; 5] = [Self::Plan, Self::Name, Self::Harm, Self::Gain, Self::Tokens];

    /// The word in addresses.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Name => "name",
            Self::Harm => "harm",
            Self::Gain => "gain",
            Self::Tokens => "tokens",
        }
    }
}

impl View {
    /// Reads an address's query, with or without its `?`. What is not known is ignored.
    #[must_use]
    pub fn from_query(query: &str) -> Self {
        let mut view = Self { page: 1, ..Self::default() };
        for (name, value) in query.trim_start_matches('?').split('&').filter_map(|part| part.split_once('=')) {
            match name {
                "flip" => view.kind = Kind::ALL.into_iter().find(|kind| kind.word() == value),
                "sort" => view.order = Order::ALL.into_iter().find(|order| order.word() == value).unwrap_or_default(),
                "group" => view.grouped = value == "yes",
                "page" => view.page = value.parse().unwrap_or(1).max(1),
                _ => {}
            }
        }
        view
    }

    /// The query of an address, with its `?`; empty for all pairs as planned.
    #[must_use]
    pub fn query(&self) -> String {
        let mut query = String::new();
        let mut add = |name: &str, value: &str| {
            let _ = write!(query, "{}{name}={value}", if query.is_empty() { '?' } else { '&' });
        };
        if let Some(kind) = self.kind {
            add("flip", kind.word());
        }
        if self.order != Order::Plan {
            add("sort", self.order.word());
        }
        if self.grouped {
            add("group", "yes");
        }
        if self.page > 1 {
            add("page", &self.page.to_string());
        }
        query
    }

    /// The same on its first page, with another filter.
    #[must_use]
    pub const fn of_kind(self, kind: Option<Kind>) -> Self {
        Self { kind, page: 1, ..self }
    }

    /// The same on its first page, in another order.
    #[must_use]
    pub const fn ordered(self, order: Order) -> Self {
        Self { order, page: 1, ..self }
    }

    /// The tasks that are looked at, in order. `groups` names the group of a task, where it has one.
    #[must_use]
    pub fn tasks<'a>(&self, tasks: &'a [TaskReport], groups: &HashMap<TaskId, String>) -> Vec<&'a TaskReport> {
        let wanted = |task: &&TaskReport| self.kind.is_none_or(|kind| task.pairs.iter().any(|pair| kind.holds(pair)));
        let mut chosen: Vec<&TaskReport> = tasks.iter().filter(wanted).collect();
        // Sorting is stable: equals keep the plan's order. Unknown values stand last.
        match self.order {
            Order::Plan => {}
            Order::Name => chosen.sort_by(|a, b| a.task.cmp(&b.task)),
            Order::Harm => chosen.sort_by(|a, b| key(a.delta, 1.0).total_cmp(&key(b.delta, 1.0))),
            Order::Gain => chosen.sort_by(|a, b| key(a.delta, -1.0).total_cmp(&key(b.delta, -1.0))),
            Order::Tokens => chosen.sort_by(|a, b| key(growth(a), -1.0).total_cmp(&key(growth(b), -1.0))),
        }
        if self.grouped {
            // Tasks without a group stand last.
            chosen.sort_by_key(|task| groups.get(&task.task_id).map_or((true, ""), |group| (false, group.as_str())));
        }
        chosen
    }

    /// The pairs that are looked at, in order.
    #[must_use]
    pub fn pairs(&self, tasks: &[TaskReport], groups: &HashMap<TaskId, String>) -> Vec<(TaskId, u32)> {
        let of_task = |task: &TaskReport| -> Vec<(TaskId, u32)> {
            let wanted = |pair: &&PairedTrials| self.kind.is_none_or(|kind| kind.holds(pair));
            task.pairs.iter().filter(wanted).map(|pair| (task.task_id, pair.repeat)).collect()
        };
        self.tasks(tasks, groups).into_iter().flat_map(of_task).collect()
    }

    /// One page of the matrix.
    #[must_use]
    pub fn matrix(&self, tasks: &[TaskReport], groups: &HashMap<TaskId, String>) -> MatrixPage {
        let chosen = self.tasks(tasks, groups);
        let pages = chosen.len().div_ceil(PAGE).max(1);
        let page = self.page.clamp(1, pages);
        let rows = chosen.iter().skip((page - 1) * PAGE).take(PAGE);
        MatrixPage {
            view: Self { page, ..*self },
            rows: rows.map(|task| (groups.get(&task.task_id).cloned(), (*task).clone())).collect(),
            tasks: chosen.len(),
            of: tasks.len(),
            pages,
            has_groups: !groups.is_empty(),
        }
    }
}

/// To sort by: the value in the wanted direction, unknown last.
fn key(value: Option<f64>, direction: f64) -> f64 {
    value.map_or(f64::INFINITY, |value| value * direction)
}

fn growth(task: &TaskReport) -> Option<f64> {
    task.tokens_with.zip(task.tokens_without).map(|(with, without)| with / without)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::condition::Pair;

    fn task(id: i64, name: &str, flips: &[Option<Flip>]) -> TaskReport {
        let share = |passed: fn(Flip) -> bool| {
            let known: Vec<Flip> = flips.iter().flatten().copied().collect();
            (!known.is_empty()).then(|| known.iter().filter(|flip| passed(**flip)).count() as f64 / known.len() as f64)
        };
        let with = share(|flip| matches!(flip, Flip::Both | Flip::Rescued));
        let without = share(|flip| matches!(flip, Flip::Both | Flip::Broken));
        TaskReport {
            task: name.to_owned(),
            task_id: TaskId(id),
            pairs: (1..)
                .zip(flips)
                .map(|(repeat, flip)| PairedTrials {
                    repeat,
                    trials: Pair { without: None, with: None },
                    passed: Pair { without: None, with: None },
                    reward: Pair { without: None, with: None },
                    tokens: Pair { without: None, with: None },
                    flip: *flip,
                    void: None,
                })
                .collect(),
            pairs_complete: flips.iter().flatten().count() as u64,
            pass_rate_with: with,
            pass_rate_without: without,
            delta: with.zip(without).map(|(with, without)| with - without),
            tokens_with: None,
            tokens_without: None,
            activated: None,
        }
    }

    fn tasks() -> Vec<TaskReport> {
        vec![
            task(1, "b", &[Some(Flip::Rescued), Some(Flip::Both)]),
            task(2, "a", &[Some(Flip::Broken), Some(Flip::Broken)]),
            task(3, "d", &[None, None]),
            task(4, "c", &[Some(Flip::Neither), Some(Flip::Rescued)]),
        ]
    }

    #[test]
    fn queries_come_back_and_unknown_parts_are_ignored() {
        for query in ["", "?flip=rescued", "?sort=harm", "?flip=incomplete&sort=tokens&group=yes&page=3"] {
            assert_eq!(View::from_query(query).query(), query);
        }
        assert_eq!(View::from_query("?flip=x&sort=&page=-1&refresh=10&group=no").query(), "");
    }

    #[test]
    fn the_filter_and_the_order_decide_the_pairs() {
        let groups: HashMap<TaskId, String> =
            [(4, "x"), (2, "x"), (1, "y")].into_iter().map(|(id, name)| (TaskId(id), name.to_owned())).collect();
        for (query, expected) in [
            ("", vec![(1, 1), (1, 2), (2, 1), (2, 2), (3, 1), (3, 2), (4, 1), (4, 2)]),
            ("?flip=rescued", vec![(1, 1), (4, 2)]),
            ("?flip=rescued&sort=name", vec![(1, 1), (4, 2)]),
            ("?flip=incomplete", vec![(3, 1), (3, 2)]),
            ("?flip=both&sort=harm", vec![(1, 2)]),
            ("?sort=harm", vec![(2, 1), (2, 2), (1, 1), (1, 2), (4, 1), (4, 2), (3, 1), (3, 2)]),
            ("?sort=gain", vec![(1, 1), (1, 2), (4, 1), (4, 2), (2, 1), (2, 2), (3, 1), (3, 2)]),
            ("?group=yes&sort=name", vec![(2, 1), (2, 2), (4, 1), (4, 2), (1, 1), (1, 2), (3, 1), (3, 2)]),
        ] {
            let pairs: Vec<(i64, u32)> = View::from_query(query)
                .pairs(&tasks(), &groups)
                .into_iter()
                .map(|(task, repeat)| (task.0, repeat))
                .collect();
            assert_eq!(pairs, expected, "{query}");
        }
    }

    #[test]
    fn a_page_too_far_is_the_last_one() {
        let many: Vec<TaskReport> = (1..=121).map(|id| task(id, "t", &[Some(Flip::Both)])).collect();
        let page = View::from_query("?page=9").matrix(&many, &HashMap::new());
        assert_eq!((page.view.page, page.pages, page.rows.len(), page.tasks, page.of), (3, 3, 21, 121, 121));
        let none = View::from_query("?flip=broken").matrix(&many, &HashMap::new());
        assert_eq!((none.view.page, none.pages, none.rows.len(), none.tasks, none.of), (1, 1, 0, 0, 121));
    }
}
