//! Token counts by class. Unknown is unknown, never 0.

use serde::{Deserialize, Serialize};

/// Tokens of one call, or of a whole attempt, by class. The classes do not overlap: `input` excludes what was read from or written to the
/// provider's cache. `None` = not reported.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenUsage {
    /// Prompt tokens that were neither read from nor written to a cache.
    pub input: Option<u64>,
    /// Prompt tokens read from a cache.
    pub cache_read: Option<u64>,
    /// Prompt tokens written to a cache.
    pub cache_write: Option<u64>,
    /// Tokens that the model wrote, reasoning included.
    pub output: Option<u64>,
}

impl TokenUsage {
    /// Nothing is known.
    pub const UNKNOWN: Self = Self { input: None, cache_read: None, cache_write: None, output: None };
    /// Known to be nothing: no call was made.
    pub const ZERO: Self = Self { input: Some(0), cache_read: Some(0), cache_write: Some(0), output: Some(0) };

    /// The headline: input + cache read + cache write + output; unknown as soon as one class is.
    #[must_use]
    pub fn total(&self) -> Option<u64> {
        [self.input, self.cache_read, self.cache_write, self.output]
            .into_iter()
            .try_fold(0_u64, |sum, class| Some(sum.saturating_add(class?)))
    }

    /// Class by class sum; a class that is unknown in either is unknown in the sum.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        let add = |a: Option<u64>, b: Option<u64>| Some(a?.saturating_add(b?));
        Self {
            input: add(self.input, other.input),
            cache_read: add(self.cache_read, other.cache_read),
            cache_write: add(self.cache_write, other.cache_write),
            output: add(self.output, other.output),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::TokenUsage;

    #[test]
    fn one_unknown_class_makes_the_sum_unknown() {
        let known = TokenUsage { input: Some(3), cache_read: Some(2), cache_write: Some(0), output: Some(5) };
        assert_eq!(known.total(), Some(10));
        assert_eq!(known.plus(&TokenUsage::ZERO), known);
        let partial = known.plus(&TokenUsage { output: None, ..known });
        assert_eq!((partial.input, partial.output, partial.total()), (Some(6), None, None));
    }
}
