//! Token overhead ρ: the ratio of the two arms' means with its intervals (F11). Never the mean of ratios. Sources: the delta method on the log
//! scale; Fieller 1954, Journal of the Royal Statistical Society B 16.

use serde::{Deserialize, Serialize};

use super::alpha::Alpha;
use super::interval::Interval;
use crate::condition::Pair;

/// ρ and what is known about it. ρ = 0.2 means 20 % more with the skill.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RatioEstimate {
    /// Tasks (n).
    pub n_tasks: u32,
    /// Σ with ÷ Σ without − 1.
    pub rho: f64,
    /// The interval of ρ, or why there is none.
    pub ci: RatioCi,
    /// exp(mean ln(with ÷ without)) − 1: not swayed by one big task; `None` where a task used nothing in one arm.
    pub geometric_rho: Option<f64>,
    /// The interval of `geometric_rho`, by t on the log scale.
    pub geometric_ci: Option<Interval>,
}

/// The interval of ρ, or why there is none.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RatioCi {
    /// Both forms, of confidence 1 − α.
    Bounded {
        /// By the delta method on the log scale, with t: the one to show.
        log_delta: Interval,
        /// Fieller's, as a cross-check.
        fieller: Interval,
    },
    /// The no-skill mean is not separated from 0 (Fieller's g ≥ 1): any limit would mislead.
    Unbounded,
    /// One task has no spread to judge from.
    OneTask,
    /// All tasks have exactly the same ratio, or the with-skill arm used nothing: no spread to judge from.
    NoSpread,
}

impl RatioEstimate {
    /// The interval to show; `None` where there is none.
    #[must_use]
    pub const fn interval(&self) -> Option<Interval> {
        match self.ci {
            RatioCi::Bounded { log_delta, .. } => Some(log_delta),
            RatioCi::Unbounded | RatioCi::OneTask | RatioCi::NoSpread => None,
        }
    }
}

/// ρ of amounts (tokens, cost, seconds), one entry for each task: its sums over its complete pairs. `None` where there is no task, an amount is
/// negative or not finite, or the no-skill arm used nothing.
#[must_use]
pub fn ratio(tasks: &[Pair<f64>], alpha: Alpha) -> Option<RatioEstimate> {
    let usable = |amount: f64| amount.is_finite() && amount >= 0.0;
    let n_tasks = u32::try_from(tasks.len()).ok().filter(|n| *n > 0)?;
    if !tasks.iter().all(|task| usable(task.with) && usable(task.without)) {
        return None;
    }
    let mean = Pair { without: mean(tasks, |task| task.without), with: mean(tasks, |task| task.with) };
    let rho = (mean.with - mean.without) / mean.without;
    let geometric = geometric(tasks, alpha);
    rho.is_finite().then(|| RatioEstimate {
        n_tasks,
        rho,
        ci: interval(tasks, mean, n_tasks, alpha),
        geometric_rho: geometric.map(|(rho, _)| rho),
        geometric_ci: geometric.and_then(|(_, ci)| ci),
    })
}

fn mean(tasks: &[Pair<f64>], amount: impl Fn(&Pair<f64>) -> f64) -> f64 {
    tasks.iter().map(amount).sum::<f64>() / tasks.len() as f64
}

fn interval(tasks: &[Pair<f64>], mean: Pair<f64>, n_tasks: u32, alpha: Alpha) -> RatioCi {
    let Some(t) = alpha.t(n_tasks.saturating_sub(1)) else {
        return if n_tasks < 2 { RatioCi::OneTask } else { RatioCi::Unbounded };
    };
    let spread = Spread::of(tasks, mean);
    if spread.variance_without * t * t >= 1.0 {
        return RatioCi::Unbounded;
    }
    if mean.with <= 0.0 || spread.log_ratio_se <= 1e-12 {
        return RatioCi::NoSpread;
    }
    let ratio = mean.with / mean.without;
    let limits = |reach: f64| Interval::new(ratio * (-reach).exp() - 1.0, ratio * reach.exp() - 1.0);
    match (limits(t * spread.log_ratio_se), spread.fieller(ratio, t)) {
        (Some(log_delta), Some(fieller)) => RatioCi::Bounded { log_delta, fieller },
        _ => RatioCi::Unbounded,
    }
}

/// Variances and covariance of the two arms' means, each arm divided by its mean.
struct Spread {
    variance_with: f64,
    variance_without: f64,
    covariance: f64,
    log_ratio_se: f64,
}

