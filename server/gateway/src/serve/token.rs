//! The key of one trial, which is worth nothing anywhere else.

use std::fmt;
use std::io;

use crate::secret::Secret;

/// Bytes of randomness.
const BYTES: usize = 24;

/// What a container holds in place of a provider's key. Valid as long as its trial is served.
#[derive(Clone, PartialEq, Eq)]
pub struct TrialToken(Secret);

impl TrialToken {
    /// A new one.
    ///
    /// # Errors
    /// A system without randomness.
    pub fn random() -> io::Result<Self> {
        let mut bytes = [0_u8; BYTES];
        getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        // Some clients look at the beginning of a key.
        Ok(Self(Secret::new(&format!("sk-trial-{hex}"))))
    }

    /// The text, for the container's environment.
    #[must_use]
    pub fn expose(&self) -> &str {
        self.0.expose()
    }

    /// Whether this is it. Takes the same time wherever they differ.
    #[must_use]
    pub fn matches(&self, shown: &str) -> bool {
        let (own, shown) = (self.expose().as_bytes(), shown.as_bytes());
        own.len() == shown.len() && own.iter().zip(shown).fold(0, |differ, (a, b)| differ | (a ^ b)) == 0
    }
}

impl fmt::Debug for TrialToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TrialToken({})", self.0)
    }
}
