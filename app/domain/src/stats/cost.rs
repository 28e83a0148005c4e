//! Money (F12): tokens by class times a price list, and what a solved task costs.

use serde::{Deserialize, Serialize};

use crate::usage::TokenUsage;

/// List prices in one currency for a million tokens of each class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PriceList {
    /// Which list, and of when: stored beside every cost.
    pub version: String,
    /// Prompt tokens outside the cache.
    pub input: f64,
    /// Prompt tokens read from the cache.
    pub cache_read: f64,
    /// Prompt tokens written to the cache.
    pub cache_write: f64,
    /// Tokens that the model wrote, reasoning included.
    pub output: f64,
}

impl PriceList {
    /// The cost of some usage; `None` as soon as a class is unknown, or where a price is no number.
    #[must_use]
    pub fn cost(&self, usage: &TokenUsage) -> Option<f64> {
        const PRICED_PER: f64 = 1e6;
        let classes = [
            (usage.input, self.input),
            (usage.cache_read, self.cache_read),
            (usage.cache_write, self.cache_write),
            (usage.output, self.output),
        ];
        let sum = classes
            .into_iter()
            .try_fold(0.0, |sum, (tokens, price)| Some(sum + tokens? as f64 / PRICED_PER * price))?;
        sum.is_finite().then_some(sum)
    }
}

/// Σ cost ÷ Σ passes; `None` without a pass, or where the cost is no amount.
#[must_use]
pub fn cost_per_solve(cost: f64, passes: u64) -> Option<f64> {
    (passes > 0 && cost.is_finite() && cost >= 0.0).then(|| cost / passes as f64)
}

#[cfg(test)]
mod tests {
    use super::{PriceList, TokenUsage, cost_per_solve};

    #[test]
    fn an_unknown_class_makes_the_cost_unknown() {
        let prices = PriceList {
            version: "example 2026-01".to_owned(),
            input: 3.0,
            cache_read: 0.3,
            cache_write: 3.75,
            output: 15.0,
        };
        let usage =
            TokenUsage { input: Some(1_000_000), cache_read: Some(0), cache_write: Some(0), output: Some(200_000) };
        assert_eq!(prices.cost(&usage), Some(6.0));
        assert_eq!(prices.cost(&TokenUsage { cache_read: None, ..usage }), None);
        assert_eq!(PriceList { output: f64::NAN, ..prices }.cost(&usage), None);
        assert_eq!(
            (cost_per_solve(6.0, 4), cost_per_solve(6.0, 0), cost_per_solve(f64::NAN, 1)),
            (Some(1.5), None, None)
        );
    }
}
