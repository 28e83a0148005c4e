//! A repository of the test's own, made with the program git, and what is asked of it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use domain::repository::{CommitId, RepositoryUrl};
use repos::{Mirrors, RepoLimits, Repositories, RepositoriesConfig};
use tempfile::TempDir;

/// The address that the mirror stands for.
pub const URL: &str = "https://git.example.com/sheep/pen.git";

/// A repository with a work tree, and a cache to fetch it into.
pub struct World {
    pub room: TempDir,
}

impl World {
    pub fn new() -> Self {
        let world = Self { room: tempfile::tempdir().unwrap() };
        world.git(&["init", "-q", "-b", "main", "."]);
        world
    }

    pub fn origin(&self) -> PathBuf {
        self.folder("origin")
    }

    fn folder(&self, name: &str) -> PathBuf {
        let folder = self.room.path().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }

    /// Runs git in the origin; answers what it printed.
    pub fn git(&self, arguments: &[&str]) -> String {
        self.git_with(arguments, b"")
    }

    pub fn git_with(&self, arguments: &[&str], input: &[u8]) -> String {
        git(&self.origin(), arguments, input)
    }

    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.origin().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
        self
    }

    pub fn link(&self, path: &str, target: &str) -> &Self {
        std::os::unix::fs::symlink(target, self.origin().join(path)).unwrap();
        self
    }

    /// Commits everything there is.
    pub fn commit(&self, message: &str) -> CommitId {
        self.git(&["add", "-A", "-f"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", message]);
        id(&self.git(&["rev-parse", "HEAD"]))
    }

    /// A commit of a tree as `git mktree` reads it, which may be one that git itself would never make of files.
    pub fn commit_of(&self, tree: &str) -> CommitId {
        let tree = self.git_with(&["mktree"], tree.as_bytes());
        id(&self.git(&["commit-tree", "-m", "odd", tree.trim()]))
    }

    pub fn blob(&self, content: &[u8]) -> String {
        self.git_with(&["hash-object", "-w", "--stdin"], content).trim().to_owned()
    }

    /// What fetches from the origin in place of [`URL`].
    pub fn repositories(&self, limits: RepoLimits) -> Repositories {
        self.repositories_of(&self.origin(), limits)
    }

    pub fn repositories_of(&self, mirror: &Path, limits: RepoLimits) -> Repositories {
        let mirrors = Mirrors::parse([(URL.to_owned(), mirror.display().to_string())]).unwrap();
        Repositories::new(RepositoriesConfig {
            mirrors,
            search_path: std::env::var_os("PATH"),
            limits,
            ..RepositoriesConfig::at(self.folder("cache"))
        })
    }
}

pub fn url() -> RepositoryUrl {
    RepositoryUrl::new(URL).unwrap()
}

pub fn limits() -> RepoLimits {
    RepoLimits { fetch_time: Duration::from_secs(60), ..RepoLimits::default() }
}

pub fn git(folder: &Path, arguments: &[&str], input: &[u8]) -> String {
    use std::io::Write;
    let mut command = Command::new("git");
    command.args(["-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "protocol.file.allow=always"]);
    command.args(arguments).current_dir(folder).env("GIT_CONFIG_GLOBAL", "/dev/null");
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub fn id(text: &str) -> CommitId {
    CommitId::new(text.trim()).unwrap()
}
