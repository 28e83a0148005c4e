//! A published table as rows: read-only, marked, never ranked. Its unit is the test case, so its rows have one task each and nothing can be told
//! from chance.

use super::record::RowTaskSet;
use super::row::{Attestation, Measured, RowRecord, RowSkill};
use crate::analysis::rank::{Fraction, Unranked};
use crate::plan::AgentRef;
use crate::published::{PublishedRow, PublishedTable, RowCheck};
use crate::stats::gain::normalized_gain;

/// The rows of a published table.
#[must_use]
pub fn published_rows(table: &PublishedTable) -> Vec<RowRecord> {
    table.rows.iter().map(|row| published(table, row)).collect()
}

fn published(table: &PublishedTable, row: &PublishedRow) -> RowRecord {
    let check = RowCheck::of(row);
    let (without, with) = (row.rate(row.passed_without), row.rate(row.passed_with));
    let skill = RowSkill { name: row.skill.clone(), owner: None, skill: None, version: None, number: None };
    RowRecord {
        key: format!("published-{}", row.skill),
        family: table.name.clone(),
        attestation: Attestation::Published { table: table.name.clone() },
        skills: vec![skill],
        category: None,
        agent: AgentRef::new(table.agent.clone(), ""),
        model: Some(table.model.clone()),
        task_set: RowTaskSet { name: table.name.clone(), tasks: None },
        measured: Measured {
            tasks: row.tasks,
            pairs: u64::from(row.tasks),
            without: Some(without),
            with: Some(with),
            delta: Some(check.delta),
            rho: check.rho,
            // How the tokens were rounded bounds ρ; of chance it says nothing, so it is no interval.
            rho_ci: None,
            quadrant: check.quadrant,
            tokens_per_solve: None,
            gain: normalized_gain(without, with),
            ..Measured::default()
        },
        exact_delta: Fraction::new(row.net(), i64::from(row.cases)),
        unranked: Some(Unranked::Published),
        evaluations: Vec::new(),
        date: None,
    }
}
