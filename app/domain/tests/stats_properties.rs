//! What must hold for every input: exchanged arms mirror the result, intervals hold the estimate and have width, no input gives NaN.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use domain::condition::Pair;
use domain::stats::alpha::Alpha;
use domain::stats::counts::PairCounts;
use domain::stats::delta::{CiMethod, DeltaEstimate, TestMethod, delta};
use domain::stats::quadrant::Quadrant;
use domain::stats::ratio::ratio;
use domain::stats::signflip::SignFlipMethod;
use domain::stats::tango::tango;
use domain::stats::verdict::{Adjustment, DeltaVerdict, VerdictRule};
use domain::stats::wilson::wilson;
use domain::stats::{interval::Interval, mcnemar};

const ALPHA: Alpha = Alpha::FIVE_PERCENT;

/// All single tables of up to `most` pairs.
fn tables(most: u32) -> Vec<PairCounts> {
    let mut tables = Vec::new();
    for both in 0..=most {
        for rescued in 0..=most - both {
            for broken in 0..=most - both - rescued {
                for neither in 0..=most - both - rescued - broken {
                    tables.push(PairCounts { both, rescued, broken, neither });
                }
            }
        }
    }
    tables
}

/// Lists of tasks: one or more of each small table, a few mixed ones, and large ones.
fn task_lists() -> Vec<Vec<PairCounts>> {
    let small = tables(3);
    let mut lists: Vec<Vec<PairCounts>> = Vec::new();
    for copies in [1, 2, 7, 25] {
        lists.extend(small.iter().map(|table| vec![*table; copies]));
    }
    for step in 1..9 {
        lists.push(small.iter().copied().step_by(step).collect());
        lists.push(small.iter().copied().cycle().skip(step).step_by(step + 1).take(40).collect());
    }
    lists.push(vec![
        PairCounts { both: 7, rescued: 11, broken: 0, neither: 1 },
        PairCounts { rescued: 1_000_003, ..PairCounts::default() },
    ]);
    lists.push(vec![PairCounts { both: 1, ..PairCounts::default() }; 3000]);
    lists
}

fn mirrored(tasks: &[PairCounts]) -> Vec<PairCounts> {
    tasks.iter().map(PairCounts::mirrored).collect()
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9
}

#[track_caller]
fn sound(ci: Interval, estimate: f64, least: f64, most: f64) {
    assert!(ci.low.is_finite() && ci.high.is_finite(), "{ci:?}");
    assert!(ci.low <= estimate + 1e-12 && estimate - 1e-12 <= ci.high, "{estimate} outside {ci:?}");
    assert!(ci.width() > 0.0, "no width: {ci:?} at {estimate}");
    assert!(least <= ci.low && ci.high <= most, "{ci:?}");
}

#[test]
fn intervals_of_delta_hold_it_and_have_width() {
    for tasks in task_lists() {
        let Some(found) = delta(&tasks, ALPHA) else {
            assert!(tasks.iter().all(|task| task.pairs() == 0), "{tasks:?}");
            continue;
        };
        sound(found.ci, found.delta, -1.0, 1.0);
        assert!((0.0..=1.0).contains(&found.p_value), "{found:?}");
        assert!(near(found.delta, found.rate_with - found.rate_without), "{found:?}");
        if !matches!(found.ci_method, CiMethod::Exact | CiMethod::Score) {
            // What one flipped task would move, as far as ±1 allows.
            assert!(found.ci.width() >= 1.0 / f64::from(found.n_tasks) - 1e-12, "{found:?}");
        }
    }
}

#[test]
fn exchanged_arms_mirror_delta() {
    for tasks in task_lists() {
        let (Some(found), Some(mirror)) = (delta(&tasks, ALPHA), delta(&mirrored(&tasks), ALPHA)) else { continue };
        assert!(near(found.delta, -mirror.delta) && near(found.p_value, mirror.p_value), "{found:?} {mirror:?}");
        let back = mirror.ci.negated();
        assert!(near(found.ci.low, back.low) && near(found.ci.high, back.high), "{found:?} {mirror:?}");
        assert_eq!(
            (found.counts, found.ci_method, found.test),
            (mirror.counts.mirrored(), mirror.ci_method, mirror.test)
        );
    }
}

#[test]
fn the_order_of_tasks_does_not_matter() {
    for mut tasks in task_lists() {
        let found = delta(&tasks, ALPHA);
        tasks.reverse();
        match (found, delta(&tasks, ALPHA)) {
            (Some(a), Some(b)) => {
                assert!(near(a.delta, b.delta) && near(a.p_value, b.p_value) && near(a.ci.low, b.ci.low))
            }
            (a, b) => assert_eq!(a, b),
        }
    }
}

