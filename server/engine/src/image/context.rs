//! A build context: its files, its hash, and its way to the engine as a streamed tar.

use std::io::{self, Read, Write};
use std::sync::Arc;

use bytes::Bytes;
use domain::hash::ContentHash;
use domain::path::RelPath;
use domain::tree::{LoadedTree, Tree, TreeEntry};
use futures::Stream;
use tar::{Builder, EntryType, Header};
use tokio::sync::mpsc::{self, Sender};
use tokio_stream::wrappers::ReceiverStream;

/// Our own Dockerfile in the context. Named in `.dockerignore`, so that no `COPY . …` takes it along.
pub(super) const DOCKERFILE: &str = ".skilldelta.Dockerfile";
const IGNORE: &str = ".dockerignore";
/// Every file has the same time (2024-01-01): times must not matter.
const MTIME: u64 = 1_704_067_200;
/// Size and number of the pieces on their way.
const PIECE: usize = 64 << 10;
const PIECES: usize = 8;

/// Where the bytes of a context's files come from.
pub trait ContextBytes: Send + Sync {
    /// The whole content of a file of the tree.
    ///
    /// # Errors
    /// What the store says; the build fails with it.
    fn read(&self, path: &RelPath, entry: &TreeEntry) -> io::Result<Vec<u8>>;

    /// The same content piece by piece, for those that need not hold all of it.
    ///
    /// # Errors
    /// As [`ContextBytes::read`].
    fn open(&self, path: &RelPath, entry: &TreeEntry) -> io::Result<Box<dyn Read>> {
        Ok(Box::new(io::Cursor::new(self.read(path, entry)?)))
    }
}

impl ContextBytes for LoadedTree {
    fn read(&self, path: &RelPath, _: &TreeEntry) -> io::Result<Vec<u8>> {
        let file = self.get(path.as_str());
        file.map(|file| file.bytes.clone()).ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, path.to_string()))
    }
}

/// The files of a build.
#[derive(Clone)]
pub struct Context {
    /// Paths relative to the context's folder. Times play no part.
    pub files: Tree,
    /// Their bytes.
    pub bytes: Arc<dyn ContextBytes>,
    /// Folders that are there even when they hold no file.
    pub empty_folders: Vec<RelPath>,
}

impl Context {
    /// A context held in memory.
    #[must_use]
    pub fn loaded(tree: LoadedTree) -> Self {
        Self { files: tree.summary(), bytes: Arc::new(tree), empty_folders: Vec::new() }
    }

    /// Equal exactly when paths, execute bits, contents and empty folders are.
    #[must_use]
    pub fn hash(&self) -> ContentHash {
        let mut text = self.files.hash().to_hex();
        for folder in &self.empty_folders {
            text.push('\n');
            text.push_str(folder.as_str());
        }
        ContentHash::of(text.as_bytes())
    }

    /// Streams the tar, with `dockerfile` in it. Holds one file at a time in memory.
    pub(super) fn stream(self, dockerfile: String) -> impl Stream<Item = io::Result<Bytes>> + Send + 'static {
        let (pieces, received) = mpsc::channel(PIECES);
        tokio::task::spawn_blocking(move || {
            let failed = pieces.clone();
            if let Err(error) = self.write(Pieces { pieces, buffer: Vec::new() }, &dockerfile) {
                // Nobody listens any more when the build has ended early.
                let _ = failed.blocking_send(Err(error));
            }
        });
        ReceiverStream::new(received)
    }

    fn write(&self, pieces: Pieces, dockerfile: &str) -> io::Result<()> {
        let mut tar = Builder::new(pieces);
        for folder in self.folders() {
            append(&mut tar, &format!("{folder}/"), EntryType::Directory, 0o755, 0, io::empty())?;
        }
        let mut ignore = Vec::new();
        for (path, entry) in self.files.iter() {
            let failed = |error: io::Error| named(path, &error);
            if path.as_str() == IGNORE {
                ignore = self.bytes.read(path, entry).map_err(failed)?;
                continue;
            }
            let content = self.bytes.open(path, entry).map_err(failed)?;
            let mode = if entry.executable { 0o755 } else { 0o644 };
            append(&mut tar, path.as_str(), EntryType::Regular, mode, entry.size, content).map_err(failed)?;
        }
        ignore.extend_from_slice(format!("\n{DOCKERFILE}\n{IGNORE}\n").as_bytes());
        append(&mut tar, IGNORE, EntryType::Regular, 0o644, ignore.len() as u64, ignore.as_slice())?;
        let text = dockerfile.as_bytes();
        append(&mut tar, DOCKERFILE, EntryType::Regular, 0o644, text.len() as u64, text)?;
        tar.into_inner()?.flush()
    }

    /// Every folder, parents first.
    fn folders(&self) -> std::collections::BTreeSet<RelPath> {
        let mut folders: std::collections::BTreeSet<RelPath> = self.empty_folders.iter().cloned().collect();
        let parents = self.files.iter().map(|(path, _)| path.clone()).chain(self.empty_folders.iter().cloned());
        for path in parents {
            let mut folder = path.parent();
            while let Some(path) = folder {
                folder = path.parent();
                folders.insert(path);
            }
        }
        folders
    }
}

