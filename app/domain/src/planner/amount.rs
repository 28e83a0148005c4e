//! How much of something (tokens, seconds) planned trials will take, from what past trials took.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What one past trial took.
#[derive(Debug, Clone, PartialEq)]
pub struct PastAmount {
    /// Its task's name.
    pub task: String,
    /// Above 0.
    pub value: f64,
}

/// An amount: 8 of 10 such plans end between `low` and `high`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Expected {
    /// 1 of 10 ends below.
    pub low: f64,
    /// The mean.
    pub expected: f64,
    /// 1 of 10 ends above.
    pub high: f64,
}

impl Expected {
    /// The same shared by so many.
    #[must_use]
    pub fn divided_by(self, share: f64) -> Self {
        Self { low: self.low / share, expected: self.expected / share, high: self.high / share }
    }
}

/// Upper 10 % point of the normal distribution.
const Z_80: f64 = 1.281_551_565_544_6;
/// Spread of trials of one task, as a share of the mean, where history has no two of one task.
const WITHIN_GUESS: f64 = 0.5;
/// Spread of tasks, as a share of the mean, where history has one task.
const BETWEEN_GUESS: f64 = 1.0;

/// Mean and spread of what past trials took.
struct History<'a> {
    /// Number of trials and their mean, by task.
    tasks: BTreeMap<&'a str, (f64, f64)>,
    mean: f64,
    variance_within: f64,
    variance_between: f64,
}

/// What `per_task` trials of each planned task will take in all. A task that ran before counts by its own mean, another by the mean of all; what is not
/// known of either widens the range. `None` without history or tasks.
#[must_use]
pub fn expected(tasks: &[Option<String>], per_task: f64, past: &[PastAmount]) -> Option<Expected> {
    let history = History::of(past)?;
    let (mut sum, mut variance, mut unknown) = (0.0, 0.0, 0.0);
    for task in tasks {
        match task.as_deref().and_then(|task| history.tasks.get(task)) {
            Some((trials, mean)) => {
                sum += per_task * mean;
                variance += per_task * per_task * history.variance_within / trials;
            }
            None => {
                unknown += 1.0;
                sum += per_task * history.mean;
                variance += per_task * per_task * history.variance_between;
            }
        }
        variance += per_task * history.variance_within;
    }
    // The mean of all is itself not sure, and its error is the same for every task.
    variance += (per_task * unknown).powi(2) * history.variance_between / history.tasks.len() as f64;
    if !(sum > 0.0 && variance.is_finite()) {
        return None;
    }
    let spread = (variance / (sum * sum)).ln_1p().sqrt() * Z_80;
    Some(Expected { low: sum * (-spread).exp(), expected: sum, high: sum * spread.exp() })
}

impl<'a> History<'a> {
    fn of(past: &'a [PastAmount]) -> Option<Self> {
        let mut values: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for amount in past.iter().filter(|amount| amount.value.is_finite() && amount.value > 0.0) {
            values.entry(&amount.task).or_default().push(amount.value);
        }
        let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let tasks: BTreeMap<&str, (f64, f64)> =
            values.iter().map(|(task, values)| (*task, (values.len() as f64, mean(values)))).collect();
        let n = tasks.len() as f64;
        let of_all = tasks.values().map(|(_, mean)| mean).sum::<f64>() / n;
        if tasks.is_empty() {
            return None;
        }
        let squares: f64 = values
            .values()
            .map(|values| {
                let mean = mean(values);
                values.iter().map(|value| (value - mean).powi(2)).sum::<f64>()
            })
            .sum();
        let freedom = values.values().map(|values| values.len() as f64 - 1.0).sum::<f64>();
        let between = tasks.values().map(|(_, mean)| (mean - of_all).powi(2)).sum::<f64>() / (n - 1.0);
        Some(Self {
            mean: of_all,
            variance_within: if freedom > 0.0 { squares / freedom } else { (WITHIN_GUESS * of_all).powi(2) },
            variance_between: if n > 1.0 { between } else { (BETWEEN_GUESS * of_all).powi(2) },
            tasks,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn past(values: &[(&str, f64)]) -> Vec<PastAmount> {
        values.iter().map(|(task, value)| PastAmount { task: (*task).to_owned(), value: *value }).collect()
    }

    #[test]
    fn what_is_not_known_widens_the_range() {
        let history = past(&[("a", 90.0), ("a", 110.0), ("b", 90.0), ("b", 110.0), ("c", 90.0), ("c", 110.0)]);
        let width = |tasks: &[Option<String>], history: &[PastAmount]| {
            let found = expected(tasks, 2.0, history).unwrap();
            assert!((found.expected - 200.0 * tasks.len() as f64).abs() < 1e-9, "{found:?}");
            found.high - found.low
        };
        let known = width(&[Some("a".into())], &history);
        let unknown = width(&[Some("z".into())], &past(&[("a", 60.0), ("a", 80.0), ("b", 120.0), ("b", 140.0)]));
        let from_one = width(&[None], &past(&[("a", 100.0)]));
        assert!(0.0 < known && known < unknown && unknown < from_one, "{known} {unknown} {from_one}");
    }

    #[test]
    fn without_history_there_is_no_estimate() {
        let nonsense = past(&[("a", f64::NAN), ("a", 0.0), ("a", -3.0)]);
        assert_eq!((expected(&[None], 2.0, &[]), expected(&[None], 2.0, &nonsense)), (None, None));
        assert_eq!(expected(&[], 2.0, &past(&[("a", 1.0)])), None);
    }
}