#[test]
fn tango_holds_delta_and_mirrors() {
    for table in tables(7).into_iter().filter(|table| table.pairs() > 0) {
        let found = tango(&table, ALPHA).unwrap();
        sound(found, table.net_rescued() as f64 / table.pairs() as f64, -1.0, 1.0);
        let back = tango(&table.mirrored(), ALPHA).unwrap().negated();
        assert!(near(found.low, back.low) && near(found.high, back.high), "{table:?}");
    }
}

#[test]
fn wilson_holds_the_rate_and_mirrors() {
    for n in [1, 2, 3, 10, 49, 1_000_000, 1_000_000_000_000] {
        for hits in [0, 1, n / 3, n / 2, n - 1, n] {
            let found = wilson(hits, n, ALPHA).unwrap();
            sound(found, hits as f64 / n as f64, 0.0, 1.0);
            let mirror = wilson(n - hits, n, ALPHA).unwrap();
            assert!(near(found.low, 1.0 - mirror.high) && near(found.high, 1.0 - mirror.low), "{hits} of {n}");
        }
    }
}

#[test]
fn smaller_levels_give_wider_intervals() {
    let tasks: Vec<PairCounts> = tables(3);
    let width = |level: f64| delta(&tasks, Alpha::new(level).unwrap()).unwrap().ci.width();
    let widths = [0.2, 0.1, 0.05, 0.01, 1e-6, 1e-300].map(width);
    assert!(widths.windows(2).all(|pair| pair[0] <= pair[1]) && widths[0] < widths[3], "{widths:?}");
    assert!([0.0, 1.0, -0.1, f64::NAN, f64::INFINITY].into_iter().all(|level| Alpha::new(level).is_err()));
}

#[test]
fn the_methods_are_those_of_the_rules() {
    let single = PairCounts { rescued: 1, ..PairCounts::default() };
    let thrice = |rescued: u32, neither: u32| PairCounts { rescued, neither, ..PairCounts::default() };
    let spread: Vec<PairCounts> = (0..24).map(|i| thrice(i % 4, 3 - i % 4)).collect();
    let rare: Vec<PairCounts> = (0..24).map(|i| thrice(u32::from(i == 0), 3 - u32::from(i == 0))).collect();
    for (tasks, ci, test) in [
        (vec![single; 19], CiMethod::Exact, TestMethod::McnemarExact),
        (vec![single; 20], CiMethod::Score, TestMethod::McnemarExact),
        (spread.clone(), CiMethod::PairedT, TestMethod::SignFlip(SignFlipMethod::Exact)),
        (spread[..19].to_vec(), CiMethod::Exact, TestMethod::SignFlip(SignFlipMethod::Exact)),
        (rare, CiMethod::PairedTWidened, TestMethod::SignFlip(SignFlipMethod::Exact)),
        (vec![thrice(3, 0); 30], CiMethod::Score, TestMethod::SignFlip(SignFlipMethod::Exact)),
    ] {
        let found = delta(&tasks, ALPHA).unwrap();
        assert_eq!((found.ci_method, found.test), (ci, test), "{tasks:?}");
    }
}

#[test]
fn a_million_single_pairs_are_answered() {
    let one = PairCounts::default();
    let mut tasks = vec![PairCounts { rescued: 1, ..one }; 300_000];
    tasks.extend(vec![PairCounts { broken: 1, ..one }; 299_000]);
    tasks.extend(vec![PairCounts { both: 1, ..one }; 401_000]);
    let found = delta(&tasks, ALPHA).unwrap();
    assert_eq!((found.n_tasks, found.delta), (1_000_000, 0.001));
    assert!(found.p_value > 0.19 && found.p_value < 0.2 && found.ci.contains(0.0), "{found:?}");
}

fn estimate(n_tasks: u32, delta: f64, ci: (f64, f64), p_value: f64) -> DeltaEstimate {
    DeltaEstimate {
        n_tasks,
        counts: PairCounts::default(),
        rate_without: 0.5,
        rate_with: 0.5 + delta,
        delta,
        alpha: ALPHA,
        ci: Interval { low: ci.0, high: ci.1 },
        ci_method: CiMethod::Score,
        newcombe: None,
        p_value,
        p_mid: None,
        test: TestMethod::McnemarExact,
    }
}

