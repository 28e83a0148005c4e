//! Conditions on the result, such as `verdict=harms` or `delta_high<0`, by which a CI job fails.

use std::fmt;
use std::str::FromStr;

use domain::report::Totals;

use super::{Exit, terminal};

/// A condition.
#[derive(Debug, Clone, PartialEq)]
pub enum FailIf {
    /// `METRIC OP NUMBER`.
    Number { metric: Metric, comparison: Comparison, limit: f64 },
    /// `verdict=WORD`, or `verdict!=WORD`.
    Verdict { word: &'static str, is: bool },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// The numbers that can be asked for, by their names in the JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    Delta,
    DeltaLow,
    DeltaHigh,
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

const METRICS: [(&str, Metric); 13] = [
    ("delta", Metric::Delta),
    ("delta_low", Metric::DeltaLow),
    ("delta_high", Metric::DeltaHigh),
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

/// The verdicts by their words in the JSON.
const VERDICTS: [&str; 5] = ["improves", "harms", "no_effect", "inconclusive", "cannot_be_resolved"];

/// What became of a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Held {
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
        let known = || METRICS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
        let wrong = || {
            format!(
                "'{text}' is no condition; write verdict=WORD or verdict!=WORD ({}), or a number compared by <, <=, > or >=, as delta_high<0 ({})",
                VERDICTS.join(", "),
                known()
            )
        };
        if let Some(rest) = text.trim().strip_prefix("verdict") {
            return verdict(rest).ok_or_else(wrong);
        }
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
        let metric = METRICS.iter().find(|(known, _)| *known == name.trim()).map(|(_, metric)| *metric);
        let metric = metric.ok_or_else(|| format!("there is no number '{}'; there are: {}", name.trim(), known()))?;
        let limit: f64 = limit.trim().parse().map_err(|_| wrong())?;
        if !limit.is_finite() {
            return Err(wrong());
        }
        if metric.is_share() && limit.abs() > 1.0 {
            return Err(format!("'{text}' can never tell anything: it is a share, and 10 percentage points are 0.1"));
        }
        Ok(Self::Number { metric, comparison, limit })
    }
}

impl Metric {
    /// Whether it lies in −1..=1.
    const fn is_share(self) -> bool {
        match self {
            Self::Delta | Self::DeltaLow | Self::DeltaHigh => true,
            Self::PassRateWith | Self::PassRateWithout | Self::PValue => true,
            Self::Rho | Self::Rescued | Self::Broken | Self::PairsComplete | Self::PairsIncomplete => false,
            Self::TokensWith | Self::TokensWithout => false,
        }
    }
}

/// `=WORD` or `!=WORD`.
fn verdict(text: &str) -> Option<FailIf> {
    let text = text.trim();
    let (is, word) =
        text.strip_prefix("!=").map(|word| (false, word)).or(text.strip_prefix('=').map(|word| (true, word)))?;
    let word = VERDICTS.into_iter().find(|known| *known == word.trim())?;
    Some(FailIf::Verdict { word, is })
}

/// The exit code by these conditions; each that holds is told with what it met.
pub fn concluded(conditions: &[FailIf], totals: &Totals) -> Exit {
    let mut exit = Exit::Done;
    for condition in conditions {
        let why = match condition.held(totals) {
            Held::No => continue,
            Held::Yes => format!("holds: {}", condition.met(totals)),
            Held::Unknown => "counts as met, since what it asks for is unknown".to_owned(),
        };
        terminal::tell(&format!("--fail-if {condition} {why}"));
        exit = Exit::Condition;
    }
    exit
}

impl FailIf {
    /// Asks the condition of a result.
    fn held(&self, totals: &Totals) -> Held {
        let held = match self {
            Self::Number { metric, comparison, limit } => {
                metric.of(totals).map(|value| comparison.holds(value, *limit))
            }
            Self::Verdict { word, is } => totals.verdict.map(|verdict| (verdict.word() == *word) == *is),
        };
        match held {
            None => Held::Unknown,
            Some(true) => Held::Yes,
            Some(false) => Held::No,
        }
    }

    /// What it was asked of.
    fn met(&self, totals: &Totals) -> String {
        match self {
            Self::Number { metric, .. } => {
                let value = metric.of(totals).map_or_else(String::new, |value| value.to_string());
                format!("{} is {value}", metric.name())
            }
            Self::Verdict { .. } => {
                format!("the verdict is {}", totals.verdict.map_or("unknown", |verdict| verdict.word()))
            }
        }
    }
}

/// As it was written.
impl fmt::Display for FailIf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number { metric, comparison, limit } => write!(f, "{}{}{limit}", metric.name(), comparison.sign()),
            Self::Verdict { word, is } => write!(f, "verdict{}{word}", if *is { "=" } else { "!=" }),
        }
    }
}

impl Comparison {
    const fn sign(self) -> &'static str {
        match self {
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
        }
    }

    fn holds(self, value: f64, limit: f64) -> bool {
        match self {
            Self::Less => value < limit,
            Self::LessOrEqual => value <= limit,
            Self::Greater => value > limit,
            Self::GreaterOrEqual => value >= limit,
        }
    }
}

impl Metric {
    fn name(self) -> &'static str {
        METRICS.iter().find(|(_, metric)| *metric == self).map_or("", |(name, _)| name)
    }

    fn of(self, totals: &Totals) -> Option<f64> {
        match self {
            Self::Delta => totals.delta,
            Self::DeltaLow => totals.delta_ci.map(|ci| ci.low),
            Self::DeltaHigh => totals.delta_ci.map(|ci| ci.high),
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
    use domain::stats::interval::Interval;
    use domain::stats::verdict::{Adjustment, DeltaVerdict, Evidence};

    use super::*;

    #[test]
    fn conditions_are_read_and_asked() {
        let ci = Interval { low: -0.2, high: -0.05 };
        let verdict = Some(DeltaVerdict::Harms(Evidence { delta: -0.1, ci, p: 0.01, adjustment: Adjustment::Raw }));
        let totals = Totals { delta: Some(-0.1), broken: 2, verdict, ..Totals::of(&[], &[]) };
        for (text, want) in [
            ("delta<0", Held::Yes),
            ("delta < -0.1", Held::No),
            ("delta<=-0.1", Held::Yes),
            ("broken>=2", Held::Yes),
            ("broken>2", Held::No),
            ("rho>0.5", Held::Unknown),
            ("delta_high<0", Held::Unknown),
            ("verdict=harms", Held::Yes),
            ("verdict = improves", Held::No),
            ("verdict!=improves", Held::Yes),
            ("verdict!=harms", Held::No),
        ] {
            let condition = text.parse::<FailIf>().unwrap();
            assert_eq!((condition.held(&totals), condition.to_string()), (want, text.replace(' ', "")));
        }
        for text in [
            "",
            "delta",
            "delta=0",
            "delta<",
            "delta<nan",
            "delta<=10",
            "speed<1",
            "<0",
            "verdict",
            "verdict=good",
            "verdict<1",
        ] {
            assert!(text.parse::<FailIf>().is_err(), "{text}");
        }
    }
}
