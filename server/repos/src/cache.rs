//! Repositories on this machine: each commit is fetched once, whole and alone, and moved into place when it is complete.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use domain::repository::{CommitId, RepositoryUrl};
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};

use crate::error::{RepoError, remote};
use crate::git::{Ended, Git, Guard, no_start, size};
use crate::mirrors::Place;
use crate::{RepoLimits, RepositoriesConfig};

/// Longest look-up of a branch or tag.
const LOOK_UP_TIME: Duration = Duration::from_secs(60);

/// Everything that is fetched. Clones are cheap and share their turns.
#[derive(Clone)]
pub struct Repositories(Arc<Shared>);

impl fmt::Debug for Repositories {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Repositories").field("cache", &self.0.config.cache).finish_non_exhaustive()
    }
}

struct Shared {
    config: RepositoriesConfig,
    git: Git,
    turns: Mutex<HashMap<String, Weak<AsyncMutex<()>>>>,
}

/// A commit that is here, with all of its files.
#[derive(Clone)]
pub struct Pinned {
    pub(crate) repositories: Repositories,
    pub(crate) url: RepositoryUrl,
    pub(crate) commit: CommitId,
    /// The bare repository that holds it.
    pub(crate) folder: PathBuf,
}

impl Repositories {
    /// With this cache and these limits. Nothing is touched before the first fetch.
    #[must_use]
    pub fn new(config: RepositoriesConfig) -> Self {
        let git = Git::new(&config);
        Self(Arc::new(Shared { config, git, turns: Mutex::default() }))
    }

    pub(crate) fn git(&self) -> &Git {
        &self.0.git
    }

    pub(crate) fn limits(&self) -> &RepoLimits {
        &self.0.config.limits
    }

    pub(crate) fn cache(&self) -> &Path {
        &self.0.config.cache
    }

    /// The folder of everything kept of a commit.
    pub(crate) fn home_of(&self, commit: &CommitId) -> PathBuf {
        self.cache().join(commit.as_str())
    }

    /// The version of the program that fetches, such as `git version 2.47.3`.
    ///
    /// # Errors
    /// [`RepoError::NoGit`].
    pub async fn version(&self) -> Result<String, RepoError> {
        self.git().prepare()?;
        let command = self.git().command(self.cache(), &[OsStr::new("version")]);
        let printed = self.git().local("say its version", command, b"").await?;
        Ok(String::from_utf8_lossy(&printed).trim().to_owned())
    }

    /// Mirrors on this machine that are no repositories, as sentences with a remedy.
    #[must_use]
    pub fn broken_mirrors(&self) -> Vec<String> {
        let urls = self.0.config.mirrors.urls();
        let broken = urls.filter_map(|(url, place)| self.reachable(place, url).err());
        broken.map(|error| error.to_string()).collect()
    }

    /// The commit that a branch or tag names now; a full commit id is taken as it is. `None` = the head of the default branch.
    ///
    /// # Errors
    /// [`RepoError`]; nothing is kept.
    pub async fn resolve(&self, url: &RepositoryUrl, revision: Option<&str>) -> Result<CommitId, RepoError> {
        if let Some(commit) = revision.and_then(|revision| CommitId::new(revision).ok()) {
            return Ok(commit);
        }
        self.git().prepare()?;
        let place = self.0.config.mirrors.of(url);
        let names = match revision {
            None => vec!["HEAD".to_owned()],
            Some(name) => {
                vec![format!("refs/heads/{name}"), format!("refs/tags/{name}"), format!("refs/tags/{name}^{{}}")]
            }
        };
        let source = self.reachable(&place, url)?;
        let mut arguments = vec![OsStr::new("ls-remote"), OsStr::new("--quiet"), OsStr::new("--"), OsStr::new(&source)];
        arguments.extend(names.iter().map(OsStr::new));
        let guard = Guard { time: LOOK_UP_TIME, room: None };
        let command = self.remote_command(self.cache(), &place, &arguments);
        let printed = self.git().output(command, b"", &guard).await;
        let printed =
            printed.map_err(|ended| self.gone_wrong(ended, &place, url, revision.unwrap_or("HEAD"), &guard))?;
        let text = String::from_utf8_lossy(&printed);
        let found = |name: &str| {
            let line = text.lines().find_map(|line| line.split_once('\t').filter(|(_, found)| *found == name));
            line.and_then(|(id, _)| CommitId::new(id).ok())
        };
        let (place, revision) = (place.shown(), revision.unwrap_or("HEAD").to_owned());
        match names.as_slice() {
            [head] => found(head).ok_or(RepoError::NoRevision { place, revision }),
            [branch, tag, peeled] | [branch, tag, peeled, ..] => {
                match (found(branch), found(peeled).or_else(|| found(tag))) {
                    (Some(branch), Some(tag)) if branch != tag => Err(RepoError::Ambiguous { place, revision }),
                    (branch, tag) => branch.or(tag).ok_or(RepoError::NoRevision { place, revision }),
                }
            }
            _ => Err(RepoError::NoRevision { place, revision }),
        }
    }

