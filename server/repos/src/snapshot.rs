//! A commit's tree as one tar, ready to be put into an image: its files and a `.git` of one commit, and nothing of its past or future.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use domain::finding::Finding;
use domain::hash::ContentHash;
use domain::path::RelPath;
use domain::repository::CommitId;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use tar::{Builder, EntryType, Header};

use crate::cache::Pinned;
use crate::entries::{Entry, EntryKind, twins};
use crate::error::RepoError;
use crate::objects::Objects;
use crate::working_copy;

/// Raised whenever the same request is to give another tar.
const VERSION: &str = "1";
/// Every file has the same time (2024-01-01): times must not matter.
pub(crate) const MTIME: u64 = 1_704_067_200;
/// Longest target of a symbolic link that fits into a header as it is.
const SHORT_LINK: usize = 100;
/// How a file begins whose content lies elsewhere, and the longest such file.
const LFS: &[u8] = b"version https://git-lfs.github.com/spec/";
const LFS_BYTES: u64 = 1024;

/// What is wanted of a commit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SnapshotRequest {
    /// Only these files and folders; empty = all.
    pub sparse: Vec<RelPath>,
    /// Folders that are left out wherever they lie, such as `.claude` or `.agents/skills`.
    pub leave_out: Vec<String>,
}

/// The tar of a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// Where it lies.
    pub tar: PathBuf,
    /// SHA-256 of it.
    pub hash: ContentHash,
    /// Bytes of it.
    pub size: u64,
    /// The one commit of the `.git` in it, which takes the place of the pinned one.
    pub commit: CommitId,
    /// What a person should know.
    pub findings: Vec<Finding>,
}

/// What is remembered beside the tar.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Facts {
    hash: ContentHash,
    size: u64,
    commit: CommitId,
    left_out: Vec<String>,
    submodules: Vec<String>,
    lfs: Vec<String>,
    twins: Option<Finding>,
}

impl SnapshotRequest {
    fn key(&self) -> String {
        let mut hasher = Sha256::new();
        let mut part = |text: &str| {
            hasher.update((text.len() as u64).to_be_bytes());
            hasher.update(text.as_bytes());
        };
        part(VERSION);
        self.sparse.iter().for_each(|path| part(path.as_str()));
        part("");
        self.leave_out.iter().for_each(|folder| part(folder));
        hex::encode(hasher.finalize()).chars().take(16).collect()
    }

    fn wants(&self, path: &str) -> bool {
        let is_in = |wanted: &RelPath| {
            path.strip_prefix(wanted.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.sparse.is_empty() || self.sparse.iter().any(is_in)
    }

    /// The folder by which a path is left out.
    fn out<'p>(&self, path: &'p str) -> Option<&'p str> {
        let ended = |at: usize| path.as_bytes().get(at).is_none_or(|byte| *byte == b'/');
        let starts = |at: usize| at == 0 || path.as_bytes().get(at - 1) == Some(&b'/');
        self.leave_out.iter().find_map(|folder| {
            let found = path.match_indices(folder.as_str()).map(|(at, _)| (at, at + folder.len()));
            found.filter(|(at, end)| starts(*at) && ended(*end)).find_map(|(_, end)| path.get(..end))
        })
    }
}