fn named(path: &RelPath, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{path}: {error}"))
}

fn append(
    tar: &mut Builder<Pieces>,
    path: &str,
    kind: EntryType,
    mode: u32,
    size: u64,
    content: impl Read,
) -> io::Result<()> {
    let mut header = Header::new_gnu();
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_uid(0);
    header.set_gid(0);
    header.set_mtime(MTIME);
    header.set_size(size);
    tar.append_data(&mut header, path, content.take(size))
}

/// A writer whose other end is a stream.
struct Pieces {
    pieces: Sender<io::Result<Bytes>>,
    buffer: Vec<u8>,
}

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.extend_from_slice(bytes);
        if self.buffer.len() >= PIECE {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let piece = std::mem::take(&mut self.buffer);
        self.pieces.blocking_send(Ok(piece.into())).map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use domain::tree::LoadedFile;
    use futures::StreamExt;

    use super::*;

    fn tree(files: &[(&str, bool)]) -> LoadedTree {
        let file = |(path, executable): &(&str, bool)| {
            (RelPath::new(path).unwrap(), LoadedFile { executable: *executable, bytes: path.as_bytes().to_vec() })
        };
        files.iter().map(file).collect()
    }

    #[tokio::test]
    async fn the_tar_holds_every_file_with_its_bit_and_one_time() {
        let mut context = Context::loaded(tree(&[("a/b/run.sh", true), ("pen.txt", false), (".dockerignore", false)]));
        context.empty_folders.push(RelPath::new("skills").unwrap());
        let pieces: Vec<_> = context.stream("FROM x\n".to_owned()).collect().await;
        let bytes: Vec<u8> = pieces.into_iter().flat_map(|piece| piece.unwrap()).collect();
        let mut archive = tar::Archive::new(bytes.as_slice());
        let mut seen = Vec::new();
        for entry in archive.entries().unwrap() {
            let mut entry = entry.unwrap();
            let mut text = String::new();
            entry.read_to_string(&mut text).unwrap();
            assert_eq!(entry.header().mtime().unwrap(), MTIME);
            seen.push((entry.path().unwrap().display().to_string(), entry.header().mode().unwrap(), text));
        }
        let want = [
            ("a/", 0o755, ""),
            ("a/b/", 0o755, ""),
            ("skills/", 0o755, ""),
            ("a/b/run.sh", 0o755, "a/b/run.sh"),
            ("pen.txt", 0o644, "pen.txt"),
            (IGNORE, 0o644, ".dockerignore\n.skilldelta.Dockerfile\n.dockerignore\n"),
            (DOCKERFILE, 0o644, "FROM x\n"),
        ];
        assert_eq!(seen, want.map(|(path, mode, text)| (path.to_owned(), mode, text.to_owned())));
    }

    #[test]
    fn the_hash_sees_bits_and_empty_folders() {
        let base = Context::loaded(tree(&[("a", false)]));
        let mut folder = base.clone();
        folder.empty_folders.push(RelPath::new("skills").unwrap());
        assert_eq!(base.hash(), Context::loaded(tree(&[("a", false)])).hash());
        for other in [Context::loaded(tree(&[("a", true)])), Context::loaded(tree(&[("b", false)])), folder] {
            assert_ne!(base.hash(), other.hash());
        }
    }
}
