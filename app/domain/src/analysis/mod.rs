//! The whole analysis of a results file, by the same arithmetic as an evaluation's own report; and rows pooled from several evaluations.

mod cases;
mod detail;
mod group;
mod looks;
mod measuring;
pub mod pool;
pub mod rank;
mod row;
mod rows;
mod tasks;
mod trouble;
mod units;

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use cases::{CASES_WARNING, TestCaseTotals};
pub use detail::{GroupDelta, MoreOf, ResultDetail, TaskLabels, detail};
pub use group::GroupKey;
pub use measuring::MeasuringCases;
pub use row::{CaseResults, FileTrial, Outcome};
pub use rows::AnalysisRow;
pub use tasks::{ActivatedOnly, AnalysisTask, IncompletePair};
pub use trouble::{ErrorRates, TrialTally};
pub use units::{ClusteredDelta, clustered};

use self::group::{Group, Grouped, group};
use crate::finding::Finding;
use crate::report::totals::{counts, token_sums};
use crate::report::{Headline, Scope, TaskReport, Totals, TrialRecord, headline_of};
use crate::stats::alpha::Alpha;
use crate::stats::delta::DeltaEstimate;
use crate::stats::gain::{complier_effect, normalized_gain};
use crate::stats::variance::VarianceSplit;

/// Version of the JSON's shape.
pub const SCHEMA: &str = "skilldelta.analysis.v1";

/// Trials as a file tells of them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TrialTable {
    /// Row by row.
    pub trials: Vec<FileTrial>,
    /// What was noticed while reading; no errors.
    pub findings: Vec<Finding>,
    /// What the token totals add up, such as `input + output`; `None` where the file tells of no tokens.
    pub tokens_are: Option<String>,
}

/// What a whole file shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Analysis {
    /// [`SCHEMA`].
    pub schema: String,
    /// The file's name.
    pub file: String,
    /// The unit that the verdict on `totals` counts: `task`, or `skill` where there are several skills, so that tasks of one skill are not taken
    /// for independent.
    pub unit: String,
    /// How the trials ended.
    pub trials: TrialTally,
    /// Over all complete pairs. With several skills, interval, p and verdict are those of `clustered`.
    pub totals: Totals,
    /// The verdict in words.
    pub headline: Headline,
    /// With tasks of one cluster (or skill) taken together; `None` where every task stands alone.
    pub clustered: Option<ClusteredDelta>,
    /// Δ ÷ what could be gained (statistics F14); `null` at ceiling.
    pub normalized_gain: Option<f64>,
    /// Secondary and selection-biased: pairs whose with-skill trial opened the skill.
    pub activated_only: Option<ActivatedOnly>,
    /// Δ ÷ activation rate.
    pub complier_effect: Option<f64>,
    /// The other unit, where the file tells of test cases.
    pub test_cases: Option<TestCaseTotals>,
    /// Whether trouble hit both arms alike; `None` where nothing was in trouble.
    pub error_rates: Option<ErrorRates>,
    /// Whether more tasks or more repeats would help; `None` without tasks that were repeated.
    pub variance: Option<VarianceSplit>,
    /// What the token totals add up.
    pub tokens_are: Option<String>,
    /// One for each skill × agent × model.
    pub rows: Vec<AnalysisRow>,
    /// Task by task.
    pub tasks: Vec<AnalysisTask>,
    /// Pairs left out of Δ, with the reason.
    pub incomplete_pairs: Vec<IncompletePair>,
    /// Tasks without a single scored trial.
    pub tasks_without_result: Vec<String>,
    /// What was noticed.
    pub findings: Vec<Finding>,
}

/// Analyses the trials of a file.
///
/// # Errors
/// Findings with place and remedy, where rows contradict each other.
pub fn analyze(file: &str, table: TrialTable) -> Result<Analysis, Vec<Finding>> {
    if table.trials.is_empty() {
        let message = "there are no trials in it";
        return Err(vec![Finding::error("no_trials", file, message).hint("write one line for each trial")]);
    }
    let Grouped { groups, findings, superseded, unused_baselines } = group(file, &table.trials)?;
    let trials = TrialTally { superseded, unused_baselines, ..TrialTally::of(&table.trials) };
    let records = || groups.iter().flat_map(|group| &group.records);
    let mut all_tasks = Vec::new();
    let tasks: &[TaskReport] = match groups.as_slice() {
        [group] => &group.tasks,
        several => {
            several.iter().for_each(|group| all_tasks.extend_from_slice(&group.tasks));
            &all_tasks
        }
    };
    let unit = unit(&groups);
    let rows = rows::rows(&groups);
    let (mut totals, several) = match rows.as_slice() {
        [row] => (row.totals.clone(), None),
        _ => Totals::with_estimate(tasks, records()),
    };
    let clustered = match (unit, rows.as_slice()) {
        ("task", [row]) => row.clustered.clone(),
        _ => several.and_then(|plain| across(unit, &groups, &plain)),
    };
    if groups.len() > 1 {
        judge_across(&mut totals, clustered.as_ref(), unit, &groups);
    }
    let finished = records().all(|record| record.state.verdict().is_some());
    let one_repeat = groups.len() == 1 && tasks.iter().all(|task| task.pairs.len() <= 1);
    let gain = totals.pass_rate_without.zip(totals.pass_rate_with);
    let opened = (totals.activation_known > 0).then(|| totals.activated as f64 / totals.activation_known as f64);
    let mut analysis = Analysis {
        schema: SCHEMA.to_owned(),
        file: file.to_owned(),
        unit: unit.to_owned(),
        trials,
        headline: headline_of(&totals, Scope { finished, one_repeat, unit }),
        clustered,
        normalized_gain: gain.and_then(|(without, with)| normalized_gain(without, with)),
        activated_only: tasks::activated_only(&groups),
        complier_effect: totals.delta.zip(opened).and_then(|(delta, rate)| complier_effect(delta, rate)),
        test_cases: cases::test_cases(&groups),
        error_rates: ErrorRates::of(records()),
        variance: VarianceSplit::of(&counts(tasks)),
        tokens_are: table.tokens_are,
        tasks: tasks::tasks(&groups),
        incomplete_pairs: tasks::incomplete(&groups),
        tasks_without_result: tasks::without_result(&groups),
        findings: table.findings.into_iter().chain(findings).collect(),
        rows,
        totals,
    };
    tell(&mut analysis, file, records());
    Ok(analysis)
}

