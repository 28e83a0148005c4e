//! What a commit's tree lists: every path checked before anything is made of it, and counted while it is read.

use std::collections::BTreeMap;
use std::ffi::OsStr;

use domain::finding::Finding;
use tokio::io::{AsyncBufReadExt, BufReader};

use crate::cache::{Pinned, megabytes};
use crate::error::RepoError;
use crate::git::{LOCAL_TIME, no_start};

/// Longest path, in bytes.
const MAX_PATH: usize = 4096;

/// One entry of a tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Path from the top, as the repository spells it; mostly but not always UTF-8.
    pub path: Vec<u8>,
    /// What it is.
    pub kind: EntryKind,
    /// The id of its content.
    pub id: String,
    /// Bytes; 0 for a submodule.
    pub size: u64,
}

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A file.
    File {
        /// Whether it has its execute bit.
        executable: bool,
    },
    /// A symbolic link; its content is the target.
    Link,
    /// A commit of another repository, which is not fetched.
    Submodule,
}

impl Entry {
    /// The mode as git writes it.
    pub(crate) const fn mode(&self) -> &'static str {
        match self.kind {
            EntryKind::File { executable: false } => "100644",
            EntryKind::File { executable: true } => "100755",
            EntryKind::Link => "120000",
            EntryKind::Submodule => "160000",
        }
    }

    /// The path for people.
    #[must_use]
    pub fn shown(&self) -> String {
        String::from_utf8_lossy(&self.path).into_owned()
    }
}

impl Pinned {
    /// All entries of the commit's tree in path order.
    ///
    /// # Errors
    /// [`RepoError::Refused`] for a path that leads out of the tree or into `.git`, [`RepoError::TooLarge`] where a limit is passed (counted
    /// while the list is read, because a small tree may name itself a million times).
    pub async fn entries(&self) -> Result<Vec<Entry>, RepoError> {
        let git = self.repositories.git();
        let list = ["ls-tree", "-r", "-z", "-l", "--full-tree", self.commit.as_str()].map(OsStr::new);
        let mut command = git.command(&self.folder, &list);
        command
            .stdin(std::process::Stdio::null())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::null());
        let mut child = command.spawn().map_err(no_start)?;
        let failed =
            |reason: &str| RepoError::Failed { what: format!("list {}", self.commit), reason: reason.to_owned() };
        let stdout = child.stdout.take().ok_or_else(|| failed("it has no output"))?;
        let read = async {
            let mut lines = BufReader::new(stdout);
            let mut count = Count::new(self);
            let mut entries = Vec::new();
            let mut line = Vec::new();
            while lines.read_until(0, &mut line).await.map_err(no_start)? > 0 {
                let entry = parse(line.strip_suffix(b"\0").unwrap_or(&line))
                    .ok_or_else(|| failed("its list cannot be read"))?;
                count.add(&entry)?;
                entries.push(entry);
                line.clear();
            }
            Ok(entries)
        };
        let entries = tokio::time::timeout(LOCAL_TIME, read).await.map_err(|_| failed("it did not end"))??;
        if child.wait().await.map_err(no_start)?.success() {
            Ok(entries)
        } else {
            Err(failed("it ended with an error"))
        }
    }
}

struct Count<'a> {
    pinned: &'a Pinned,
    files: usize,
    bytes: u64,
}

impl<'a> Count<'a> {
    const fn new(pinned: &'a Pinned) -> Self {
        Self { pinned, files: 0, bytes: 0 }
    }

