//! What is kept of repositories, and removing what was not used for long. What is missed is fetched again.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use domain::repository::CommitId;

use crate::cache::Repositories;
use crate::error::RepoError;
use crate::git::size;

/// Says by its time when a commit was used last.
const USED: &str = "used";
/// How folders begin that are work in progress; what a killed program left of them belongs to nobody.
const UNFINISHED: [&str; 3] = ["fetch-", "snapshot-", "gone-"];

/// A commit that is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptCommit {
    /// Which.
    pub commit: CommitId,
    /// Bytes of it, and of what was made of it.
    pub bytes: u64,
    /// When it was used last.
    pub last_used: SystemTime,
}

impl Repositories {
    /// What is kept, least recently used first.
    ///
    /// # Errors
    /// [`RepoError::Disk`].
    pub fn kept(&self) -> Result<Vec<KeptCommit>, RepoError> {
        let mut kept = Vec::new();
        for (name, folder) in folders(self.cache())? {
            if let Ok(commit) = CommitId::new(&name) {
                let last_used = last_used(&folder).map_err(|error| RepoError::disk(&folder, error))?;
                kept.push(KeptCommit { commit, bytes: size(&folder), last_used });
            }
        }
        kept.sort_by(|a, b| (a.last_used, a.commit.as_str()).cmp(&(b.last_used, b.commit.as_str())));
        Ok(kept)
    }

    /// Removes commits that were last used before `oldest`, least recently used first, for as long as `wanted` says so, and what an
    /// interrupted fetch left. To be called while nothing works on repositories. Answers what went.
    ///
    /// # Errors
    /// [`RepoError::Disk`]; what went before is gone.
    pub async fn prune(
        &self,
        oldest: SystemTime,
        wanted: impl Fn() -> bool + Send,
    ) -> Result<Vec<KeptCommit>, RepoError> {
        for (name, folder) in folders(self.cache())? {
            let is_unfinished = UNFINISHED.iter().any(|start| name.starts_with(start));
            if is_unfinished && modified(&folder).is_ok_and(|at| at < oldest) {
                fs::remove_dir_all(&folder).map_err(|error| RepoError::disk(&folder, error))?;
            }
        }
        let mut gone = Vec::new();
        for kept in self.kept()? {
            let _turn = self.turn(kept.commit.as_str()).await;
            let home = self.home_of(&kept.commit);
            // Somebody may have used it since it was looked at.
            let is_old = last_used(&home).is_ok_and(|at| at < oldest);
            if !is_old || !wanted() {
                continue;
            }
            remove(self.cache(), &home).map_err(|error| RepoError::disk(&home, error))?;
            gone.push(kept);
        }
        Ok(gone)
    }

    /// Notes that a commit is used now. Its time is only for tidying: that it cannot be noted stops nothing.
    pub(crate) fn touch(&self, commit: &CommitId) {
        let _noted =
            File::create(self.home_of(commit).join(USED)).and_then(|file| file.set_modified(SystemTime::now()));
    }
}

/// In one step out of the way, and then gone: a half-removed commit is never found.
fn remove(cache: &Path, home: &Path) -> io::Result<()> {
    let gone = tempfile::Builder::new().prefix("gone-").tempdir_in(cache)?;
    fs::rename(home, gone.path().join("commit"))?;
    gone.close()
}

fn last_used(home: &Path) -> io::Result<SystemTime> {
    modified(&home.join(USED)).or_else(|_| modified(home))
}

fn modified(path: &Path) -> io::Result<SystemTime> {
    fs::metadata(path)?.modified()
}

/// The folders of the cache by name; none where nothing was fetched yet.
fn folders(cache: &Path) -> Result<Vec<(String, PathBuf)>, RepoError> {
    let entries = match fs::read_dir(cache) {
        Ok(entries) => entries.collect::<io::Result<Vec<_>>>(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error),
    };
    let entries = entries.map_err(|error| RepoError::disk(cache, error))?;
    let folders = entries.into_iter().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    Ok(folders.map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path())).collect())
}
