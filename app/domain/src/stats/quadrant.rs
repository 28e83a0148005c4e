//! Δ against ρ: better or worse, dearer or cheaper (F13), and the paper's cost efficiency.

use serde::{Deserialize, Serialize};

/// What Δ and ρ say together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quadrant {
    /// Better and no dearer.
    Dominant,
    /// A trade-off: better, but dearer.
    BetterDearer,
    /// A trade-off: cheaper, but worse.
    CheaperWorse,
    /// Worse and no cheaper.
    Dominated,
    /// Nothing gained, cheaper.
    NullCheaper,
    /// Nothing gained, dearer.
    NullDearer,
    /// Nothing gained, at the same cost.
    Null,
}

impl Quadrant {
    /// The quadrant of Δ and ρ; `None` where one is not a number.
    #[must_use]
    pub fn of(delta: f64, rho: f64) -> Option<Self> {
        use std::cmp::Ordering::{Equal, Greater, Less};
        Some(match (delta.partial_cmp(&0.0)?, rho.partial_cmp(&0.0)?) {
            (Greater, Less | Equal) => Self::Dominant,
            (Greater, Greater) => Self::BetterDearer,
            (Less, Less) => Self::CheaperWorse,
            (Less, Greater | Equal) => Self::Dominated,
            (Equal, Less) => Self::NullCheaper,
            (Equal, Greater) => Self::NullDearer,
            (Equal, Equal) => Self::Null,
        })
    }

    /// All of them, from the best to the worst.
    pub const ALL: [Self; 7] = [
        Self::Dominant,
        Self::BetterDearer,
        Self::NullCheaper,
        Self::Null,
        Self::NullDearer,
        Self::CheaperWorse,
        Self::Dominated,
    ];

    /// The stable word for addresses and JSON.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Dominant => "dominant",
            Self::BetterDearer => "better_dearer",
            Self::CheaperWorse => "cheaper_worse",
            Self::Dominated => "dominated",
            Self::NullCheaper => "null_cheaper",
            Self::NullDearer => "null_dearer",
            Self::Null => "null",
        }
    }

    /// The quadrant of that word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|quadrant| quadrant.word() == word)
    }

    /// Its name, for people.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Dominant => "dominant",
            Self::BetterDearer => "trade-off: better but dearer",
            Self::CheaperWorse => "trade-off: cheaper but worse",
            Self::Dominated => "dominated",
            Self::NullCheaper => "no effect, cheaper",
            Self::NullDearer => "no effect, dearer",
            Self::Null => "no effect",
        }
    }
}

/// CE = Δ ÷ ρ as SWE-Skills-Bench defines it; `None` at ρ = 0 or where one is not finite.
///
/// Negative for the best case (better and cheaper), positive for cheaper but worse: print it, never sort by it.
#[must_use]
pub fn cost_efficiency(delta: f64, rho: f64) -> Option<f64> {
    // Plus 0 makes -0 a plain 0.
    let efficiency = delta / rho + 0.0;
    (delta.is_finite() && rho.is_finite() && efficiency.is_finite()).then_some(efficiency)
}