    /// Brings a commit here, if it is not yet: its tree alone, without history, tags, submodules or anything of LFS.
    ///
    /// # Errors
    /// [`RepoError`] with what to do about it; nothing half-fetched is kept.
    pub async fn fetch(&self, url: &RepositoryUrl, commit: &CommitId) -> Result<Pinned, RepoError> {
        let home = self.home_of(commit);
        let folder = home.join("objects.git");
        let pinned = Pinned { repositories: self.clone(), url: url.clone(), commit: commit.clone(), folder };
        self.git().prepare()?;
        let _turn = self.turn(commit.as_str()).await;
        if pinned.folder.is_dir() {
            self.touch(commit);
            return Ok(pinned);
        }
        std::fs::create_dir_all(&home).map_err(|error| RepoError::disk(&home, error))?;
        let temporary = tempfile::Builder::new().prefix("fetch-").tempdir_in(self.cache());
        let temporary = temporary.map_err(|error| RepoError::disk(self.cache(), error))?;
        self.fetch_into(temporary.path(), url, commit).await?;
        let kept = temporary.keep();
        std::fs::rename(&kept, &pinned.folder).map_err(|error| RepoError::disk(&pinned.folder, error))?;
        self.touch(commit);
        Ok(pinned)
    }

    async fn fetch_into(&self, folder: &Path, url: &RepositoryUrl, commit: &CommitId) -> Result<(), RepoError> {
        let format = if commit.as_str().len() == 64 { "--object-format=sha256" } else { "--object-format=sha1" };
        let init = ["init", "--quiet", "--bare", "--template=", format].map(OsStr::new);
        self.git().local("make a repository", self.git().command(folder, &init), b"").await?;
        let place = self.0.config.mirrors.of(url);
        let source = self.reachable(&place, url)?;
        let options =
            ["fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head"];
        let mut arguments: Vec<&OsStr> = options.iter().map(OsStr::new).collect();
        arguments.extend([OsStr::new("--"), OsStr::new(&source), OsStr::new(commit.as_str())]);
        let RepoLimits { fetch_bytes, fetch_time, .. } = *self.limits();
        let guard = Guard { time: fetch_time, room: Some((folder, fetch_bytes)) };
        let command = self.remote_command(folder, &place, &arguments);
        let fetched = self.git().output(command, b"", &guard).await;
        // A fast one is over before anybody has looked at its size.
        let fetched = fetched.and_then(|_| match size(folder) {
            size if size > fetch_bytes => Err(Ended::Full(size)),
            _ => Ok(()),
        });
        fetched.map_err(|ended| self.gone_wrong(ended, &place, url, commit.as_str(), &guard))?;
        let kind = ["cat-file", "-t", commit.as_str()].map(OsStr::new);
        let kind = self.git().local("look at the commit", self.git().command(folder, &kind), b"").await?;
        match String::from_utf8_lossy(&kind).trim() {
            "commit" => Ok(()),
            other => {
                let (place, id) = (place.shown(), commit.to_string());
                Err(RepoError::NotACommit { place, id, kind: other.to_owned() })
            }
        }
    }

    /// What git is told to fetch from.
    fn reachable(&self, place: &Place, url: &RepositoryUrl) -> Result<String, RepoError> {
        match place {
            Place::Url(url) => Ok(url.to_string()),
            Place::Folder(folder) => {
                let is_there = folder.join("objects").is_dir() || folder.join(".git").exists();
                let missing = || RepoError::NoMirror { place: folder.clone(), url: url.to_string() };
                if is_there { Ok(format!("file://{}", folder.display())) } else { Err(missing()) }
            }
        }
    }

    fn remote_command(&self, folder: &Path, place: &Place, arguments: &[&OsStr]) -> tokio::process::Command {
        let mut command = self.git().command(folder, arguments);
        if matches!(place, Place::Folder(_)) {
            command.env("GIT_ALLOW_PROTOCOL", "file");
        }
        command
    }

    fn gone_wrong(
        &self,
        ended: Ended,
        place: &Place,
        url: &RepositoryUrl,
        wanted: &str,
        guard: &Guard<'_>,
    ) -> RepoError {
        let (shown, url) = (place.shown(), url.to_string());
        match ended {
            Ended::Io(error) => no_start(error),
            Ended::Failed(said) => remote(&said, &shown, &url, wanted),
            Ended::Late => RepoError::Timeout { place: shown, url, seconds: guard.time.as_secs() },
            Ended::Full(size) => RepoError::TooLarge {
                what: format!("the repository {url} at {wanted}"),
                found: megabytes(size),
                limit: megabytes(self.limits().fetch_bytes),
            },
        }
    }

    /// Waits until nobody else works on the same.
    pub(crate) async fn turn(&self, key: &str) -> OwnedMutexGuard<()> {
        let lock = {
            let mut turns = self.0.turns.lock().unwrap_or_else(PoisonError::into_inner);
            turns.retain(|_, lock| lock.strong_count() > 0);
            let lock = turns.get(key).and_then(Weak::upgrade).unwrap_or_default();
            turns.insert(key.to_owned(), Arc::downgrade(&lock));
            lock
        };
        lock.lock_owned().await
    }
}

impl Pinned {
    /// The commit.
    #[must_use]
    pub const fn commit(&self) -> &CommitId {
        &self.commit
    }

    /// The repository.
    #[must_use]
    pub const fn url(&self) -> &RepositoryUrl {
        &self.url
    }
}

/// A size for people.
pub(crate) fn megabytes(bytes: u64) -> String {
    format!("{} MiB", bytes.div_ceil(1 << 20))
}
