//! Blobs: files below `<data>/blobs`, named by the SHA-256 of their bytes. A file is written beside its place, synced and renamed, so that
//! it is there whole or not at all.

use std::fs;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use domain::attempt::BlobRef;
use domain::hash::ContentHash;
use domain::path::RelPath;
use domain::tree::{LoadedFile, LoadedTree, Tree};
use sha2::{Digest, Sha256};
use tempfile::{NamedTempFile, TempPath};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};

use crate::error::{Result, StoreError};

const CHUNK: usize = 64 * 1024;
/// Files of a tree that are written side by side, so that they share the disk's syncs.
const LANES: usize = 8;

/// The blob store of a data folder. Clones are cheap.
#[derive(Debug, Clone)]
pub struct Blobs {
    root: PathBuf,
}

impl Blobs {
    /// Makes the folders, and removes what a killed process left half written: the data folder's lock is held, so nobody writes there now.
    pub(crate) fn open(root: &Path) -> Result<Self> {
        let blobs = Self { root: root.to_owned() };
        let unfinished = blobs.unfinished();
        match fs::remove_dir_all(&unfinished) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(StoreError::io("empty", &unfinished)(error));
            }
            _ => {}
        }
        fs::create_dir_all(&unfinished).map_err(StoreError::io("make", &unfinished))?;
        Ok(blobs)
    }

    /// Stores `bytes`. Storing the same bytes again costs a look.
    ///
    /// # Errors
    /// [`StoreError::DiskFull`], [`StoreError::Io`].
    pub async fn put(&self, bytes: impl Into<Vec<u8>>) -> Result<BlobRef> {
        let (blobs, bytes) = (self.clone(), bytes.into());
        blocking(move || blobs.put_now(&bytes)).await
    }

    /// Stores what `reader` yields, at most `limit` bytes, without holding it in memory.
    ///
    /// # Errors
    /// [`StoreError::TooLarge`] as soon as the limit is passed; [`StoreError::DiskFull`], [`StoreError::Io`]. Nothing is kept then.
    pub async fn put_stream(&self, mut reader: impl AsyncRead + Unpin, limit: u64) -> Result<BlobRef> {
        let mut writer = self.writer(limit).await?;
        let mut chunk = vec![0; CHUNK];
        loop {
            let read =
                reader.read(&mut chunk).await.map_err(StoreError::io("read what is to be stored in", &self.root))?;
            match chunk.get(..read) {
                Some(bytes) if !bytes.is_empty() => writer.write(bytes).await?,
                _ => return writer.finish().await,
            }
        }
    }

    /// Starts a blob that grows piece by piece, up to `limit` bytes. It exists once it is finished; a writer dropped earlier leaves nothing.
    ///
    /// # Errors
    /// [`StoreError::DiskFull`], [`StoreError::Io`].
    pub async fn writer(&self, limit: u64) -> Result<BlobWriter> {
        let blobs = self.clone();
        let (file, path) = blocking(move || Ok(blobs.begin()?.into_parts())).await?;
        let file = tokio::fs::File::from_std(file);
        Ok(BlobWriter { blobs: self.clone(), file, path, hasher: Sha256::new(), size: 0, limit })
    }

    /// Stores every file of a tree; the answer names them.
    ///
    /// # Errors
    /// [`StoreError::DiskFull`], [`StoreError::Io`]. Files already stored stay, harmlessly.
    pub async fn put_tree(&self, tree: LoadedTree) -> Result<Tree> {
        let (names, tree) = (tree.summary(), Arc::new(tree));
        let mut lanes = tokio::task::JoinSet::new();
        for lane in 0..LANES {
            let (blobs, tree) = (self.clone(), Arc::clone(&tree));
            let mine =
                move || tree.iter().skip(lane).step_by(LANES).try_for_each(|(_, f)| blobs.put_now(&f.bytes).map(drop));
            lanes.spawn(blocking(mine));
        }
        while let Some(done) = lanes.join_next().await {
            done.unwrap_or(Err(StoreError::Closed))?;
        }
        Ok(names)
    }

    /// Reads every file of a tree into memory.
    ///
    /// # Errors
    /// As [`Blobs::get`].
    pub async fn load_tree(&self, tree: &Tree) -> Result<LoadedTree> {
        let blobs = self.clone();
        let files: Vec<(RelPath, _)> = tree.iter().map(|(path, entry)| (path.clone(), *entry)).collect();
        blocking(move || {
            let load = |(path, entry): (RelPath, domain::tree::TreeEntry)| {
                Ok((path, LoadedFile { executable: entry.executable, bytes: blobs.get_now(entry.hash)? }))
            };
            files.into_iter().map(load).collect()
        })
        .await
    }

    /// The whole content, checked against its name.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], [`StoreError::BlobDamaged`], [`StoreError::Io`].
    pub async fn get(&self, hash: ContentHash) -> Result<Vec<u8>> {
        let blobs = self.clone();
        blocking(move || blobs.get_now(hash)).await
    }

    /// At most `length` bytes from `offset` on; fewer, or none, at the end. Not checked against the name.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], [`StoreError::Io`].
    pub async fn get_range(&self, hash: ContentHash, offset: u64, length: u64) -> Result<Vec<u8>> {
        let path = self.path(hash);
        blocking(move || {
            let mut file = fs::File::open(&path).map_err(missing(hash, &path))?;
            let mut bytes = Vec::new();
            file.seek(SeekFrom::Start(offset))
                .and_then(|_| file.take(length).read_to_end(&mut bytes))
                .map_err(StoreError::io("read", &path))?;
            Ok(bytes)
        })
        .await
    }

    /// The file, to stream from.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], [`StoreError::Io`].
    pub async fn open_file(&self, hash: ContentHash) -> Result<tokio::fs::File> {
        let path = self.path(hash);
        tokio::fs::File::open(&path).await.map_err(missing(hash, &path))
    }

    /// Bytes of a blob; `None` if it is not there.
    ///
    /// # Errors
    /// [`StoreError::Io`].
    pub async fn size(&self, hash: ContentHash) -> Result<Option<u64>> {
        let path = self.path(hash);
        match tokio::fs::metadata(&path).await {
            Ok(metadata) => Ok(Some(metadata.len())),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(StoreError::io("look at", &path)(error)),
        }
    }

    /// Where a blob lies once it is stored: `ab/cdef…`.
    fn path(&self, hash: ContentHash) -> PathBuf {
        let digits = hash.to_hex();
        let (folder, name) = digits.split_at_checked(2).unwrap_or(("", &digits));
        self.root.join(folder).join(name)
    }

    fn unfinished(&self) -> PathBuf {
        self.root.join("unfinished")
    }

    fn begin(&self) -> Result<NamedTempFile> {
        let folder = self.unfinished();
        NamedTempFile::new_in(&folder).map_err(StoreError::io("write in", &folder))
    }

    fn has(&self, blob: BlobRef) -> bool {
        // A file cut short by a failing disk is replaced rather than trusted.
        fs::metadata(self.path(blob.hash)).is_ok_and(|metadata| metadata.len() == blob.size)
    }

    fn put_now(&self, bytes: &[u8]) -> Result<BlobRef> {
        let blob = BlobRef { hash: ContentHash::of(bytes), size: bytes.len() as u64 };
        if self.has(blob) {
            return Ok(blob);
        }
        let mut file = self.begin()?;
        file.write_all(bytes).and_then(|()| file.as_file().sync_all()).map_err(StoreError::io("write", file.path()))?;
        self.place(file.into_temp_path(), blob)
    }

    /// Gives a complete, synced file its name.
    fn place(&self, file: TempPath, blob: BlobRef) -> Result<BlobRef> {
        if self.has(blob) {
            return Ok(blob);
        }
        let path = self.path(blob.hash);
        let folder = path.parent().unwrap_or(&self.root);
        let made = !folder.exists();
        fs::create_dir_all(folder).map_err(StoreError::io("make", folder))?;
        file.persist(&path).map_err(|error| StoreError::io("write", &path)(error.error))?;
        // The names must outlive a power cut too.
        sync_folder(folder)?;
        if made {
            sync_folder(&self.root)?;
        }
        Ok(blob)
    }

    /// [`Blobs::get`] for threads that may block.
    ///
    /// # Errors
    /// As [`Blobs::get`].
    pub fn get_now(&self, hash: ContentHash) -> Result<Vec<u8>> {
        let path = self.path(hash);
        let bytes = fs::read(&path).map_err(missing(hash, &path))?;
        if ContentHash::of(&bytes) == hash { Ok(bytes) } else { Err(StoreError::BlobDamaged { hash }) }
    }
}