impl Pinned {
    /// The tar of this commit, made once for each request.
    ///
    /// # Errors
    /// [`RepoError`]: a tree that is refused or too large, sparse paths that name nothing, trouble with the disk.
    pub async fn snapshot(&self, request: &SnapshotRequest) -> Result<Snapshot, RepoError> {
        let key = request.key();
        let home = self.repositories.home_of(&self.commit);
        let (tar, facts) = (home.join(format!("{key}.tar")), home.join(format!("{key}.json")));
        let _turn = self.repositories.turn(&format!("{} {key}", self.commit)).await;
        if let Some(known) = known(&tar, &facts) {
            return Ok(self.snapshot_of(tar, known));
        }
        let mut left_out = BTreeSet::new();
        let mut entries = self.entries().await?;
        entries.retain(|entry| {
            let path = entry.shown();
            let out = request.out(&path).map(str::to_owned);
            let kept = request.wants(&path) && out.is_none();
            left_out.extend(out.filter(|_| request.wants(&path)));
            kept
        });
        if entries.is_empty() {
            let folder = request.sparse.iter().map(RelPath::as_str).collect::<Vec<_>>().join(", ");
            return Err(RepoError::NoFolder { url: self.url.to_string(), commit: self.commit.to_string(), folder });
        }
        let temporary = tempfile::Builder::new().prefix("snapshot-").tempdir_in(self.repositories.cache());
        let temporary = temporary.map_err(|error| RepoError::disk(self.repositories.cache(), error))?;
        let (dot_git, commit) = working_copy::make(self, &entries, temporary.path()).await?;
        let (objects, unfinished) = (self.objects()?, temporary.path().join("tar"));
        let (left_out, twins) = (left_out.into_iter().collect(), twins(&entries));
        let place = unfinished.clone();
        let written = tokio::task::spawn_blocking(move || write(&place, &dot_git, &entries, objects)).await;
        let written = written.map_err(|error| RepoError::disk(&unfinished, io::Error::other(error)))?;
        let Written { hash, size, submodules, lfs } = written.map_err(|error| RepoError::disk(&unfinished, error))?;
        let known = Facts { hash, size, commit, left_out, submodules, lfs, twins };
        let text = serde_json::to_vec(&known).map_err(|error| RepoError::disk(&facts, error.into()))?;
        std::fs::rename(&unfinished, &tar).map_err(|error| RepoError::disk(&tar, error))?;
        std::fs::write(&facts, text).map_err(|error| RepoError::disk(&facts, error))?;
        Ok(self.snapshot_of(tar, known))
    }

    fn snapshot_of(&self, tar: PathBuf, facts: Facts) -> Snapshot {
        let Facts { hash, size, commit, left_out, submodules, lfs, twins } = facts;
        let note = |code: &str, message: String| Finding::note(code, "repository", message);
        let origin = format!(
            "{} at {}; in the container it is the single commit {commit}, without history and remote",
            self.url, self.commit
        );
        let mut findings = vec![note("repository", origin)];
        if !left_out.is_empty() {
            findings.push(note("agent_folders_removed", format!("left out in both arms: {}", some_of(&left_out))));
        }
        if !submodules.is_empty() {
            findings.push(note(
                "submodules",
                format!("submodules are not fetched; empty folders: {}", some_of(&submodules)),
            ));
        }
        if !lfs.is_empty() {
            let message = format!("{} files lie in LFS and are pointers only: {}", lfs.len(), some_of(&lfs));
            findings.push(Finding::warning("lfs_pointers", "repository", message));
        }
        findings.extend(twins);
        Snapshot { tar, hash, size, commit, findings }
    }
}

