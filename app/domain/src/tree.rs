//! A tree of files as a value: paths, execute bits and content hashes. The bytes lie in the blob store.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::hash::ContentHash;
use crate::path::RelPath;

/// One file of a [`Tree`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeEntry {
    /// Whether it gets mode 0755 (else 0644) in a container.
    pub executable: bool,
    /// Bytes.
    pub size: u64,
    /// Name of its bytes in the blob store.
    pub hash: ContentHash,
}

/// Files by path, sorted; folders exist by their files only.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Tree {
    files: BTreeMap<RelPath, TreeEntry>,
}

impl Tree {
    /// A tree without files.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts a file in, replacing one at the same path.
    pub fn insert(&mut self, path: RelPath, entry: TreeEntry) {
        self.files.insert(path, entry);
    }

    /// The files in path order.
    pub fn iter(&self) -> impl Iterator<Item = (&RelPath, &TreeEntry)> {
        self.files.iter()
    }

    /// The file at `path`.
    #[must_use]
    pub fn get(&self, path: &str) -> Option<&TreeEntry> {
        RelPath::new(path).ok().and_then(|path| self.files.get(&path))
    }

    /// Number of files.
    #[must_use]
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether it has no files.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Bytes of all files together.
    #[must_use]
    pub fn total_size(&self) -> u64 {
        self.files.values().map(|entry| entry.size).sum()
    }

    /// The files below `folder`, with paths relative to it.
    #[must_use]
    pub fn below(&self, folder: &str) -> Self {
        let files = self.files.iter().filter_map(|(path, entry)| Some((path.below(folder)?, *entry)));
        Self { files: files.collect() }
    }

    /// The files whose path `keep` accepts.
    #[must_use]
    pub fn filter(&self, mut keep: impl FnMut(&RelPath) -> bool) -> Self {
        let files = self.files.iter().filter(|(path, _)| keep(path)).map(|(path, entry)| (path.clone(), *entry));
        Self { files: files.collect() }
    }

    /// The address of the whole tree: SHA-256 over, for each file in path order, the path's length as a big-endian u64, the path,
    /// one byte for the execute bit, and the content's hash. Equal exactly when paths, execute bits and contents are equal.
    #[must_use]
    pub fn hash(&self) -> ContentHash {
        let mut hasher = Sha256::new();
        hasher.update(b"skilldelta-tree-1\0");
        for (path, entry) in &self.files {
            hasher.update((path.as_str().len() as u64).to_be_bytes());
            hasher.update(path.as_str().as_bytes());
            hasher.update([u8::from(entry.executable)]);
            hasher.update(entry.hash.to_hex().as_bytes());
        }
        ContentHash::from_digest(hasher.finalize().into())
    }
}

impl FromIterator<(RelPath, TreeEntry)> for Tree {
    fn from_iter<I: IntoIterator<Item = (RelPath, TreeEntry)>>(files: I) -> Self {
        Self { files: files.into_iter().collect() }
    }
}

/// A tree together with the bytes of its files: what a loader hands over before they are stored.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LoadedTree {
    files: BTreeMap<RelPath, LoadedFile>,
}

/// One file of a [`LoadedTree`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadedFile {
    /// Whether it gets mode 0755 (else 0644) in a container.
    pub executable: bool,
    /// The whole content.
    pub bytes: Vec<u8>,
}

impl LoadedTree {
    /// A tree without files.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Puts a file in; answers the one that was there before.
    pub fn insert(&mut self, path: RelPath, file: LoadedFile) -> Option<LoadedFile> {
        self.files.insert(path, file)
    }

    /// The files in path order.
    pub fn iter(&self) -> impl Iterator<Item = (&RelPath, &LoadedFile)> {
        self.files.iter()
    }

    /// The file at `path`.
    #[must_use]
    pub fn get(&self, path: &str) -> Option<&LoadedFile> {
        RelPath::new(path).ok().and_then(|path| self.files.get(&path))
    }

    /// Number of files.
    #[must_use]
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether it has no files.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// The files below `folder`, with paths relative to it.
    #[must_use]
    pub fn below(&self, folder: &str) -> Self {
        let files = self.files.iter().filter_map(|(path, file)| Some((path.below(folder)?, file.clone())));
        Self { files: files.collect() }
    }

    /// The tree without its bytes.
    #[must_use]
    pub fn summary(&self) -> Tree {
        let entry = |file: &LoadedFile| TreeEntry {
            executable: file.executable,
            size: file.bytes.len() as u64,
            hash: ContentHash::of(&file.bytes),
        };
        self.files.iter().map(|(path, file)| (path.clone(), entry(file))).collect()
    }
}

impl FromIterator<(RelPath, LoadedFile)> for LoadedTree {
    fn from_iter<I: IntoIterator<Item = (RelPath, LoadedFile)>>(files: I) -> Self {
        Self { files: files.into_iter().collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, bool, &str)]) -> Tree {
        files
            .iter()
            .map(|(path, executable, text)| {
                let file = LoadedFile { executable: *executable, bytes: text.as_bytes().to_vec() };
                (RelPath::new(path).unwrap(), file)
            })
            .collect::<LoadedTree>()
            .summary()
    }

    #[test]
    fn the_hash_covers_paths_bits_and_contents_and_nothing_else() {
        let base = tree(&[("SKILL.md", false, "x"), ("run.sh", true, "y")]);
        assert_eq!(base.hash(), tree(&[("run.sh", true, "y"), ("SKILL.md", false, "x")]).hash());
        for other in [
            tree(&[("SKILL.md", false, "x"), ("run.sh", false, "y")]),
            tree(&[("SKILL.md", false, "x"), ("run.sh", true, "z")]),
            tree(&[("SKILL.md", false, "x"), ("ran.sh", true, "y")]),
            tree(&[("SKILL.md", false, "x")]),
        ] {
            assert_ne!(base.hash(), other.hash());
        }
    }
}
