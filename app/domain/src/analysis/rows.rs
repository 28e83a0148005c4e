//! One line for each skill × agent × model of a results file, with p adjusted for looking at many.

use serde::{Deserialize, Serialize};

use super::cases::{TestCaseTotals, test_cases};
use super::group::{Group, GroupKey};
use super::rank::{Contender, Fraction, Place, Unranked, places};
use super::trouble::ErrorRates;
use super::units::{ClusteredDelta, clustered};
use crate::demonstration::Demonstration;
use crate::report::{Headline, Scope, Totals, headline_of};
use crate::stats::alpha::Alpha;
use crate::stats::delta::DeltaEstimate;
use crate::stats::mcnemar::smallest_p;
use crate::stats::multiple::{Row, benjamini_hochberg, holm_of_testable};
use crate::stats::verdict::{DeltaVerdict, VerdictRule};

/// The result of one skill × agent × model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AnalysisRow {
    /// Whose.
    #[serde(flatten)]
    pub key: GroupKey,
    /// Over its complete pairs; the verdict in it rests on the raw p.
    pub totals: Totals,
    /// The verdict in words.
    pub headline: Headline,
    /// With tasks of one cluster taken together, where the file tells of clusters.
    pub clustered: Option<ClusteredDelta>,
    /// The other unit, where the file tells of test cases.
    pub test_cases: Option<TestCaseTotals>,
    /// Whether trouble hit both arms alike; `None` where nothing was in trouble.
    pub error_rates: Option<ErrorRates>,
    /// Holm's adjusted p among the rows that could reach α; `None` for a row that could not.
    pub p_holm: Option<f64>,
    /// Rows in that family.
    pub family: u32,
    /// Benjamini and Hochberg's q over all rows.
    pub q_bh: Option<f64>,
    /// The verdict by `p_holm`; `None` for a row that left the family.
    pub verdict_holm: Option<DeltaVerdict>,
    /// Whether it may be ranked.
    pub ranked: bool,
    /// Why not.
    pub unranked: Option<Unranked>,
    /// Rank and tier.
    #[serde(flatten)]
    pub place: Place,
}

/// A line for each group, in their order.
pub(super) fn rows(groups: &[Group]) -> Vec<AnalysisRow> {
    let (mut rows, estimates): (Vec<AnalysisRow>, Vec<Option<DeltaEstimate>>) = groups.iter().map(row).unzip();
    adjust(&mut rows, &estimates);
    let contenders: Vec<Contender> =
        rows.iter().zip(groups).zip(0..).map(|((row, group), id)| contender(row, group, id)).collect();
    rows.iter_mut().zip(places(&contenders)).for_each(|(row, place)| row.place = place);
    rows
}

fn row(group: &Group) -> (AnalysisRow, Option<DeltaEstimate>) {
    let (totals, estimate) = Totals::with_estimate(&group.tasks, &group.records);
    let agent = group.key.agent.as_deref().unwrap_or_default();
    let unranked = Unranked::of(&totals, Demonstration::of(agent, group.scripted));
    let finished = group.records.iter().all(|record| record.state.verdict().is_some());
    let one_repeat = group.tasks.iter().all(|task| task.pairs.len() <= 1);
    let row = AnalysisRow {
        key: group.key.clone(),
        headline: headline_of(&totals, Scope { finished, one_repeat, unit: "task" }),
        clustered: estimate.as_ref().and_then(|estimate| by_cluster(group, "cluster", estimate)),
        test_cases: test_cases([group]),
        error_rates: ErrorRates::of(&group.records),
        p_holm: None,
        family: 0,
        q_bh: None,
        verdict_holm: None,
        ranked: unranked.is_none(),
        unranked,
        place: Place::default(),
        totals,
    };
    (row, estimate)
}

/// With tasks of one cluster taken together; `None` where every task stands alone.
pub(super) fn by_cluster(group: &Group, unit: &str, plain: &DeltaEstimate) -> Option<ClusteredDelta> {
    if group.clusters.iter().all(Option::is_none) {
        return None;
    }
    let labelled: Vec<((bool, &str), f64)> = group
        .tasks
        .iter()
        .zip(&group.clusters)
        .filter_map(|(task, cluster)| {
            // A task without a label is a cluster of its own.
            let label = cluster.as_deref().map_or((false, task.task.as_str()), |cluster| (true, cluster));
            Some((label, task.delta?))
        })
        .collect();
    clustered(unit, &labelled, plain)
}

/// Rows without a p, or without a flip, stay in the families with p = 1.
fn adjust(rows: &mut [AnalysisRow], estimates: &[Option<DeltaEstimate>]) {
    let family: Vec<Row> = rows
        .iter()
        .map(|row| Row {
            p: row.totals.p_value.unwrap_or(1.0),
            smallest_p: smallest_p(u32::try_from(row.totals.tasks_complete).unwrap_or(u32::MAX)),
        })
        .collect();
    let q = benjamini_hochberg(&family.iter().map(|row| row.p).collect::<Vec<f64>>()).unwrap_or_default();
    let Some(family) = holm_of_testable(&family, Alpha::FIVE_PERCENT) else { return };
    for (((row, estimate), p), q) in rows.iter_mut().zip(estimates).zip(family.adjusted).zip(q) {
        row.q_bh = row.totals.p_value.map(|_| q);
        row.family = family.size;
        row.p_holm = p;
        row.verdict_holm = p
            .zip(estimate.as_ref())
            .map(|(p, estimate)| DeltaVerdict::adjusted(estimate, p, family.size, &VerdictRule::default()));
    }
}

fn contender(row: &AnalysisRow, group: &Group, id: i64) -> Contender {
    Contender {
        value: Fraction::of_tasks(&group.tasks),
        ci: row.totals.delta_ci,
        pairs: row.totals.pairs_complete,
        name: row.key.to_string(),
        id,
        ranked: row.ranked,
    }
}
