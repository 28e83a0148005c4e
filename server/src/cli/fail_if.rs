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

/// What can be asked for, by its name.
struct Known {
    name: &'static str,
    metric: Metric,
    /// What its value is.
    unit: &'static str,
}

const SHARE: &str = "percentage points as a share, −1 to 1";
const RATE: &str = "share, 0 to 1";
const PAIRS: &str = "pairs";
const TOKENS: &str = "tokens a trial";

const KNOWN: [Known; 13] = [
    Known { name: "delta", metric: Metric::Delta, unit: SHARE },
    Known { name: "delta_low", metric: Metric::DeltaLow, unit: SHARE },
    Known { name: "delta_high", metric: Metric::DeltaHigh, unit: SHARE },
    Known { name: "rho", metric: Metric::Rho, unit: "relative change, from −1" },
    Known { name: "pass_rate_with", metric: Metric::PassRateWith, unit: RATE },
    Known { name: "pass_rate_without", metric: Metric::PassRateWithout, unit: RATE },
    Known { name: "rescued", metric: Metric::Rescued, unit: PAIRS },
    Known { name: "broken", metric: Metric::Broken, unit: PAIRS },
    Known { name: "pairs_complete", metric: Metric::PairsComplete, unit: PAIRS },
    Known { name: "pairs_incomplete", metric: Metric::PairsIncomplete, unit: PAIRS },
    Known { name: "tokens_with", metric: Metric::TokensWith, unit: TOKENS },
    Known { name: "tokens_without", metric: Metric::TokensWithout, unit: TOKENS },
    Known { name: "p_value", metric: Metric::PValue, unit: "probability, 0 to 1" },
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
        let known = || KNOWN.map(|known| format!("{} ({})", known.name, known.unit)).join(", ");
        let wrong = || {
            format!(
                "'{text}' is no condition; write verdict=WORD or verdict!=WORD ({}), or a number compared by <, <=, > or >=, as delta_high<0: {}",
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
        let metric = KNOWN.iter().find(|known| known.name == name.trim()).map(|known| known.metric);
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
        KNOWN.iter().find(|known| known.metric == self).map_or("", |known| known.name)
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

    /// Each row of the table names one, its unit as it is told here, and an example that is a condition on it.
    #[test]
    fn every_name_stands_in_the_documentation_with_its_unit_and_an_example() {
        let docs = include_str!("../../../docs/ci.md");
        let table = docs.split_once("| name | what | unit | example |").unwrap().1;
        let rows = table.lines().skip(2).take_while(|line| line.starts_with('|'));
        let rows: Vec<Vec<&str>> =
            rows.map(|row| row.trim_matches('|').split(" | ").map(str::trim).collect()).collect();
        let names: Vec<&str> = rows.iter().map(|row| row[0].trim_matches('`')).collect();
        let known = KNOWN.iter().map(|known| known.name);
        assert_eq!(names, known.chain(["verdict"]).collect::<Vec<_>>());
        for row in &rows {
            let [name, _, unit, example] = row.as_slice() else { panic!("{row:?}") };
            let (name, example) = (name.trim_matches('`'), example.trim_matches('`'));
            let units = match example.parse::<FailIf>().unwrap_or_else(|why| panic!("{example}: {why}")) {
                FailIf::Number { metric, .. } => {
                    assert_eq!(metric.name(), name);
                    KNOWN.iter().find(|known| known.metric == metric).unwrap().unit.to_owned()
                }
                FailIf::Verdict { .. } => VERDICTS.map(|word| format!("`{word}`")).join(", "),
            };
            assert_eq!(*unit, units, "{name}");
        }
    }

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
