//! Conditions on the result, such as `delta<0`, by which a CI job fails.

use std::str::FromStr;

use domain::report::Totals;

/// `METRIC OP NUMBER`.
#[derive(Debug, Clone, PartialEq)]
pub struct FailIf {
    metric: Metric,
    comparison: Comparison,
    limit: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// The numbers that can be asked for, by their names in the JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Metric {
    Delta,
    DeltaLow,
    Rho,
    PassRateWith,
    PassRateWithout,
    Rescued,
    Broken,
    PairsComplete,
    PairsIncomplete,
    TokensWith,
    TokensWithout,
    PValue,
}

const METRICS: [(&str, Metric); 12] = [
    ("delta", Metric::Delta),
    ("delta_low", Metric::DeltaLow),
    ("rho", Metric::Rho),
    ("pass_rate_with", Metric::PassRateWith),
    ("pass_rate_without", Metric::PassRateWithout),
    ("rescued", Metric::Rescued),
    ("broken", Metric::Broken),
    ("pairs_complete", Metric::PairsComplete),
    ("pairs_incomplete", Metric::PairsIncomplete),
    ("tokens_with", Metric::TokensWith),
    ("tokens_without", Metric::TokensWithout),
    ("p_value", Metric::PValue),
];

/// What became of a condition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Held {
    /// It does not hold.
    No,
    /// It holds: fail.
    Yes,
    /// The number is unknown: fail as well, since nothing was shown.
    Unknown,
}

impl FromStr for FailIf {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("'{text}' is no condition; write one like delta<0, rho>0.5 or broken>=1");
        let start = text.find(['<', '>']).ok_or_else(wrong)?;
        let (name, rest) = text.split_at_checked(start).ok_or_else(wrong)?;
        let (comparison, limit) = [
            ("<=", Comparison::LessOrEqual),
            (">=", Comparison::GreaterOrEqual),
            ("<", Comparison::Less),
            (">", Comparison::Greater),
        ]
        .into_iter()
        .find_map(|(sign, comparison)| Some((comparison, rest.strip_prefix(sign)?)))
        .ok_or_else(wrong)?;
        let known = || METRICS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
        let metric = METRICS.iter().find(|(known, _)| *known == name.trim()).map(|(_, metric)| *metric);
        let metric = metric.ok_or_else(|| format!("there is no number '{}'; there are: {}", name.trim(), known()))?;
        let limit: f64 = limit.trim().parse().map_err(|_| wrong())?;
        if !limit.is_finite() {
            return Err(wrong());
        }
        Ok(Self { metric, comparison, limit })
    }
}

impl FailIf {
    /// Asks the condition of a result.
    pub fn held(&self, totals: &Totals) -> Held {
        let Some(value) = self.metric.of(totals) else { return Held::Unknown };
        let held = match self.comparison {
            Comparison::Less => value < self.limit,
            Comparison::LessOrEqual => value <= self.limit,
            Comparison::Greater => value > self.limit,
            Comparison::GreaterOrEqual => value >= self.limit,
        };
        if held { Held::Yes } else { Held::No }
    }
}

impl Metric {
    fn of(self, totals: &Totals) -> Option<f64> {
        match self {
            Self::Delta => totals.delta,
            Self::DeltaLow => totals.delta_ci.map(|ci| ci.low),
            Self::Rho => totals.rho,
            Self::PassRateWith => totals.pass_rate_with,
            Self::PassRateWithout => totals.pass_rate_without,
            Self::Rescued => Some(totals.rescued as f64),
            Self::Broken => Some(totals.broken as f64),
            Self::PairsComplete => Some(totals.pairs_complete as f64),
            Self::PairsIncomplete => Some(totals.pairs_incomplete as f64),
            Self::TokensWith => totals.tokens_with,
            Self::TokensWithout => totals.tokens_without,
            Self::PValue => totals.p_value,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_read_and_asked() {
        let totals = Totals { delta: Some(-0.1), broken: 2, ..Totals::of(&[], &[]) };
        for (text, want) in [
            ("delta<0", Held::Yes),
            ("delta < -0.1", Held::No),
            ("delta<=-0.1", Held::Yes),
            ("broken>=2", Held::Yes),
            ("broken>2", Held::No),
            ("rho>0.5", Held::Unknown),
        ] {
            assert_eq!(text.parse::<FailIf>().unwrap().held(&totals), want, "{text}");
        }
        for text in ["", "delta", "delta=0", "delta<", "delta<nan", "speed<1", "<0"] {
            assert!(text.parse::<FailIf>().is_err(), "{text}");
        }
    }
}
