//! Pairs averaged within tasks: the task is the unit of inference, so each task weighs the same however many repeats it has.

use super::counts::PairCounts;

/// Shares over n tasks, and the covariance of the two arms across tasks (divisor n). `gained` is the sum of what tasks gained ÷ n, `lost` that of what
/// they lost; with one pair for each task the shares of rescued and broken pairs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct TaskMeans {
    pub n: f64,
    pub with: f64,
    pub without: f64,
    pub delta: f64,
    pub gained: f64,
    pub lost: f64,
    pub covariance: f64,
}

/// The difference of each task (with − without) as a whole multiple of 1/`denominator`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Lattice {
    pub numerators: Vec<i64>,
    pub denominator: i64,
}

impl TaskMeans {
    /// Of tasks with one pair each; `None` without pairs.
    pub fn of_single(counts: &PairCounts) -> Option<Self> {
        let n = counts.pairs() as f64;
        let [both, gained, lost, neither] =
            [counts.both, counts.rescued, counts.broken, counts.neither].map(|count| f64::from(count) / n);
        (n > 0.0).then(|| Self {
            n,
            with: counts.passed_with() as f64 / n,
            without: counts.passed_without() as f64 / n,
            delta: counts.net_rescued() as f64 / n,
            gained,
            lost,
            // a/n − (a+b)(a+c)/n² written as (ad − bc)/n², which is exactly 0 where the arms are independent.
            covariance: both * neither - gained * lost,
        })
    }

    /// Of tasks that have pairs; `None` where there is none.
    pub fn of(tasks: &[PairCounts]) -> Option<Self> {
        let shares: Vec<(f64, f64)> = tasks.iter().filter_map(shares).collect();
        if shares.is_empty() {
            return None;
        }
        let n = shares.len() as f64;
        let with = shares.iter().map(|share| share.0).sum::<f64>() / n;
        let without = shares.iter().map(|share| share.1).sum::<f64>() / n;
        let covariance = shares.iter().map(|(x, y)| (x - with) * (y - without)).sum::<f64>() / n;
        let delta = mean_difference(tasks, n);
        let gained = differences(tasks).iter().map(|difference| difference.max(0.0)).sum::<f64>() / n;
        Some(Self { n, with, without, delta, gained, lost: (gained - delta).max(0.0), covariance })
    }
}

/// Each task's difference in −1..=1.
pub(super) fn differences(tasks: &[PairCounts]) -> Vec<f64> {
    tasks.iter().filter(|task| task.pairs() > 0).map(|task| task.net_rescued() as f64 / task.pairs() as f64).collect()
}

impl Lattice {
    /// `None` where the numbers of pairs have no common multiple of a useful size.
    pub fn of(tasks: &[PairCounts]) -> Option<Self> {
        const COARSEST: u64 = 1 << 31;
        let present = || tasks.iter().filter(|task| task.pairs() > 0);
        let denominator = present().try_fold(1_u64, |multiple, task| {
            let pairs = task.pairs();
            let next = (multiple / gcd(multiple, pairs)).checked_mul(pairs)?;
            (next <= COARSEST).then_some(next)
        })?;
        let numerators = present()
            .map(|task| task.net_rescued().checked_mul(i64::try_from(denominator / task.pairs()).ok()?))
            .collect::<Option<Vec<i64>>>()?;
        Some(Self { numerators, denominator: i64::try_from(denominator).ok()? })
    }
}

/// From whole numbers where possible, so that equal gains and losses give exactly 0.
fn mean_difference(tasks: &[PairCounts], n: f64) -> f64 {
    match Lattice::of(tasks) {
        Some(Lattice { numerators, denominator }) => {
            let sum: i128 = numerators.iter().map(|numerator| i128::from(*numerator)).sum();
            sum as f64 / denominator as f64 / n
        }
        None => differences(tasks).iter().sum::<f64>() / n,
    }
}

fn shares(task: &PairCounts) -> Option<(f64, f64)> {
    let pairs = task.pairs() as f64;
    (pairs > 0.0).then(|| (task.passed_with() as f64 / pairs, task.passed_without() as f64 / pairs))
}

/// Greatest common divisor; that of 0 and x is x.
pub(super) fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
