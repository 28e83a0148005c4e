//! Published snapshots: the leaderboard as it stood at an instant, kept word for word. A verdict that is adjusted for the rows beside it can be
//! cited only with those rows, so badges speak of published ones alone (statistics §3.2, rule 2).

use serde::{Deserialize, Serialize};

use super::row::LeaderboardRow;
use crate::hash::ContentHash;
use crate::id::SnapshotId;
use crate::time::Timestamp;

/// A published snapshot as lists and banners tell of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublishedSnapshot {
    /// Its row.
    pub id: SnapshotId,
    /// SHA-256 of its document.
    pub hash: ContentHash,
    /// How many rows it has.
    pub rows: u32,
    /// When it was published.
    pub at: Timestamp,
}

/// Its document: rows as they were judged, in order of Δ. The same rows make the same bytes, so a leaderboard that did not change is not
/// published twice.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Published {
    /// [`Published::SCHEMA`].
    pub schema: String,
    /// The rows with their standings.
    pub rows: Vec<LeaderboardRow>,
}

impl Published {
    /// Version of the JSON's shape.
    pub const SCHEMA: &str = "skilldelta.snapshot.v1";
}