/// Tasks of one skill are alike, and so are the same task's results with several models: the larger thing is then the unit.
fn unit(groups: &[Group]) -> &'static str {
    let several_skills = groups.windows(2).any(|pair| matches!(pair, [a, b] if a.key.skill != b.key.skill));
    if several_skills { "skill" } else { "task" }
}

/// Δ over all groups, clustered by skill, or by task where only agents and models differ.
fn across(unit: &str, groups: &[Group], plain: &DeltaEstimate) -> Option<ClusteredDelta> {
    let labelled: Vec<(&str, f64)> = groups
        .iter()
        .flat_map(|group| group.tasks.iter().map(move |task| (group, task)))
        .filter_map(|(group, task)| {
            let label = if unit == "skill" { group.key.skill.as_deref().unwrap_or_default() } else { &task.task };
            Some((label, task.delta?))
        })
        .collect();
    clustered(unit, &labelled, plain)
}

/// Pairs of several skills are never summed up as if they were independent (statistics rule 8).
fn judge_across(totals: &mut Totals, clustered: Option<&ClusteredDelta>, unit: &str, groups: &[Group]) {
    totals.delta_ci = clustered.and_then(|clustered| clustered.ci);
    totals.p_value = clustered.map(|clustered| clustered.p_value);
    (totals.p_mid, totals.delta_ci_newcombe) = (None, None);
    totals.verdict = clustered.and_then(|clustered| clustered.verdict);
    if unit == "skill" {
        totals.rho_ci = rho_ci(groups);
    }
}

fn rho_ci(groups: &[Group]) -> Option<crate::stats::interval::Interval> {
    use crate::condition::Pair;
    let mut sums: std::collections::BTreeMap<&str, Pair<f64>> = std::collections::BTreeMap::new();
    for group in groups {
        let sum = sums.entry(group.key.skill.as_deref().unwrap_or_default()).or_default();
        for task in token_sums(&group.tasks) {
            sum.with += task.with;
            sum.without += task.without;
        }
    }
    let known: Vec<Pair<f64>> = sums.into_values().filter(|sum| sum.without > 0.0).collect();
    crate::stats::ratio::ratio(&known, Alpha::FIVE_PERCENT)?.interval()
}

fn tell<'a>(analysis: &mut Analysis, file: &str, records: impl Iterator<Item = &'a TrialRecord>) {
    let idle =
        records.filter(|record| record.scored().is_some()).filter_map(|record| record.result.as_ref()?.usage.total());
    let idle = idle.filter(|tokens| *tokens == 0).count();
    if idle > 0 {
        let message = format!("{idle} finished trials used 0 tokens: suspect, and left out of ρ");
        analysis.findings.push(
            Finding::warning("zero_tokens", file, message).hint("leave the field empty where the count is unknown"),
        );
    }
    if let Some(rates) = analysis.error_rates.filter(|rates| rates.differ) {
        let message = format!(
            "trouble did not hit both arms alike: {} of {} no-skill trials and {} of {} with-skill trials (Fisher p {:.3}); what was left out may bias Δ",
            rates.troubled_without, rates.trials_without, rates.troubled_with, rates.trials_with, rates.p_value
        );
        analysis.findings.push(
            Finding::warning("error_rates_differ", file, message).hint("run the troubled trials again, in both arms"),
        );
    }
    if let Some(warning) =
        analysis.clustered.as_ref().map(ClusteredDelta::warning).filter(|warning| !warning.is_empty())
    {
        analysis.findings.push(Finding::warning("few_clusters", file, warning));
    }
    let disagree = |row: &AnalysisRow| match (&row.clustered, &row.totals.verdict) {
        (Some(clustered), Some(plain)) => clustered.verdict.is_some_and(|verdict| verdict.word() != plain.word()),
        _ => false,
    };
    let decided: Vec<String> =
        analysis.rows.iter().filter(|row| disagree(row)).map(|row| row.key.to_string()).collect();
    if !decided.is_empty() {
        let of_which = if analysis.rows.len() > 1 { format!(" for {}", decided.join(", ")) } else { String::new() };
        let message = format!(
            "with tasks of one cluster taken together the verdict is another{of_which}: believe the clustered one"
        );
        analysis.findings.push(Finding::warning("clusters_decide", file, message));
    }
}
