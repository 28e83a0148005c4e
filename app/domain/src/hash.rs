//! Content addresses: SHA-256 values which name blobs, trees and tasks.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The SHA-256 of some bytes; shown and stored as 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ContentHash([u8; 32]);

/// A text that is no content hash.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a SHA-256 in 64 hexadecimal digits")]
pub struct NotAHash;

impl ContentHash {
    /// Stands in the plan of an imported evaluation for a task or skill version whose bytes nobody here has seen. Shown as unknown.
    pub const UNKNOWN: Self = Self([0; 32]);

    /// The hash, unless it is [`ContentHash::UNKNOWN`].
    #[must_use]
    pub fn known(self) -> Option<Self> {
        (self != Self::UNKNOWN).then_some(self)
    }

    /// The hash of `bytes`.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// A hash made elsewhere, for example while a file was streamed to disk.
    #[must_use]
    pub const fn from_digest(digest: [u8; 32]) -> Self {
        Self(digest)
    }

    /// All 64 digits.
    #[must_use]
    pub fn to_hex(self) -> String {
        hex::encode(self.0)
    }

    /// The first 12 digits, for people; never for look-up.
    #[must_use]
    pub fn short(self) -> String {
        self.to_hex().chars().take(12).collect()
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_hex())
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ContentHash({})", self.short())
    }
}

impl FromStr for ContentHash {
    type Err = NotAHash;

    fn from_str(text: &str) -> Result<Self, NotAHash> {
        let mut digest = [0; 32];
        hex::decode_to_slice(text, &mut digest).map_err(|_| NotAHash)?;
        Ok(Self(digest))
    }
}

impl TryFrom<String> for ContentHash {
    type Error = NotAHash;

    fn try_from(text: String) -> Result<Self, NotAHash> {
        text.parse()
    }
}

impl From<ContentHash> for String {
    fn from(hash: ContentHash) -> Self {
        hash.to_hex()
    }
}
