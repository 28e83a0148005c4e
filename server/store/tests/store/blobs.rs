//! Files by hash: whole or not at all.

use std::path::{Path, PathBuf};

use domain::attempt::BlobRef;
use domain::hash::ContentHash;
use domain::path::RelPath;
use domain::tree::{LoadedFile, LoadedTree};
use store::{DataDir, Store, StoreError};
use tokio::io::AsyncReadExt;

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found
}

fn kept(store: &Store) -> Vec<PathBuf> {
    files(&store.dir().path().join("blobs"))
}

#[tokio::test]
async fn equal_bytes_are_kept_once_under_their_hash() {
    let store = Store::temp().await.unwrap();
    let blob = store.blobs().put("baa").await.unwrap();
    assert_eq!(blob, BlobRef { hash: ContentHash::of(b"baa"), size: 3 });
    let again = store.blobs().put_stream(&b"baa"[..], 3).await.unwrap();
    assert_eq!(again, blob);
    let hex = blob.hash.to_hex();
    let (folder, name) = hex.split_at(2);
    assert_eq!(kept(&store), [store.dir().path().join("blobs").join(folder).join(name)]);
    assert_eq!(store.blobs().get(blob.hash).await.unwrap(), b"baa");
    assert_eq!(store.blobs().size(blob.hash).await.unwrap(), Some(3));
    let empty = store.blobs().put("").await.unwrap();
    assert_eq!(store.blobs().get(empty.hash).await.unwrap(), b"");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_may_store_the_same_bytes_at_once() {
    let store = Store::temp().await.unwrap();
    let puts: Vec<_> = (0..40)
        .map(|i| {
            let blobs = store.blobs().clone();
            tokio::spawn(async move { blobs.put(vec![i % 2; 100_000]).await.unwrap() })
        })
        .collect();
    for put in puts {
        let blob = put.await.unwrap();
        assert_eq!(store.blobs().get(blob.hash).await.unwrap().len(), 100_000);
    }
    assert_eq!(kept(&store).len(), 2);
}

#[tokio::test]
async fn a_range_is_cut_at_the_end() {
    let store = Store::temp().await.unwrap();
    let blob = store.blobs().put("0123456789").await.unwrap();
    for (offset, length, want) in [(0, 4, "0123"), (8, 4, "89"), (10, 4, ""), (999, 4, ""), (0, u64::MAX, "0123456789")]
    {
        assert_eq!(store.blobs().get_range(blob.hash, offset, length).await.unwrap(), want.as_bytes());
    }
    let mut text = String::new();
    store.blobs().open_file(blob.hash).await.unwrap().read_to_string(&mut text).await.unwrap();
    assert_eq!(text, "0123456789");
}

#[tokio::test]
async fn what_is_not_complete_is_never_there() {
    let store = Store::temp().await.unwrap();
    let mut torn = store.blobs().writer(100).await.unwrap();
    torn.write(b"half of ").await.unwrap();
    assert_eq!(store.blobs().size(ContentHash::of(b"half of ")).await.unwrap(), None);
    assert_eq!(torn.written(), 8);
    drop(torn);

    let long = store.blobs().put_stream(tokio::io::repeat(b'x'), 1_000_000).await;
    assert!(matches!(long, Err(StoreError::TooLarge { limit: 1_000_000 })));
    let broken = broken_reader();
    assert!(matches!(store.blobs().put_stream(broken, 100).await, Err(StoreError::Io { .. })));
    assert_eq!(kept(&store), Vec::<PathBuf>::new(), "nothing is left behind");

    let exact = store.blobs().put_stream(tokio::io::AsyncReadExt::take(tokio::io::repeat(b'x'), 70_000), 70_000).await;
    assert_eq!(exact.unwrap(), BlobRef { hash: ContentHash::of(&[b'x'; 70_000]), size: 70_000 });
}

/// Yields some bytes and then fails, as a connection that breaks.
fn broken_reader() -> impl tokio::io::AsyncRead + Unpin {
    struct Broken(bool);
    impl tokio::io::AsyncRead for Broken {
        fn poll_read(
            mut self: std::pin::Pin<&mut Self>,
            _: &mut std::task::Context<'_>,
            buffer: &mut tokio::io::ReadBuf<'_>,
        ) -> std::task::Poll<std::io::Result<()>> {
            if self.0 {
                return std::task::Poll::Ready(Err(std::io::ErrorKind::ConnectionReset.into()));
            }
            self.0 = true;
            buffer.put_slice(b"half");
            std::task::Poll::Ready(Ok(()))
        }
    }
    Broken(false)
}

#[tokio::test]
async fn what_a_killed_process_left_half_written_is_removed_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let dir = DataDir::open(folder.path()).unwrap();
    let store = Store::open(&dir).await.unwrap();
    let whole = store.blobs().put("whole").await.unwrap();
    std::fs::write(dir.path().join("blobs/unfinished/.tmp1"), "hal").unwrap();
    drop(store);
    let store = Store::open(&dir).await.unwrap();
    assert_eq!(kept(&store).len(), 1);
    assert_eq!(store.blobs().get(whole.hash).await.unwrap(), b"whole");
}

#[tokio::test]
async fn damage_is_found_and_mended_by_storing_again() {
    let store = Store::temp().await.unwrap();
    let blob = store.blobs().put("sheep").await.unwrap();
    let path = kept(&store).remove(0);
    for damage in ["shee", "sheeq"] {
        std::fs::write(&path, damage).unwrap();
        let error = store.blobs().get(blob.hash).await.unwrap_err();
        assert!(matches!(error, StoreError::BlobDamaged { .. }), "{error}");
    }
    std::fs::write(&path, "shee").unwrap();
    store.blobs().put("sheep").await.unwrap();
    assert_eq!(store.blobs().get(blob.hash).await.unwrap(), b"sheep", "a file that was cut short is replaced");
}

#[tokio::test]
async fn a_hash_cannot_name_a_file_outside() {
    let store = Store::temp().await.unwrap();
    for text in ["../../../etc/passwd", "", "ab", &"/".repeat(64), &format!("{}\0", "a".repeat(63)), &"é".repeat(32)] {
        assert!(text.parse::<ContentHash>().is_err(), "{text:?}");
    }
    let upper: ContentHash = "AB".repeat(32).parse().unwrap();
    let error = store.blobs().get(upper).await.unwrap_err();
    assert_eq!(error.to_string(), format!("there is no stored file {}", "ab".repeat(32)));
    assert!(matches!(store.blobs().get_range(upper, 0, 1).await, Err(StoreError::NotFound { .. })));
    assert!(store.blobs().open_file(upper).await.is_err());
}

#[tokio::test]
async fn a_tree_comes_back_as_it_went_in() {
    let store = Store::temp().await.unwrap();
    let file = |executable, text: &str| LoadedFile { executable, bytes: text.into() };
    let tree: LoadedTree =
        [("SKILL.md", file(false, "x")), ("scripts/run.sh", file(true, "y")), ("copy", file(false, "x"))]
            .into_iter()
            .map(|(path, file)| (RelPath::new(path).unwrap(), file))
            .collect();
    let names = store.blobs().put_tree(tree.clone()).await.unwrap();
    assert_eq!(names, tree.summary());
    assert_eq!(kept(&store).len(), 2);
    assert_eq!(store.blobs().load_tree(&names).await.unwrap(), tree);
}
