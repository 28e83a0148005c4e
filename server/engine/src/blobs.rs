//! The engine's view of the blob store: contents by hash. It does not know where they are kept.

use std::io;

use async_trait::async_trait;
use domain::attempt::BlobRef;
use domain::hash::ContentHash;
use domain::tree::{LoadedFile, LoadedTree, Tree};

/// Contents by hash.
#[async_trait]
pub trait Blobs: Send + Sync {
    /// The whole content.
    ///
    /// # Errors
    /// When it is not there or cannot be read.
    async fn get(&self, hash: ContentHash) -> io::Result<Vec<u8>>;

    /// The whole content, for threads that may block.
    ///
    /// # Errors
    /// As [`Blobs::get`].
    fn get_now(&self, hash: ContentHash) -> io::Result<Vec<u8>>;

    /// Keeps a content; one that is already there is fine.
    ///
    /// # Errors
    /// When it cannot be written; a full disk is `StorageFull`.
    async fn put(&self, bytes: Vec<u8>) -> io::Result<BlobRef>;
}

/// The contents of a whole tree.
///
/// # Errors
/// The first content that cannot be had.
pub async fn load_tree(blobs: &dyn Blobs, tree: &Tree) -> io::Result<LoadedTree> {
    let mut loaded = LoadedTree::new();
    for (path, entry) in tree.iter() {
        let bytes = blobs.get(entry.hash).await?;
        loaded.insert(path.clone(), LoadedFile { executable: entry.executable, bytes });
    }
    Ok(loaded)
}
