//! What the documentation says in numbers is what the code does. A row of each simulated table is made again.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]
#![allow(dead_code, reason = "the simulation's modules are shared, and only some of each is used here")]

#[path = "../examples/simulate/alarms.rs"]
mod alarms;
#[path = "../examples/simulate/chance.rs"]
mod chance;
#[path = "../examples/simulate/coverage.rs"]
mod coverage;
#[path = "../examples/simulate/power.rs"]
mod power;
#[path = "../examples/simulate/sequential.rs"]
mod sequential;
#[path = "../examples/simulate/stopping.rs"]
mod stopping;

use domain::analysis::rank::LEAST_COMPLETE_SHARE;
use domain::planner::{Noise, PowerPlan, WANTED_POWER};
use domain::stats::alpha::Alpha;
use domain::stats::cluster::clustered_mean;
use domain::stats::counts::PairCounts;
use domain::stats::delta::{CiMethod, delta};
use domain::stats::mcnemar::smallest_p;
use domain::stats::verdict::VerdictRule;
use domain::stop::StopRule;

const RULES: &str = include_str!("../../../docs/statistics.md");
const SIMULATION: &str = include_str!("../../../docs/statistics-simulation.md");

#[track_caller]
fn says(text: &str) {
    // Line breaks do not matter.
    let flat = |text: &str| text.split_whitespace().collect::<Vec<&str>>().join(" ");
    assert!(flat(RULES).contains(&flat(text)), "docs/statistics.md does not say: {text}");
}

#[test]
fn levels_margins_and_sizes_are_those_of_the_code() {
    let rule = VerdictRule::default();
    assert_eq!((rule.alpha, rule.margin), (Alpha::FIVE_PERCENT, 0.05));
    says("No effect within ±5 pp");
    let least = |level: f64| (1..64).find(|tasks| smallest_p(*tasks) <= level).unwrap();
    says(&format!("It takes {} tasks; {} in a family of 49.", least(0.05), least(0.05 / 49.0)));
    says(&format!("less than {} % of the pairs complete", LEAST_COMPLETE_SHARE * 100.0));
    says(&format!("that of {} % power", WANTED_POWER * 100.0));
    says(&format!("(from history, else {} %)", Noise::GUESS.broken_rate * 100.0));
    assert!(PowerPlan::of(20, 1, None).exact && !PowerPlan::of(20, 2, None).exact);
}

#[test]
fn methods_change_where_the_rules_say() {
    let tasks = |n: usize| -> Vec<PairCounts> {
        (0..n).map(|i| PairCounts { both: 1, rescued: (i % 3) as u32, broken: (i % 2) as u32, neither: 1 }).collect()
    };
    let method = |n: usize| delta(&tasks(n), Alpha::FIVE_PERCENT).unwrap().ci_method;
    says("from 20 tasks on Student's t on task differences");
    assert_eq!((method(19), method(20)), (CiMethod::Exact, CiMethod::PairedT));
    says("With fewer than 10 clusters the error may be too small");
    let too_few = |clusters: usize| {
        let values: Vec<(usize, f64)> = (0..30).map(|i| (i % clusters, (i % 4) as f64)).collect();
        clustered_mean(&values, Alpha::FIVE_PERCENT).unwrap().too_few
    };
    assert!(too_few(9) && !too_few(10));
}

#[test]
fn the_simulation_table_was_made_by_this_code() {
    for row in [
        coverage::single_row(2),
        coverage::single_row(8),
        coverage::repeats_row(3, 2),
        alarms::equal_row(10, 1, 0.9, 0.0),
        alarms::equal_row(12, 2, 0.5, 0.5),
        stopping::row(StopRule { futility: true, evidence: true }, 40, 1, [0.3, 0.9]),
    ] {
        assert!(SIMULATION.contains(&row), "not in docs/statistics-simulation.md, make it again: {row}");
    }
    let (by_p, by_e) = sequential::ever_stopped(100, 0.5, 2000);
    let row = format!("| 100 | 50 % | {} | {} |", coverage::per_cent(by_p), coverage::per_cent(by_e));
    assert!(SIMULATION.contains(&row), "{row}");
    says(&format!("in {:.0} % of evaluations with 100 flips", by_p * 100.0));
}

/// Cells of the rows of a table, by its heading.
fn table(heading: &str) -> Vec<Vec<String>> {
    let section = SIMULATION.split("\n## ").find(|section| section.starts_with(heading)).unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| ") && line.contains(|c: char| c.is_ascii_digit()));
    let row = |line: &str| line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect();
    rows.filter(|line| !line.contains("tasks")).map(row).collect()
}

fn number(cell: &str) -> f64 {
    cell.parse().unwrap_or_else(|_| panic!("{cell}"))
}

#[test]
fn the_simulation_keeps_what_is_promised() {
    let singles = table("Intervals of Δ, one pair");
    assert_eq!(singles.len(), 18);
    for row in &singles {
        // Up to 100 tasks nothing is left to chance; beyond, two standard errors of 4,000 runs.
        let least = if number(&row[0]) <= 100.0 { 93.0 } else { 92.3 };
        assert!(number(&row[1]) >= least, "{row:?}");
    }
    let newcombe = singles.iter().map(|row| number(&row[5])).fold(100.0, f64::min);
    says(&format!("Newcombe's alone falls to {newcombe} %"));
    for row in table("Intervals of Δ, several") {
        let two_errors = 200.0 * (0.93 * 0.07 / number(&row[2])).sqrt();
        assert!(number(&row[3]) >= 93.0 - two_errors && number(&row[5]) >= 93.0, "{row:?}");
    }
    for row in table("A/A") {
        assert!(number(&row[5]) <= 5.0 && number(&row[6]) <= 5.0, "{row:?}");
    }
    for row in table("The effect is just") {
        assert!(number(&row[4]) <= 5.0, "{row:?}");
    }
    for row in table("Power of McNemar") {
        assert!((number(&row[3]) - number(&row[4])).abs() <= 1.0, "{row:?}");
    }
    for row in table("The planner's power") {
        let (foretold, drawn) = (number(&row[4]), number(&row[5]));
        assert!(foretold - drawn <= 7.5 && (number(&row[1]) > 1.0 || (foretold - drawn).abs() <= 2.5), "{row:?}");
    }
    let ends = table("Plans that may");
    assert!(!ends.is_empty());
    for row in ends.iter().filter(|row| row[3] == "0.5 → 0.5") {
        assert!(number(&row[4]) + number(&row[5]) <= 5.0, "{row:?}");
    }
    for row in table("Looking after").iter().filter(|row| row[1] == "50 %") {
        assert!(number(&row[3]) <= 5.0, "{row:?}");
    }
}
