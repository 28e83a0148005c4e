//! Rows judged together: those made on one task set by one agent and model. Tiers, Holm's p for the verdict and Benjamini and Hochberg's q for
//! browsing (statistics §3.2) are theirs; rows made on other tasks, or with other models, are never set against each other (rule 10).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::row::{Attestation, RowRecord, Says};
use crate::analysis::rank::{Contender, Place, places};
use crate::stats::alpha::Alpha;
use crate::stats::mcnemar::smallest_p;
use crate::stats::multiple::{Row, benjamini_hochberg, holm_of_testable};
use crate::stats::verdict::{Adjustment, DeltaVerdict, VerdictRule};

/// A row among the rows of its family.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Standing {
    /// From 1, the best; `None` where the row has no place.
    pub tier: Option<u32>,
    /// Tiers in the family.
    pub tiers: u32,
    /// p after Holm's adjustment among the rows of the family that could reach α; `None` for a row that could not.
    pub p_holm: Option<f64>,
    /// How many rows those are.
    pub family_size: u32,
    /// Benjamini and Hochberg's q over all rows of the family that compete.
    pub q_bh: Option<f64>,
    /// What p and interval show: adjusted where the row competes, raw where it does not.
    pub says: Says,
    /// Whether the verdict rests on a p that was adjusted.
    pub adjusted: bool,
}

/// The standings of all rows, in the order given.
pub(super) fn standings(rows: &[RowRecord]) -> Vec<Standing> {
    let mut standings: Vec<Standing> = rows.iter().map(alone).collect();
    let mut families: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, row) in rows.iter().enumerate().filter(|(_, row)| row.attestation.competes()) {
        families.entry(&row.family).or_default().push(at);
    }
    for members in families.into_values() {
        let family: Vec<&RowRecord> = members.iter().filter_map(|at| rows.get(*at)).collect();
        for (at, standing) in members.iter().zip(judged(&family)) {
            if let Some(place) = standings.get_mut(*at) {
                *place = standing;
            }
        }
    }
    standings
}

/// A row that does not compete.
fn alone(row: &RowRecord) -> Standing {
    let says = row.says_alone();
    Standing { tier: None, tiers: 0, p_holm: None, family_size: 0, q_bh: None, says, adjusted: false }
}

impl RowRecord {
    /// What it shows by itself, as its evaluation's page says it: without regard to how many rows are compared.
    #[must_use]
    pub fn says_alone(&self) -> Says {
        match &self.attestation {
            // The table tells of tasks, and no outcome of so few could be told from chance; it tells no p.
            Attestation::Published { .. } if smallest_p(self.measured.tasks) > Alpha::FIVE_PERCENT.value() => {
                Says::CannotBeResolved
            }
            _ => {
                let raw = self.measured.estimate.map(|estimate| DeltaVerdict::raw(&estimate, &VerdictRule::default()));
                Says::of(raw.as_ref())
            }
        }
    }
}

fn judged(family: &[&RowRecord]) -> Vec<Standing> {
    let contenders: Vec<Contender> = family.iter().map(|row| row.contender()).collect();
    let places = places(&contenders);
    let tiers = places.iter().filter_map(|place| place.tier).max().unwrap_or(0);
    let tests: Vec<Row> = family
        .iter()
        .map(|row| Row {
            p: row.measured.estimate.map_or(1.0, |estimate| estimate.p_value),
            smallest_p: smallest_p(row.measured.tasks),
        })
        .collect();
    let p: Vec<f64> = tests.iter().map(|test| test.p).collect();
    let q = benjamini_hochberg(&p).unwrap_or_default();
    let (size, holm) = match holm_of_testable(&tests, Alpha::FIVE_PERCENT) {
        Some(family) => (family.size, family.adjusted),
        None => (0, vec![None; family.len()]),
    };
    // Rows that left the family could not have reached α among those that might have reached it alone.
    let possible = tests.iter().filter(|test| test.smallest_p <= Alpha::FIVE_PERCENT.value()).count();
    let possible = u32::try_from(possible).unwrap_or(u32::MAX).max(1);
    let rest = places.into_iter().zip(holm).zip(q);
    let standing = |(row, ((place, p_holm), q)): (&&RowRecord, ((Place, Option<f64>), f64))| {
        let verdict = row.measured.estimate.map(|estimate| {
            let (p, rows) = p_holm.map_or((1.0, possible), |p| (p, size));
            DeltaVerdict::adjusted(&estimate, p, rows, &VerdictRule::default())
        });
        Standing {
            tier: place.tier,
            tiers,
            p_holm,
            family_size: size,
            q_bh: row.measured.estimate.map(|_| q),
            says: Says::of(verdict.as_ref()),
            adjusted: verdict.is_some_and(|verdict| matches!(verdict.evidence().adjustment, Adjustment::Holm { .. })),
        }
    };
    family.iter().zip(rest).map(standing).collect()
}
