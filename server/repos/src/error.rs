//! Why a repository could not be had, each with what to do about it.

use std::path::{Path, PathBuf};

/// Trouble with a repository.
#[derive(Debug, thiserror::Error)]
pub enum RepoError {
    /// There is no `git`.
    #[error("the program git cannot be started: {0}; install it (2.32 or newer) where this program finds it")]
    NoGit(#[source] std::io::Error),
    /// The repository is there and does not have the commit.
    #[error(
        "{place} does not have the commit {commit}; check that it is a full commit id of this repository, and update the mirror if it is one"
    )]
    NoCommit {
        /// Where it was looked for.
        place: String,
        /// What was asked for.
        commit: String,
    },
    /// The id is there and names something else.
    #[error("{id} in {place} is no commit but a {kind}; name the commit itself")]
    NotACommit {
        /// Where it was looked for.
        place: String,
        /// What was asked for.
        id: String,
        /// `tag`, `tree` or `blob`.
        kind: String,
    },
    /// No branch or tag of that name.
    #[error(
        "{place} has no branch or tag '{revision}'; name one that it has, or a full commit id (short ids cannot be looked up)"
    )]
    NoRevision {
        /// Where it was looked for.
        place: String,
        /// What was asked for.
        revision: String,
    },
    /// A branch and a tag of one name.
    #[error("'{revision}' is both a branch and a tag of {place}; name the commit instead")]
    Ambiguous {
        /// Where it was looked for.
        place: String,
        /// What was asked for.
        revision: String,
    },
    /// Nothing there.
    #[error(
        "there is no repository at {place} that can be read without a password; check the address, or name a local mirror: --repository-mirror {url}=PATH"
    )]
    NoRepository {
        /// Where it was looked for.
        place: String,
        /// What it stands for.
        url: String,
    },
    /// A local mirror that is gone.
    #[error("the mirror {} of {url} is no git repository; make it with: git clone --mirror {url} {}", .place.display(), .place.display())]
    NoMirror {
        /// The mirror.
        place: PathBuf,
        /// What it stands for.
        url: String,
    },
    /// The host cannot be reached.
    #[error(
        "{place} cannot be reached: {reason}; check the network, proxy and certificates, or name a local mirror: --repository-mirror {url}=PATH"
    )]
    Network {
        /// Where it was looked for.
        place: String,
        /// What it stands for.
        url: String,
        /// As git says it.
        reason: String,
    },
    /// A limit on time.
    #[error(
        "fetching {place} did not end within {seconds} s; try again later, or name a local mirror: --repository-mirror {url}=PATH"
    )]
    Timeout {
        /// Where it was looked for.
        place: String,
        /// What it stands for.
        url: String,
        /// The limit.
        seconds: u64,
    },
    /// A limit on size.
    #[error("{what} is too large: {found}, the limit is {limit}")]
    TooLarge {
        /// The repository or file.
        what: String,
        /// How much there was when it was seen.
        found: String,
        /// How much is allowed.
        limit: String,
    },
    /// Something in the repository that is taken for an attack.
    #[error("the repository is refused: {reason}")]
    Refused {
        /// What and why.
        reason: String,
    },
    /// A sub-path that is not there.
    #[error("there is no {folder} in {url} at {commit}; check the part after #")]
    NoFolder {
        /// The repository.
        url: String,
        /// The commit.
        commit: String,
        /// The sub-path.
        folder: String,
    },
    /// The disk.
    #[error("{} cannot be used: {source}; check the disk and its permissions", .path.display())]
    Disk {
        /// What was read or written.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Anything else that git says.
    #[error("git could not {what}: {reason}")]
    Failed {
        /// What was tried.
        what: String,
        /// The end of what it said.
        reason: String,
    },
}

impl RepoError {
    pub(crate) fn disk(path: &Path, source: std::io::Error) -> Self {
        Self::Disk { path: path.to_owned(), source }
    }

    /// Whether the disk is full, which is nobody's fault but the machine's.
    #[must_use]
    pub fn is_disk_full(&self) -> bool {
        match self {
            Self::Disk { source, .. } => source.kind() == std::io::ErrorKind::StorageFull,
            Self::Failed { reason, .. } => reason.contains("No space left on device"),
            _ => false,
        }
    }
}

/// What git's words on a failed look at a remote mean.
pub(crate) fn remote(said: &str, place: &str, url: &str, wanted: &str) -> RepoError {
    let lower = said.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let (place, url) = (place.to_owned(), url.to_owned());
    if says(&["not our ref", "couldn't find remote ref", "unadvertised object"]) {
        return RepoError::NoCommit { place, commit: wanted.to_owned() };
    }
    if says(&["fsck error", "hasdot", "unpack-objects failed", "invalid index-pack output"]) {
        return RepoError::Refused { reason: told(said) };
    }
    if says(&[
        "could not resolve",
        "failed to connect",
        "connection",
        "timed out",
        "ssl",
        "certificate",
        "proxy",
        "requested url returned error: 5",
    ]) {
        return RepoError::Network { place, url, reason: told(said) };
    }
    if says(&[
        "not found",
        "does not appear to be a git repository",
        "authentication",
        "could not read username",
        "error: 40",
    ]) {
        return RepoError::NoRepository { place, url };
    }
    RepoError::Failed { what: format!("fetch {place}"), reason: told(said) }
}

/// The last lines that tell something, cut.
pub(crate) fn told(said: &str) -> String {
    let lines: Vec<&str> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let last = lines.get(lines.len().saturating_sub(3)..).unwrap_or_default().join("; ");
    let clean: String = last.chars().map(|c| if c.is_control() { ' ' } else { c }).take(400).collect();
    if clean.is_empty() { "it ended without a word".to_owned() } else { clean }
}
