//! Rows in order of a column. The unknown stands last either way; equals keep the order of Δ, so every page shows the same rows again.

use std::cmp::Ordering;

use super::column::Column;
use super::query::Sort;
use super::row::{LeaderboardRow, Says};
use crate::analysis::rank::Direction;
use crate::stats::quadrant::Quadrant;

/// Columns that are sorted by their text.
const TEXTS: [Column; 6] =
    [Column::Skill, Column::Author, Column::Category, Column::Agent, Column::Set, Column::Source];

/// For each column of text the place of each row in its order, made once, since texts take long to compare; equal texts have equal places.
#[derive(Debug, Default)]
pub(super) struct TextPlaces(Vec<(Column, Vec<Option<u32>>)>);

impl TextPlaces {
    /// Of these rows.
    pub(super) fn of(rows: &[LeaderboardRow]) -> Self {
        Self(TEXTS.map(|column| (column, places(column, rows))).to_vec())
    }

    fn of_column(&self, column: Column) -> &[Option<u32>] {
        self.0.iter().find(|(other, _)| *other == column).map_or(&[], |(_, places)| places)
    }
}

fn places(column: Column, rows: &[LeaderboardRow]) -> Vec<Option<u32>> {
    let texts: Vec<Option<String>> = rows.iter().map(|row| text(column, row).map(|text| text.to_lowercase())).collect();
    let mut known: Vec<&String> = texts.iter().flatten().collect();
    known.sort_unstable();
    known.dedup();
    let place = |text: &String| u32::try_from(known.binary_search(&text).ok()?).ok();
    texts.iter().map(|text| place(text.as_ref()?)).collect()
}

/// Sorts places of `rows`, which are in order of Δ.
pub(super) fn sort(found: &mut [usize], rows: &[LeaderboardRow], texts: &TextPlaces, sort: Sort) {
    let by = |key: &dyn Fn(usize) -> Option<f64>, found: &mut [usize]| {
        found.sort_by(|a, b| known_first(key(*a), key(*b), sort.direction));
    };
    match number(sort.column) {
        Some(of) => by(&|at| rows.get(at).and_then(of), found),
        None => {
            let places = texts.of_column(sort.column);
            by(&|at| places.get(at).copied().flatten().map(f64::from), found);
        }
    }
}

fn known_first(a: Option<f64>, b: Option<f64>, direction: Direction) -> Ordering {
    match (a, b, direction) {
        (Some(a), Some(b), Direction::Ascending) => a.total_cmp(&b),
        (Some(a), Some(b), Direction::Descending) => b.total_cmp(&a),
        (a, b, _) => b.is_some().cmp(&a.is_some()),
    }
}

type Number = fn(&LeaderboardRow) -> Option<f64>;

/// What a column is sorted by, where that is a number.
fn number(column: Column) -> Option<Number> {
    let of: Number = match column {
        Column::Tier => |row| row.standing.tier.map(f64::from),
        Column::Size => |row| Some(f64::from(row.record.measured.tasks)),
        Column::Without => |row| row.record.measured.without,
        Column::With => |row| row.record.measured.with,
        Column::Delta => |row| row.record.measured.delta,
        Column::Verdict => |row| verdict(row.says()),
        Column::Opened => |row| row.record.measured.opened_rate(),
        Column::Rho => |row| row.record.measured.rho,
        Column::Quadrant => |row| row.record.measured.quadrant.map(quadrant),
        Column::Tokens => |row| row.record.measured.tokens_per_solve,
        Column::Money => |row| row.record.measured.money_per_solve,
        Column::Gain => |row| row.record.measured.gain,
        Column::Errors => |row| row.record.measured.error_rate(),
        Column::Holm => |row| row.standing.p_holm,
        Column::Q => |row| row.standing.q_bh,
        Column::Date => |row| row.record.date.map(|at| at.0 as f64),
        Column::Skill | Column::Author | Column::Category | Column::Agent | Column::Set | Column::Source => {
            return None;
        }
    };
    Some(of)
}

fn text(column: Column, row: &LeaderboardRow) -> Option<String> {
    let record = &row.record;
    match column {
        Column::Author => record.author(),
        Column::Category => record.category.clone(),
        Column::Agent => Some(record.actor()),
        Column::Set => Some(record.task_set.name.clone()),
        Column::Source => Some(record.attestation.word().to_owned()),
        _ => Some(record.skill_names()),
    }
}

/// The best is the greatest.
fn verdict(says: Says) -> Option<f64> {
    match says {
        Says::Improves => Some(4.0),
        Says::NoEffect => Some(3.0),
        Says::Inconclusive => Some(2.0),
        Says::CannotBeResolved => Some(1.0),
        Says::Harms => Some(0.0),
        Says::NoResult => None,
    }
}

/// Better before cheaper; the best is the greatest.
const fn quadrant(quadrant: Quadrant) -> f64 {
    match quadrant {
        Quadrant::Dominant => 6.0,
        Quadrant::BetterDearer => 5.0,
        Quadrant::NullCheaper => 4.0,
        Quadrant::Null => 3.0,
        Quadrant::NullDearer => 2.0,
        Quadrant::CheaperWorse => 1.0,
        Quadrant::Dominated => 0.0,
    }
}
