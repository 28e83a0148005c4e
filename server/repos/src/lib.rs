//! Git repositories at a commit: fetched shallow, kept by commit, read without ever being checked out on this machine.
//!
//! The program `git` does the work, in an environment of its own: no settings of the system or the user, https only (and the local
//! mirrors that were named), no hooks, filters, submodules, tags, prompts, or helpers. Its plumbing reads objects; nothing of a
//! repository is ever executed or written under a name that the repository chose.

mod cache;
mod entries;
mod error;
mod git;
mod mirrors;
mod objects;
mod prune;
mod snapshot;
mod working_copy;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

pub use cache::{Pinned, Repositories};
pub use entries::{Entry, EntryKind};
pub use error::RepoError;
pub use mirrors::Mirrors;
pub use objects::Objects;
pub use prune::KeptCommit;
pub use snapshot::{Snapshot, SnapshotRequest};

/// How repositories are fetched.
#[derive(Debug, Clone)]
pub struct RepositoriesConfig {
    /// Where they are kept, by commit. May be emptied at any time that nothing is fetched; see [`Repositories::prune`].
    pub cache: PathBuf,
    /// Places used instead of others.
    pub mirrors: Mirrors,
    /// Certificates (PEM) to trust in place of the system's.
    pub ca_bundle: Option<PathBuf>,
    /// Proxy for https.
    pub proxy: Option<String>,
    /// Where programs are looked for (`PATH`).
    pub search_path: Option<OsString>,
    /// Caps.
    pub limits: RepoLimits,
}

impl RepositoriesConfig {
    /// Without mirrors, certificates or proxy of its own.
    #[must_use]
    pub fn at(cache: PathBuf) -> Self {
        let (mirrors, limits) = (Mirrors::default(), RepoLimits::default());
        Self { cache, mirrors, ca_bundle: None, proxy: None, search_path: None, limits }
    }
}

/// Caps on one repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RepoLimits {
    /// Bytes on the disk while it is fetched. Default 2 GiB.
    pub fetch_bytes: u64,
    /// Longest fetch. Default 20 minutes.
    pub fetch_time: Duration,
    /// Files of its tree. Default 300,000.
    pub files: usize,
    /// Largest file. Default 512 MiB.
    pub file_bytes: u64,
    /// All files together. Default 4 GiB.
    pub total_bytes: u64,
}

impl Default for RepoLimits {
    fn default() -> Self {
        Self {
            fetch_bytes: 2 << 30,
            fetch_time: Duration::from_secs(20 * 60),
            files: 300_000,
            file_bytes: 512 << 20,
            total_bytes: 4 << 30,
        }
    }
}