impl Spread {
    fn of(tasks: &[Pair<f64>], mean: Pair<f64>) -> Self {
        let n = tasks.len() as f64;
        let moment = |product: fn(f64, f64) -> f64| {
            let scaled = |task: &Pair<f64>| product(task.with / mean.with - 1.0, task.without / mean.without - 1.0);
            tasks.iter().map(scaled).sum::<f64>() / (n - 1.0) / n
        };
        Self {
            variance_with: moment(|x, _| x * x),
            variance_without: moment(|_, y| y * y),
            covariance: moment(|x, y| x * y),
            log_ratio_se: moment(|x, y| (x - y) * (x - y)).sqrt(),
        }
    }

    /// Fieller's limits of ρ, for g < 1.
    fn fieller(&self, ratio: f64, t: f64) -> Option<Interval> {
        let square = t * t;
        let g = square * self.variance_without;
        let determinant = self.variance_with * self.variance_without - self.covariance * self.covariance;
        let under_root = self.log_ratio_se * self.log_ratio_se - square * determinant;
        let half = t * under_root.max(0.0).sqrt();
        let limit = |half: f64| ratio * (1.0 - square * self.covariance + half) / (1.0 - g);
        Interval::new(limit(-half).max(0.0) - 1.0, limit(half) - 1.0)
    }
}

/// The geometric mean of the tasks' ratios − 1, and its interval where there is spread.
fn geometric(tasks: &[Pair<f64>], alpha: Alpha) -> Option<(f64, Option<Interval>)> {
    let logs: Vec<f64> = tasks.iter().map(|task| (task.with / task.without).ln()).collect();
    if !logs.iter().all(|log| log.is_finite()) {
        return None;
    }
    let rho = (logs.iter().sum::<f64>() / logs.len() as f64).exp_m1();
    let ci = super::paired_t::paired_t(&logs, alpha).and_then(|t| Interval::new(t.ci.low.exp_m1(), t.ci.high.exp_m1()));
    rho.is_finite().then_some((rho, ci))
}

#[cfg(test)]
mod tests {
    use super::{Alpha, Pair, RatioCi, ratio};

    fn tasks(amounts: &[(f64, f64)]) -> Vec<Pair<f64>> {
        amounts.iter().map(|&(without, with)| Pair { without, with }).collect()
    }

    #[test]
    fn agrees_with_the_reference() {
        let with = [52.0, 61.0, 48.0, 90.5, 33.0, 75.0, 120.0, 41.0, 58.0, 67.0];
        let without = [50.0, 43.0, 47.0, 60.0, 35.0, 52.0, 80.0, 39.0, 61.0, 45.0];
        let found = ratio(&tasks(&without.into_iter().zip(with).collect::<Vec<_>>()), Alpha::FIVE_PERCENT).unwrap();
        let RatioCi::Bounded { log_delta, fieller } = found.ci else { panic!("{found:?}") };
        for (found, expected) in [
            (found.rho, 0.260_742_187_5),
            (log_delta.low, 0.086_356_661_611_043_2),
            (log_delta.high, 0.463_120_648_595_402),
            (fieller.low, 0.052_870_248_230_590_3),
            (fieller.high, 0.436_060_594_976_95),
            (found.geometric_rho.unwrap(), 0.213_056_473_658_162),
            (found.geometric_ci.unwrap().low, 0.046_101_937_421_249_2),
            (found.geometric_ci.unwrap().high, 0.406_656_421_946_212),
        ] {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
    }

    #[test]
    fn says_why_there_is_no_interval() {
        for (amounts, ci) in [
            (vec![(100.0, 120.0)], RatioCi::OneTask),
            (vec![(100.0, 120.0), (75.0, 90.0), (80.0, 96.0)], RatioCi::NoSpread),
            (vec![(100.0, 0.0), (101.0, 0.0), (100.0, 0.0)], RatioCi::NoSpread),
            (vec![(50.0, 100.0), (950.0, 900.0)], RatioCi::Unbounded),
        ] {
            assert_eq!(ratio(&tasks(&amounts), Alpha::FIVE_PERCENT).unwrap().ci, ci, "{amounts:?}");
        }
    }

    #[test]
    fn refuses_what_is_no_amount() {
        for amounts in
            [vec![], vec![(0.0, 5.0)], vec![(-1.0, 5.0), (4.0, 4.0)], vec![(f64::NAN, 1.0)], vec![(1.0, f64::INFINITY)]]
        {
            assert_eq!(ratio(&tasks(&amounts), Alpha::FIVE_PERCENT), None, "{amounts:?}");
        }
    }
}
