//! What is drawn of a finished evaluation: its numbers brought to the charts, each in both widths.

use charts::{Forest, ForestRow, Links, QuadrantPoint, Width};
use domain::analysis::GroupDelta;
use domain::condition::{Condition, Pair};
use domain::report::EvaluationReport;
use domain::report::number::counted;
use domain::stats::verdict::DeltaVerdict;

use super::ResultCharts;
use super::evaluations::Drawn;

/// All drawings of a result.
pub(super) fn charts(report: &EvaluationReport) -> ResultCharts {
    let tokens = tokens(report);
    let rows = forest_rows(report);
    let points = points(report);
    let names = report.comparison.kind.arms();
    let several = rows.len() > 2;
    let noise = report.noise_floor.as_ref().map(|noise| noise.band);
    let forest = Forest { id: "forest", title: "Δ by group of tasks", rows: &rows, noise };
    ResultCharts {
        dumbbell: (report.totals.pairs_complete > 0)
            .then(|| Width::BOTH.map(|width| charts::dumbbell(report, width, Links::Pairs))),
        forest: several.then(|| Width::BOTH.map(|width| charts::forest(&forest, width))),
        quadrant: both(|width| charts::quadrant(&points, width)),
        tokens: both(|width| charts::tokens(&tokens, names, width)),
        token_quartiles: tokens.map(quartiles),
    }
}

fn both(draw: impl Fn(Width) -> Option<String>) -> Option<Drawn> {
    let [wide, narrow] = Width::BOTH.map(draw);
    Some([wide?, narrow?])
}

/// The name of a group for people.
fn name(group: &GroupDelta) -> String {
    group.name.clone().unwrap_or_else(|| "no group".to_owned())
}

fn is_settled(verdict: &DeltaVerdict) -> bool {
    matches!(verdict, DeltaVerdict::Improves(_) | DeltaVerdict::Harms(_))
}

/// All tasks first, then group by group.
fn forest_rows(report: &EvaluationReport) -> Vec<ForestRow> {
    let totals = &report.totals;
    let all = ForestRow {
        label: "All tasks".to_owned(),
        n: counted(totals.tasks_complete, "task"),
        about: String::new(),
        delta: totals.delta.map(|delta| (delta, totals.delta_ci)),
        settled: totals.verdict.as_ref().is_some_and(is_settled),
        sum: true,
        href: None,
    };
    let groups = report.detail.iter().flat_map(|detail| &detail.groups);
    let row = |group: &GroupDelta| ForestRow {
        label: name(group),
        n: counted(group.tasks, "task"),
        about: String::new(),
        delta: Some((group.delta, Some(group.delta_ci))),
        settled: is_settled(&group.verdict),
        sum: false,
        href: None,
    };
    std::iter::once(all).chain(groups.map(row)).collect()
}

/// The groups first, so that the sum lies on top of them.
fn points(report: &EvaluationReport) -> Vec<QuadrantPoint> {
    let totals = &report.totals;
    let groups = report.detail.iter().flat_map(|detail| &detail.groups);
    let of_group = |group: &GroupDelta| {
        Some(QuadrantPoint {
            label: name(group),
            delta: group.delta,
            delta_ci: None,
            rho: group.rho?,
            rho_ci: None,
            settled: is_settled(&group.verdict),
            sum: false,
            href: None,
        })
    };
    let all = totals.delta.zip(totals.rho).map(|(delta, rho)| QuadrantPoint {
        label: "All tasks".to_owned(),
        delta,
        delta_ci: totals.delta_ci,
        rho,
        rho_ci: totals.rho_ci,
        settled: totals.verdict.as_ref().is_some_and(is_settled),
        sum: true,
        href: None,
    });
    let Some(all) = all else { return Vec::new() };
    groups.filter_map(of_group).chain([all]).collect()
}

/// Total tokens of the trials in pairs that can be compared.
fn tokens(report: &EvaluationReport) -> Pair<Vec<u64>> {
    let pairs = || report.tasks.iter().flat_map(|task| &task.pairs).filter_map(|pair| pair.comparable_tokens());
    let of = |condition: Condition| pairs().map(|pair| *pair.get(condition)).collect();
    Pair { without: of(Condition::NoSkill), with: of(Condition::WithSkill) }
}

/// Least, quarter, half, three quarters, most.
fn quartiles(mut tokens: Vec<u64>) -> Option<[u64; 5]> {
    tokens.sort_unstable();
    let last = tokens.len().checked_sub(1)?;
    let at = |quarters: usize| tokens.get(last * quarters / 4).copied();
    Some([at(0)?, at(1)?, at(2)?, at(3)?, at(4)?])
}

#[cfg(test)]
mod tests {
    use super::quartiles;

    #[test]
    fn quartiles_are_values_that_were_seen() {
        assert_eq!(quartiles(vec![5, 1, 4, 2, 3]), Some([1, 2, 3, 4, 5]));
        assert_eq!(quartiles(vec![7]), Some([7; 5]));
        assert_eq!(quartiles(Vec::new()), None);
    }
}