    fn add(&mut self, entry: &Entry) -> Result<(), RepoError> {
        if let Some(why) = fault(&entry.path) {
            return Err(RepoError::Refused { reason: format!("the path {:?} {why}", entry.shown()) });
        }
        let limits = self.pinned.repositories.limits();
        self.files += 1;
        self.bytes = self.bytes.saturating_add(entry.size);
        let whole = || format!("the tree of {} at {}", self.pinned.url, self.pinned.commit.short());
        let too_large = |what: String, found: String, limit: String| Err(RepoError::TooLarge { what, found, limit });
        if self.files > limits.files {
            return too_large(whole(), format!("more than {} files", limits.files), format!("{} files", limits.files));
        }
        if entry.size > limits.file_bytes {
            return too_large(entry.shown(), megabytes(entry.size), megabytes(limits.file_bytes));
        }
        if self.bytes > limits.total_bytes {
            return too_large(
                whole(),
                format!("more than {}", megabytes(limits.total_bytes)),
                megabytes(limits.total_bytes),
            );
        }
        Ok(())
    }
}

/// `100644 blob 0123…     33\tpath`.
fn parse(line: &[u8]) -> Option<Entry> {
    let tab = line.iter().position(|byte| *byte == b'\t')?;
    let (head, path) = (line.get(..tab)?, line.get(tab + 1..)?);
    let head = std::str::from_utf8(head).ok()?;
    let mut words = head.split_ascii_whitespace();
    let (mode, kind, id, size) = (words.next()?, words.next()?, words.next()?, words.next()?);
    let kind = match (mode, kind) {
        ("120000", "blob") => EntryKind::Link,
        ("160000", "commit") => EntryKind::Submodule,
        (mode, "blob") => {
            EntryKind::File { executable: mode.ends_with("755") || mode.ends_with("775") || mode.ends_with("777") }
        }
        _ => return None,
    };
    Some(Entry { path: path.to_vec(), kind, id: id.to_owned(), size: size.parse().unwrap_or(0) })
}

/// Why a path cannot be put anywhere.
fn fault(path: &[u8]) -> Option<&'static str> {
    if path.len() > MAX_PATH {
        return Some("is longer than 4096 bytes");
    }
    path.split(|byte| *byte == b'/').find_map(|segment| match segment {
        b"" | b"." | b".." => Some("leads out of the repository"),
        segment if segment.eq_ignore_ascii_case(b".git") => Some("leads into .git"),
        _ => None,
    })
}

/// Paths that differ in upper and lower case alone: one of them is lost on other systems, and people wonder.
pub(crate) fn twins(entries: &[Entry]) -> Option<Finding> {
    let mut spellings: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for entry in entries {
        spellings.entry(entry.shown().to_lowercase()).or_default().push(entry.shown());
    }
    let mut twins = spellings.into_values().filter(|paths| paths.len() > 1).map(|paths| paths.join(" and "));
    let first = twins.next()?;
    let message = format!("{first} differ in upper and lower case alone; both are there in the container");
    Some(Finding::note(
        "case_collision",
        "repository",
        match twins.count() {
            0 => message,
            more => format!("{message} (and so do {more} more)"),
        },
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_list_are_read() {
        let id = "0".repeat(40);
        let entry = |line: &str| parse(line.as_bytes()).map(|entry| (entry.shown(), entry.kind, entry.size));
        for (line, want) in [
            (format!("100644 blob {id}      33\ta b"), Some(("a b", EntryKind::File { executable: false }, 33))),
            (format!("100755 blob {id}       0\tx"), Some(("x", EntryKind::File { executable: true }, 0))),
            (format!("120000 blob {id}       4\tl"), Some(("l", EntryKind::Link, 4))),
            (format!("160000 commit {id}       -\tm"), Some(("m", EntryKind::Submodule, 0))),
            (format!("040000 tree {id}       -\tt"), None),
            ("nonsense".to_owned(), None),
        ] {
            assert_eq!(entry(&line), want.map(|(path, kind, size)| (path.to_owned(), kind, size)), "{line}");
        }
    }

    #[test]
    fn paths_that_lead_out_are_told() {
        for (path, bad) in [
            ("a/b", false),
            ("..a/b..", false),
            (".gitignore", false),
            ("../a", true),
            ("a/../../b", true),
            ("/a", true),
            ("a//b", true),
            (".git/config", true),
            ("a/.GIT/hooks/x", true),
        ] {
            assert_eq!(fault(path.as_bytes()).is_some(), bad, "{path}");
        }
    }
}
