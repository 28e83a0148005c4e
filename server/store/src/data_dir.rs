//! The data folder and its lock: a data folder has one owner at a time.

use std::fs::{self, File, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{Result, StoreError};

/// A data folder that this process owns until the last clone is dropped; the operating system ends the ownership of a killed process.
#[derive(Debug, Clone)]
pub struct DataDir {
    inner: Arc<Owned>,
}

#[derive(Debug)]
struct Owned {
    path: PathBuf,
    // Held, never read: closing it gives the lock back.
    _lock: File,
}

impl DataDir {
    /// Makes the folder (readable by its user alone) if it is not there, and takes its lock.
    ///
    /// # Errors
    /// [`StoreError::InUse`] if another process, or another `DataDir` of this one, owns it; [`StoreError::Io`] if it cannot be made.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        make_private(path).map_err(StoreError::io("make the data folder", path))?;
        let path = path.canonicalize().map_err(StoreError::io("find", path))?;
        let lock = lock(&path)?;
        Ok(Self { inner: Arc::new(Owned { path, _lock: lock }) })
    }

    /// Whether a folder that is not there yet could be made. Nothing is left behind.
    ///
    /// # Errors
    /// [`StoreError::Io`] where what is there of its path is no folder, or lets nothing be made in it.
    pub fn could_be_made(path: &Path) -> Result<()> {
        let path = std::path::absolute(path).map_err(StoreError::io("find", path))?;
        let there = path.ancestors().find(|part| part.exists()).unwrap_or(&path);
        tempfile::tempdir_in(there).map(drop).map_err(StoreError::io("make the data folder below", there))
    }

    /// Its absolute path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.inner.path
    }

    /// The database file inside it.
    #[must_use]
    pub fn database(&self) -> PathBuf {
        self.inner.path.join("skilldelta.sqlite")
    }
}

#[cfg(unix)]
fn make_private(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

#[cfg(not(unix))]
fn make_private(path: &Path) -> std::io::Result<()> {
    fs::create_dir_all(path)
}

fn lock(folder: &Path) -> Result<File> {
    let path = folder.join("owner.lock");
    let mut file = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(&path)
        .map_err(StoreError::io("open", &path))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            return Err(StoreError::InUse { path: folder.to_owned(), owner: owner(&mut file) });
        }
        Err(TryLockError::Error(source)) => return Err(StoreError::io("lock", &path)(source)),
    }
    write_owner(&mut file).map_err(StoreError::io("write", &path))?;
    Ok(file)
}

fn write_owner(file: &mut File) -> std::io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "{}", std::process::id())?;
    file.sync_all()
}

fn owner(file: &mut File) -> Option<String> {
    let mut text = String::new();
    file.take(32).read_to_string(&mut text).ok()?;
    let pid = text.trim();
    (!pid.is_empty() && pid.bytes().all(|b| b.is_ascii_digit())).then(|| pid.to_owned())
}