fn some_of(names: &[String]) -> String {
    let shown = names.iter().take(5).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(5) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

fn known(tar: &Path, facts: &Path) -> Option<Facts> {
    let known: Facts = serde_json::from_slice(&std::fs::read(facts).ok()?).ok()?;
    (tar.metadata().ok()?.len() == known.size).then_some(known)
}

/// What came of writing.
struct Written {
    hash: ContentHash,
    size: u64,
    submodules: Vec<String>,
    lfs: Vec<String>,
}

fn write(place: &Path, dot_git: &Path, entries: &[Entry], mut objects: Objects) -> io::Result<Written> {
    let out = Tee { file: BufWriter::new(File::create(place)?), hasher: Sha256::new(), size: 0 };
    let mut writer = Writer { tar: Builder::new(out), folders: BTreeSet::new() };
    let (mut submodules, mut lfs) = (Vec::new(), Vec::new());
    for entry in entries {
        match entry.kind {
            EntryKind::Submodule => {
                writer.folder(&entry.path)?;
                submodules.push(entry.shown());
            }
            EntryKind::Link => {
                let target = objects.read(&entry.id, 1 << 16)?;
                writer.link(&entry.path, &target)?;
            }
            EntryKind::File { executable } if entry.size <= LFS_BYTES => {
                let bytes = objects.read(&entry.id, LFS_BYTES)?;
                if bytes.starts_with(LFS) {
                    lfs.push(entry.shown());
                }
                writer.file(&entry.path, executable, bytes.len() as u64, &mut bytes.as_slice())?;
            }
            EntryKind::File { executable } => {
                objects.with(&entry.id, |size, content| writer.file(&entry.path, executable, size, content))?;
            }
        }
    }
    writer.dot_git(dot_git, ".git")?;
    let mut out = writer.tar.into_inner()?;
    out.flush()?;
    let hash = ContentHash::from_digest(out.hasher.finalize().into());
    Ok(Written { hash, size: out.size, submodules, lfs })
}

struct Writer {
    tar: Builder<Tee>,
    folders: BTreeSet<Vec<u8>>,
}

impl Writer {
    /// The folders that a path lies in, each once and before what is in it.
    fn parents(&mut self, path: &[u8]) -> io::Result<()> {
        let ends = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at);
        for end in ends.collect::<Vec<_>>() {
            self.folder(path.get(..end).unwrap_or_default())?;
        }
        Ok(())
    }

    fn folder(&mut self, path: &[u8]) -> io::Result<()> {
        if self.folders.insert(path.to_vec()) {
            self.parents(path)?;
            self.tar.append_data(&mut header(EntryType::Directory, 0o755, 0), as_path(path), io::empty())?;
        }
        Ok(())
    }

    fn file(&mut self, path: &[u8], executable: bool, size: u64, content: &mut dyn Read) -> io::Result<()> {
        self.parents(path)?;
        let mode = if executable { 0o755 } else { 0o644 };
        self.tar.append_data(&mut header(EntryType::Regular, mode, size), as_path(path), content)
    }

    fn link(&mut self, path: &[u8], target: &[u8]) -> io::Result<()> {
        self.parents(path)?;
        let mut header = header(EntryType::Symlink, 0o777, 0);
        if target.len() <= SHORT_LINK {
            header.set_link_name_literal(target)?;
            return self.tar.append_data(&mut header, as_path(path), io::empty());
        }
        self.tar.append_link(&mut header, as_path(path), as_path(target))
    }

    /// The files of the new `.git`, which nobody but us has written.
    fn dot_git(&mut self, folder: &Path, at: &str) -> io::Result<()> {
        self.folder(at.as_bytes())?;
        let mut entries = std::fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
        entries.sort_by_key(std::fs::DirEntry::file_name);
        for entry in entries {
            let at = format!("{at}/{}", entry.file_name().to_string_lossy());
            let kind = entry.metadata()?;
            if kind.is_dir() {
                self.dot_git(&entry.path(), &at)?;
            } else {
                self.file(at.as_bytes(), false, kind.len(), &mut File::open(entry.path())?)?;
            }
        }
        Ok(())
    }
}

fn header(kind: EntryType, mode: u32, size: u64) -> Header {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(MTIME);
    header.set_size(size);
    header
}

fn as_path(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

/// Counts and hashes what goes to the disk.
struct Tee {
    file: BufWriter<File>,
    hasher: Sha256,
    size: u64,
}

impl Write for Tee {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.hasher.update(bytes.get(..written).unwrap_or_default());
        self.size += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_left_out_wherever_they_lie() {
        let leave_out = vec![".claude".to_owned(), ".agents/skills".to_owned()];
        let request = SnapshotRequest { leave_out, sparse: Vec::new() };
        for (path, want) in [
            (".claude/skills/a/SKILL.md", Some(".claude")),
            ("web/.claude/settings.json", Some("web/.claude")),
            (".claude", Some(".claude")),
            ("a/.agents/skills/x", Some("a/.agents/skills")),
            (".agents/README.md", None),
            ("x.claude/a", None),
            (".claudette/a", None),
        ] {
            assert_eq!(request.out(path), want, "{path}");
        }
    }

    #[test]
    fn sparse_paths_are_whole_names() {
        let request = SnapshotRequest { sparse: vec![RelPath::new("src/a").unwrap()], leave_out: Vec::new() };
        for (path, want) in [("src/a", true), ("src/a/b", true), ("src/ab", false), ("src", false)] {
            assert_eq!(request.wants(path), want, "{path}");
        }
    }
}
