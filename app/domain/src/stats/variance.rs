//! Where the noise of Δ comes from (F10): from tasks that differ, or from trials of one task that differ. It tells whether more tasks or more
//! repeats would help. Source: Miller 2024 (arXiv 2411.00640) §5.

use serde::{Deserialize, Serialize};

use super::counts::PairCounts;
use super::task_means::differences;

/// The variance of a task's difference: Var(d) = σ²_between + σ²_within / k.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct VarianceSplit {
    /// Variance of the tasks' differences as seen.
    pub total: f64,
    /// What of `total` would stay with endless repeats; 0 where the repeats alone explain all.
    pub between: f64,
    /// What of `total` the repeats cause.
    pub within: f64,
    /// Variance of a single repeat, both arms together: σ²_w+ + σ²_w−.
    pub per_repeat: f64,
}

impl VarianceSplit {
    /// Of tasks with at least two pairs; `None` with fewer than two of them.
    #[must_use]
    pub fn of(tasks: &[PairCounts]) -> Option<Self> {
        let repeated: Vec<PairCounts> = tasks.iter().copied().filter(|task| task.pairs() >= 2).collect();
        let n = repeated.len() as f64;
        if n < 2.0 {
            return None;
        }
        let differences = differences(&repeated);
        let mean = differences.iter().sum::<f64>() / n;
        let total = differences.iter().map(|difference| (difference - mean).powi(2)).sum::<f64>() / (n - 1.0);
        let per_repeat = repeated.iter().map(repeat_variance).sum::<f64>() / n;
        let within = repeated.iter().map(|task| repeat_variance(task) / task.pairs() as f64).sum::<f64>() / n;
        Some(Self { total, between: (total - within).max(0.0), within, per_repeat })
    }

    /// The standard error of Δ that a plan of `tasks` tasks with `repeats` repeats would have; `None` where one is 0.
    #[must_use]
    pub fn planned_se(&self, tasks: u32, repeats: u32) -> Option<f64> {
        let variance = (self.between + self.per_repeat / f64::from(repeats)) / f64::from(tasks);
        (tasks > 0 && repeats > 0).then(|| variance.sqrt())
    }
}

/// Unbiased variance of passes in both arms, for two pairs or more.
fn repeat_variance(task: &PairCounts) -> f64 {
    let pairs = task.pairs() as f64;
    let of_arm = |passed: u64| {
        let share = passed as f64 / pairs;
        share * (1.0 - share) * pairs / (pairs - 1.0)
    };
    of_arm(task.passed_with()) + of_arm(task.passed_without())
}

#[cfg(test)]
mod tests {
    use super::{PairCounts, VarianceSplit};

    #[test]
    fn sure_tasks_leave_nothing_to_repeats() {
        let always = PairCounts { rescued: 4, ..PairCounts::default() };
        let never = PairCounts { neither: 4, ..PairCounts::default() };
        let split = VarianceSplit::of(&[always, never]).unwrap();
        assert_eq!((split.total, split.between, split.within, split.per_repeat), (0.5, 0.5, 0.0, 0.0));
        assert_eq!(
            (split.planned_se(8, 1), split.planned_se(8, 9), split.planned_se(0, 1)),
            (Some(0.25), Some(0.25), None)
        );
    }

    #[test]
    fn single_pairs_cannot_be_split() {
        let one = PairCounts { both: 1, ..PairCounts::default() };
        assert_eq!(VarianceSplit::of(&[one, one, PairCounts { both: 3, ..one }]), None);
    }
}
