//! A tree's identity: every path, execute bit, link target and content.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

/// A tree's hash and the bytes of its files.
pub(super) struct TreeHash {
    pub(super) hex: String,
    pub(super) bytes: u64,
}

/// Reads the whole tree. The label itself is not part of it.
pub(super) fn hash(root: &Path) -> io::Result<TreeHash> {
    let mut all = Sha256::new();
    let mut bytes = 0_u64;
    for path in files(root)? {
        let relative = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
        let found = fs::symlink_metadata(&path)?;
        all.update(relative.as_bytes());
        if found.is_symlink() {
            all.update(b"\0link\0");
            all.update(fs::read_link(&path)?.to_string_lossy().as_bytes());
        } else {
            all.update(if found.permissions().mode() & 0o111 == 0 { b"\0file\0" } else { b"\0prog\0" });
            all.update(content(&path)?);
            bytes = bytes.saturating_add(found.len());
        }
        all.update(b"\0");
    }
    Ok(TreeHash { hex: hex::encode(all.finalize()), bytes })
}

/// The bytes of a tree's files.
pub(super) fn size(root: &Path) -> io::Result<u64> {
    let mut bytes = 0_u64;
    for path in files(root)? {
        let found = fs::symlink_metadata(&path)?;
        if found.is_file() {
            bytes = bytes.saturating_add(found.len());
        }
    }
    Ok(bytes)
}

fn content(path: &Path) -> io::Result<[u8; 32]> {
    let mut file = File::open(path)?;
    let mut hash = Sha256::new();
    let mut piece = vec![0; 1 << 20];
    loop {
        let read = file.read(&mut piece)?;
        if read == 0 {
            return Ok(hash.finalize().into());
        }
        hash.update(piece.get(..read).unwrap_or_default());
    }
}

/// Every file and link below, sorted by path.
fn files(root: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            } else if entry.path() != root.join(super::LABEL) {
                found.push(entry.path());
            }
        }
    }
    found.sort();
    Ok(found)
}
