//! Two traces of one task laid side by side: which step of one stands beside which of the other, how each pair of them differs, and
//! where the first difference is. Says what was observed first, never what caused what.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

mod align;
mod command;
mod gotoh;
mod normal;
mod unit;

#[cfg(test)]
mod tests;

pub use unit::UnitRef;

use crate::condition::Pair;
use crate::trace::Trace;
use align::{Item, Place, align};
use unit::{Unit, units};

/// How the two sides of a row differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RowClass {
    /// The same call with the same answer, or the same words.
    Same,
    /// Words that differ, beside the same kind of step: style, not a decision.
    WordsDiffer,
    /// The same call, another answer.
    ResultDiffers,
    /// The same tool, used otherwise.
    ArgumentsDiffer,
    /// Both arms did it, at places that do not stand side by side.
    Moved,
    /// Only the no-skill trial did it.
    OnlyWithout,
    /// Only the with-skill trial did it.
    OnlyWith,
}

impl RowClass {
    /// All, from the least to the most telling.
    pub const ALL: [Self; 7] = [
        Self::Same,
        Self::WordsDiffer,
        Self::ResultDiffers,
        Self::ArgumentsDiffer,
        Self::Moved,
        Self::OnlyWithout,
        Self::OnlyWith,
    ];

    /// The word used in URLs and JSON.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::WordsDiffer => "words-differ",
            Self::ResultDiffers => "result-differs",
            Self::ArgumentsDiffer => "arguments-differ",
            Self::Moved => "moved",
            Self::OnlyWithout => "only-without",
            Self::OnlyWith => "only-with",
        }
    }

    /// Whether the agents decided differently here: another call, or one that only one of them made.
    #[must_use]
    pub const fn is_decision(self) -> bool {
        match self {
            Self::Same | Self::WordsDiffer | Self::ResultDiffers => false,
            Self::ArgumentsDiffer | Self::Moved | Self::OnlyWithout | Self::OnlyWith => true,
        }
    }
}

/// What stands side by side; at least one side is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiffRow {
    /// How the sides differ.
    pub class: RowClass,
    /// Where each side lies in its trace.
    pub sides: Pair<Option<UnitRef>>,
    /// Whether it is a tool call, and not words alone.
    pub is_call: bool,
    /// For [`RowClass::Moved`]: index of the row that holds the other side.
    pub twin: Option<usize>,
    /// A skill is opened here, by either side.
    pub opens_skill: bool,
    /// Tests are run here, by either side.
    pub is_test_run: bool,
    /// The best alignment was looked for near the diagonal only: the stretch was too long for more.
    pub approximate: bool,
}

/// Two traces, aligned.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceDiff {
    /// In order; every step of either trace is in exactly one row, every call in its own.
    pub rows: Vec<DiffRow>,
}

impl TraceDiff {
    /// Aligns two traces. Time grows with the sum of their lengths where they share unique steps, with the product of the stretches
    /// between where not, and is bounded by a band of ±500 steps above 25 million cells.
    #[must_use]
    pub fn compute(traces: Pair<&Trace>) -> Self {
        let units = traces.map(units);
        let mut numbers = Numbers::default();
        let left = items(&units.without, &mut numbers);
        let right = items(&units.with, &mut numbers);
        let mut rows: Vec<DiffRow> =
            align(&left, &right).iter().filter_map(|place| row(place, &units.without, &units.with)).collect();
        find_moved(&mut rows, &units);
        Self { rows }
    }

    /// The first row in which the agents decided differently. Words alone are not a decision.
    #[must_use]
    pub fn first_decision(&self) -> Option<usize> {
        self.rows.iter().position(|row| row.is_call && row.class.is_decision())
    }

    /// The first run of tests that both made and that answered differently.
    #[must_use]
    pub fn first_test_difference(&self) -> Option<usize> {
        self.rows.iter().position(|row| row.is_test_run && row.class == RowClass::ResultDiffers)
    }
}

