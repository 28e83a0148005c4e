//! The leaderboard: one row for each treatment × agent and version × model × task set, and what may be said of it among the others. A row's own
//! numbers are pooled from all its evaluations ([`RowRecord`], kept in the store); its place, its adjusted p and its verdict come from its family
//! each time a [`Snapshot`] is made ([`Standing`], kept nowhere).

pub mod badge;
mod cells;
mod column;
mod family;
mod honest;
mod paper;
mod published;
mod query;
mod record;
mod row;
mod snapshot;
mod sort;

#[cfg(test)]
mod tests;

pub use cells::cell;
pub use column::Column;
pub use family::Standing;
pub use honest::VerdictCounts;
pub use paper::published_rows;
pub use published::{Published, PublishedSnapshot};
pub use query::{DataSet, LeaderboardQuery, PAGE_SIZE, Shape, Sort};
pub use record::{Names, RowTaskSet, record};
pub use row::{Attestation, LeaderboardRow, Measured, RowRecord, RowSkill, Says};
pub use snapshot::{Facet, Facets, LeaderboardPage, Snapshot};

/// Version of the JSON's shape.
pub const SCHEMA: &str = "skilldelta.leaderboard.v1";