/// A blob in the making.
#[derive(Debug)]
pub struct BlobWriter {
    blobs: Blobs,
    file: tokio::fs::File,
    path: TempPath,
    hasher: Sha256,
    size: u64,
    limit: u64,
}

impl BlobWriter {
    /// Adds `bytes`.
    ///
    /// # Errors
    /// [`StoreError::TooLarge`] if they would pass the limit; [`StoreError::DiskFull`], [`StoreError::Io`].
    pub async fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let size = self.size.saturating_add(bytes.len() as u64);
        if size > self.limit {
            return Err(StoreError::TooLarge { limit: self.limit });
        }
        self.file.write_all(bytes).await.map_err(StoreError::io("write", &self.path))?;
        self.hasher.update(bytes);
        self.size = size;
        Ok(())
    }

    /// Bytes written so far.
    #[must_use]
    pub const fn written(&self) -> u64 {
        self.size
    }

    /// Makes it a blob.
    ///
    /// # Errors
    /// [`StoreError::DiskFull`], [`StoreError::Io`]; nothing is kept then.
    pub async fn finish(mut self) -> Result<BlobRef> {
        self.file.flush().await.map_err(StoreError::io("write", &self.path))?;
        self.file.sync_all().await.map_err(StoreError::io("write", &self.path))?;
        let blob = BlobRef { hash: ContentHash::from_digest(self.hasher.finalize().into()), size: self.size };
        let (blobs, path) = (self.blobs, self.path);
        blocking(move || blobs.place(path, blob)).await
    }
}

fn missing(hash: ContentHash, path: &Path) -> impl FnOnce(io::Error) -> StoreError {
    let io = StoreError::io("read", path);
    move |error| match error.kind() {
        io::ErrorKind::NotFound => StoreError::not_found("stored file", hash),
        _ => io(error),
    }
}

fn sync_folder(folder: &Path) -> Result<()> {
    fs::File::open(folder).and_then(|folder| folder.sync_all()).map_err(StoreError::io("write", folder))
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        // The work was dropped by a runtime that shuts down, or panicked; either way there is no answer.
        Err(_) => Err(StoreError::Closed),
    }
}
