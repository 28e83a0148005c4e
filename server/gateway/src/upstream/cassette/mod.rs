//! Cassettes: real answers recorded, and given again without a provider.
//!
//! A folder holds one folder for each trial of the plan (its *lane*), and in it one file for each attempt, of which the last counts: JSON
//! lines, one for each answered call. An answer is found again by its request, with times, ids and account marks taken out of it
//! ([`key`]); equal requests of one attempt are told apart by their order. Where only what tools answered is other than recorded, the
//! answer is given all the same and marked as drifted. What is not there is refused loudly.

mod key;
mod record;
mod replay;

pub use key::RequestKey;
pub use record::Recording;
pub use replay::Replay;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use domain::hash::ContentHash;
use serde::{Deserialize, Serialize};

/// The form of a file.
const SCHEMA: &str = "skilldelta-cassette-1";

/// Marks a replayed answer (in its extensions) to a request that differs from the recorded one in what tools had answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drifted;

/// One line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Entry {
    schema: String,
    /// For people; the folder's name is made of it.
    lane: String,
    key: String,
    question: String,
    /// Short hashes of the request's parts, so that a miss can say what differs.
    parts: BTreeMap<String, String>,
    /// The last item of the conversation, as it was compared.
    #[serde(default)]
    last: String,
    status: u16,
    content_type: String,
    body: String,
}

/// A cassette that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CassetteError {
    /// There is no such folder, or it cannot be read.
    #[error("the recording {path} cannot be read; check the path and its permissions")]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

/// Where a lane is kept: readable, and different for different lanes.
fn lane_folder(folder: &Path, lane: &str) -> PathBuf {
    let readable: String = lane.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(60).collect();
    let hash: String = ContentHash::of(lane.as_bytes()).to_hex().chars().take(12).collect();
    folder.join(format!("{}-{hash}", readable.trim_matches('-')))
}