/// Numbers for texts: equal texts get equal numbers.
#[derive(Default)]
struct Numbers(BTreeMap<String, u32>);

impl Numbers {
    fn of(&mut self, text: &str) -> u32 {
        let next = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
        match self.0.get(text) {
            Some(number) => *number,
            None => *self.0.entry(text.to_owned()).or_insert(next),
        }
    }
}

fn items(units: &[Unit], numbers: &mut Numbers) -> Vec<Item> {
    let mut changed = std::collections::BTreeSet::new();
    let mut test_runs = 0;
    let mut item = |unit: &Unit| {
        let landmark = match &unit.changes {
            Some(file) => changed.insert(file.clone()).then(|| format!("\u{1}first change {file}")),
            None => unit.is_test_run.then(|| {
                test_runs += 1;
                format!("\u{1}test run {test_runs}")
            }),
        };
        let mut features: Vec<u32> =
            unit.features.iter().map(|feature| numbers.of(&format!("\u{2}{feature}"))).collect();
        features.sort_unstable();
        features.dedup();
        Item {
            key: numbers.of(&unit.key),
            kind: numbers.of(&format!("\u{3}{}", unit.kind)),
            features,
            landmark: landmark.map(|landmark| numbers.of(&landmark)),
        }
    };
    units.iter().map(&mut item).collect()
}

fn row(place: &Place, left: &[Unit], right: &[Unit]) -> Option<DiffRow> {
    let without = place.left.and_then(|index| left.get(index));
    let with = place.right.and_then(|index| right.get(index));
    let class = match (without, with) {
        (Some(one), Some(other)) => paired(one, other),
        (Some(_), None) => RowClass::OnlyWithout,
        (None, Some(_)) => RowClass::OnlyWith,
        (None, None) => return None,
    };
    let any = |of: fn(&Unit) -> bool| without.is_some_and(of) || with.is_some_and(of);
    Some(DiffRow {
        class,
        sides: Pair { without: without.map(|unit| unit.at), with: with.map(|unit| unit.at) },
        is_call: any(|unit| unit.is_call),
        twin: None,
        opens_skill: any(|unit| unit.opens_skill),
        is_test_run: any(|unit| unit.is_test_run),
        approximate: place.approximate,
    })
}

fn paired(one: &Unit, other: &Unit) -> RowClass {
    match (one.key == other.key, one.is_call && other.is_call) {
        (true, true) if one.result != other.result => RowClass::ResultDiffers,
        (true, _) => RowClass::Same,
        (false, true) => RowClass::ArgumentsDiffer,
        (false, false) => RowClass::WordsDiffer,
    }
}

/// Calls with one key that stand alone on either side are the same call at another time.
fn find_moved(rows: &mut [DiffRow], units: &Pair<Vec<Unit>>) {
    let keys = units.map_ref(|units| units.iter().map(|unit| (unit.at, unit.key.as_str())).collect::<BTreeMap<_, _>>());
    let mut waiting: BTreeMap<&str, VecDeque<usize>> = BTreeMap::new();
    let alone = |row: &DiffRow| row.is_call && matches!(row.class, RowClass::OnlyWithout | RowClass::OnlyWith);
    for (index, row) in rows.iter().enumerate().filter(|(_, row)| alone(row)) {
        if let Some(key) = row.sides.without.and_then(|at| keys.without.get(&at)) {
            waiting.entry(key).or_default().push_back(index);
        }
    }
    let mut twins = Vec::new();
    for (index, row) in rows.iter().enumerate().filter(|(_, row)| alone(row)) {
        let key = row.sides.with.and_then(|at| keys.with.get(&at));
        if let Some(other) = key.and_then(|key| waiting.get_mut(key)?.pop_front()) {
            twins.extend([(index, other), (other, index)]);
        }
    }
    for (index, twin) in twins {
        if let Some(row) = rows.get_mut(index) {
            row.class = RowClass::Moved;
            row.twin = Some(twin);
        }
    }
}
