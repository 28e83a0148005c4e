//! The 2 × 2 table of pairs: a, b, c, d of McNemar's test by their names here.

use serde::{Deserialize, Serialize};

use crate::condition::Flip;

/// How many complete pairs ended in which way: those of one task, or of many.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PairCounts {
    /// Both passed (a).
    pub both: u32,
    /// Only the with-skill trial passed (b).
    pub rescued: u32,
    /// Only the no-skill trial passed (c).
    pub broken: u32,
    /// Neither passed (d).
    pub neither: u32,
}

impl PairCounts {
    /// Counts one more pair.
    pub fn record(&mut self, flip: Flip) {
        let count = match flip {
            Flip::Both => &mut self.both,
            Flip::Rescued => &mut self.rescued,
            Flip::Broken => &mut self.broken,
            Flip::Neither => &mut self.neither,
        };
        *count = count.saturating_add(1);
    }

    /// All pairs (n).
    #[must_use]
    pub fn pairs(&self) -> u64 {
        self.concordant() + self.discordant()
    }

    /// Pairs whose arms differ (b + c).
    #[must_use]
    pub fn discordant(&self) -> u64 {
        u64::from(self.rescued) + u64::from(self.broken)
    }

    /// Pairs that the with-skill arm passed (a + b).
    #[must_use]
    pub fn passed_with(&self) -> u64 {
        u64::from(self.both) + u64::from(self.rescued)
    }

    /// Pairs that the no-skill arm passed (a + c).
    #[must_use]
    pub fn passed_without(&self) -> u64 {
        u64::from(self.both) + u64::from(self.broken)
    }

    /// b − c.
    #[must_use]
    pub fn net_rescued(&self) -> i64 {
        i64::from(self.rescued) - i64::from(self.broken)
    }

    /// The table with the arms exchanged.
    #[must_use]
    pub fn mirrored(&self) -> Self {
        Self { rescued: self.broken, broken: self.rescued, ..*self }
    }

    fn concordant(&self) -> u64 {
        u64::from(self.both) + u64::from(self.neither)
    }
}

impl FromIterator<Flip> for PairCounts {
    fn from_iter<I: IntoIterator<Item = Flip>>(flips: I) -> Self {
        let mut counts = Self::default();
        flips.into_iter().for_each(|flip| counts.record(flip));
        counts
    }
}

impl std::iter::Sum for PairCounts {
    fn sum<I: Iterator<Item = Self>>(tables: I) -> Self {
        tables.fold(Self::default(), |sum, table| Self {
            both: sum.both.saturating_add(table.both),
            rescued: sum.rescued.saturating_add(table.rescued),
            broken: sum.broken.saturating_add(table.broken),
            neither: sum.neither.saturating_add(table.neither),
        })
    }
}