#[test]
fn verdicts_are_those_of_the_rules() {
    let rule = VerdictRule::default();
    for (n_tasks, delta, ci, p, words) in [
        (5, 1.0, (0.4, 1.0), 0.0625, "Cannot be resolved"),
        (0, 0.0, (-1.0, 1.0), 1.0, "Cannot be resolved"),
        (6, 1.0, (0.4, 1.0), 0.03125, "Improves"),
        (20, -0.4, (-0.6, -0.1), 0.01, "Harms"),
        (20, 0.4, (-0.01, 0.6), 0.01, "Inconclusive"),
        (21, -0.29, (-0.507, -0.026), 0.0703, "Inconclusive"),
        (400, 0.0, (-0.049, 0.049), 1.0, "No effect within ±5 pp"),
        (400, 0.0, (-0.05, 0.049), 1.0, "Inconclusive"),
        (9000, 0.02, (0.01, 0.03), 0.001, "Improves"),
    ] {
        let verdict = DeltaVerdict::raw(&estimate(n_tasks, delta, ci, p), &rule);
        assert_eq!(verdict.to_string(), words, "{n_tasks} {delta} {ci:?} {p}");
        assert_eq!(verdict.evidence().adjustment, Adjustment::Raw);
    }
    let narrow = VerdictRule { margin: 0.025, ..rule };
    let none = DeltaVerdict::raw(&estimate(4000, 0.0, (-0.02, 0.02), 1.0), &narrow);
    assert_eq!(none.to_string(), "No effect within ±2.5 pp");
}

#[test]
fn adjusted_verdicts_need_more_tasks_and_say_so() {
    let rule = VerdictRule::default();
    let ten = DeltaVerdict::adjusted(&estimate(10, 1.0, (0.6, 1.0), 0.002), 0.096, 49, &rule);
    let DeltaVerdict::CannotBeResolved { tasks, tasks_needed, best_p, evidence } = ten else { panic!("{ten:?}") };
    assert_eq!((tasks, tasks_needed, evidence.adjustment), (10, 11, Adjustment::Holm { family: 49 }));
    assert!(near(best_p, 49.0 / 512.0));
    let eleven = DeltaVerdict::adjusted(&estimate(11, 1.0, (0.6, 1.0), 0.001), 0.0479, 49, &rule);
    assert_eq!(eleven.word(), "improves");
    let five = DeltaVerdict::raw(&estimate(5, 1.0, (0.6, 1.0), 0.0625), &rule);
    assert!(matches!(five, DeltaVerdict::CannotBeResolved { tasks_needed: 6, .. }), "{five:?}");
}

#[test]
fn ratios_hold_and_mirror() {
    let amounts = [[100.0, 130.0], [55.0, 60.0], [80.0, 79.0], [1e9, 1.2e9], [7.0, 9.0], [64.0, 64.5]];
    for n in 2..=amounts.len() {
        let tasks: Vec<Pair<f64>> =
            amounts[..n].iter().map(|[without, with]| Pair { without: *without, with: *with }).collect();
        let swapped: Vec<Pair<f64>> =
            tasks.iter().map(|task| Pair { without: task.with, with: task.without }).collect();
        let (found, mirror) = (ratio(&tasks, ALPHA).unwrap(), ratio(&swapped, ALPHA).unwrap());
        assert!(near((1.0 + found.rho) * (1.0 + mirror.rho), 1.0), "{found:?}");
        if let (Some(ci), Some(back)) = (found.interval(), mirror.interval()) {
            sound(ci, found.rho, -1.0, f64::MAX);
            assert!(near((1.0 + ci.low) * (1.0 + back.high), 1.0), "{ci:?} {back:?}");
        }
    }
}

#[test]
fn quadrants_mirror_with_the_arms() {
    for (delta, rho, quadrant, opposite) in [
        (0.1, -0.1, Quadrant::Dominant, Quadrant::Dominated),
        (0.1, 0.1, Quadrant::BetterDearer, Quadrant::CheaperWorse),
        (0.0, 0.1, Quadrant::NullDearer, Quadrant::NullCheaper),
        (0.1, 0.0, Quadrant::Dominant, Quadrant::Dominated),
        (0.0, -0.0, Quadrant::Null, Quadrant::Null),
    ] {
        assert_eq!((Quadrant::of(delta, rho), Quadrant::of(-delta, -rho)), (Some(quadrant), Some(opposite)));
    }
    assert_eq!((Quadrant::of(f64::NAN, 0.1), Quadrant::of(0.1, f64::NAN)), (None, None));
}

#[test]
fn p_falls_as_one_side_gains() {
    let p: Vec<f64> = (10..60).map(|rescued| mcnemar::exact(rescued, 10)).collect();
    assert!(p.windows(2).all(|pair| pair[1] <= pair[0]), "{p:?}");
    for (rescued, broken) in [(0, 0), (1, 0), (3, 9), (1000, 900), (u32::MAX, 1)] {
        assert!(mcnemar::mid_p(rescued, broken) <= mcnemar::exact(rescued, broken) + 1e-15);
        assert!(near(mcnemar::exact(rescued, broken), mcnemar::exact(broken, rescued)));
    }
}
