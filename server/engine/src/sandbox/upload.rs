//! Files on their way into a container: one tar for all of them.

use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use domain::tree::LoadedTree;
use tar::{Builder, EntryType, Header};

use super::error::SandboxError;
use super::spec::Owner;

/// Files for absolute places in a container. Folders that are missing are made; those that are there keep mode and owner.
#[derive(Debug, Default)]
pub struct Upload {
    owner: Owner,
    entries: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    path: String,
    mode: u32,
    owner: Owner,
    what: What,
}

#[derive(Debug)]
enum What {
    File(Vec<u8>),
    Folder,
}

impl Upload {
    /// Nothing, owned by root.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What is added from here on belongs to `owner`.
    #[must_use]
    pub const fn owned_by(mut self, owner: Owner) -> Self {
        self.owner = owner;
        self
    }

    /// A folder with exactly this mode, made or changed.
    #[must_use]
    pub fn folder(mut self, path: &str, mode: u32) -> Self {
        self.entries.push(Entry { path: path.to_owned(), mode, owner: self.owner, what: What::Folder });
        self
    }

    /// One file.
    #[must_use]
    pub fn file(mut self, path: &str, bytes: impl Into<Vec<u8>>, executable: bool) -> Self {
        let mode = if executable { 0o755 } else { 0o644 };
        self.entries.push(Entry { path: path.to_owned(), mode, owner: self.owner, what: What::File(bytes.into()) });
        self
    }

    /// A whole tree below `folder` (absolute), which becomes a folder of mode 0755 even when the tree is empty only if asked for by
    /// [`Upload::folder`].
    #[must_use]
    pub fn tree(mut self, folder: &str, tree: &LoadedTree) -> Self {
        let folder = folder.trim_end_matches('/');
        for (path, file) in tree.iter() {
            self = self.file(&format!("{folder}/{path}"), file.bytes.clone(), file.executable);
        }
        self
    }

    /// Whether there is nothing to upload.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The tar, with paths relative to the root folder.
    pub(crate) fn into_tar(self) -> Result<Bytes, SandboxError> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let mut builder = Builder::new(Vec::new());
        for entry in self.entries {
            append(&mut builder, &entry, now)
                .map_err(|error| SandboxError::other(format!("upload {}", entry.path), error))?;
        }
        let bytes = builder.into_inner().map_err(|error| SandboxError::other("upload", error))?;
        Ok(bytes.into())
    }
}

fn append(builder: &mut Builder<Vec<u8>>, entry: &Entry, now: u64) -> std::io::Result<()> {
    let mut header = Header::new_gnu();
    header.set_mode(entry.mode);
    header.set_uid(entry.owner.uid.into());
    header.set_gid(entry.owner.gid.into());
    header.set_mtime(now);
    let path = entry.path.trim_matches('/');
    match &entry.what {
        What::File(bytes) => {
            header.set_entry_type(EntryType::Regular);
            header.set_size(bytes.len() as u64);
            builder.append_data(&mut header, path, bytes.as_slice())
        }
        What::Folder => {
            header.set_entry_type(EntryType::Directory);
            header.set_size(0);
            builder.append_data(&mut header, format!("{path}/"), std::io::empty())
        }
    }
}
