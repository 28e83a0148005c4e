//! The data folder and its lock: a data folder has one owner at a time.

use std::fs::{self, File, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{Result, StoreError};

/// The file that is locked.
const LOCK: &str = "owner.lock";
/// Most bytes of it that are read.
const MOST: u64 = 256;

/// A data folder that this process owns until the last clone is dropped; the operating system ends the ownership of a killed process.
#[derive(Debug, Clone)]
pub struct DataDir {
    inner: Arc<Owned>,
}

#[derive(Debug)]
struct Owned {
    path: PathBuf,
    // Closing it gives the lock back.
    lock: File,
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
        Ok(Self { inner: Arc::new(Owned { path, lock }) })
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

    /// Tells whoever wants the folder meanwhile where its owner's pages are.
    ///
    /// # Errors
    /// [`StoreError::Io`], [`StoreError::DiskFull`].
    pub fn is_served_at(&self, address: &str) -> Result<()> {
        write_owner(&self.inner.lock, address).map_err(StoreError::io("write", self.inner.path.join(LOCK)))
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
    let path = folder.join(LOCK);
    let file = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(&path)
        .map_err(StoreError::io("open", &path))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let (owner, address) = owner(&file);
            return Err(StoreError::InUse { path: folder.to_owned(), owner, address });
        }
        Err(TryLockError::Error(source)) => return Err(StoreError::io("lock", &path)(source)),
    }
    write_owner(&file, "").map_err(StoreError::io("write", &path))?;
    Ok(file)
}

/// Process id and address, a line each.
fn write_owner(mut file: &File, address: &str) -> std::io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    writeln!(file, "{}\n{address}", std::process::id())?;
    file.sync_all()
}

/// What [`write_owner`] wrote, as far as it can be read.
fn owner(file: &File) -> (Option<String>, Option<String>) {
    let mut text = String::new();
    if file.take(MOST).read_to_string(&mut text).is_err() {
        return (None, None);
    }
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let pid = lines.next().filter(|pid| pid.bytes().all(|b| b.is_ascii_digit()));
    let address = lines.next().filter(|address| address.bytes().all(|b| b.is_ascii_graphic()));
    (pid.map(str::to_owned), address.map(str::to_owned))
}
