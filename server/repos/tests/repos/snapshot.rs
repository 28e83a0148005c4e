//! A commit as it goes into a container: all of its files, nothing of its past and future, and the same each time.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::support::{World, git, limits, url};
use domain::path::RelPath;
use repos::{RepoError, RepoLimits, Snapshot, SnapshotRequest};

/// Unpacks it where git can be asked about it.
fn unpack(snapshot: &Snapshot) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    tar::Archive::new(std::fs::File::open(&snapshot.tar).unwrap()).unpack(folder.path()).unwrap();
    folder
}

fn files(folder: &Path) -> Vec<String> {
    let list = git(folder, &["ls-files"], b"");
    list.lines().map(str::to_owned).collect()
}

fn codes(snapshot: &Snapshot) -> Vec<&str> {
    snapshot.findings.iter().map(|finding| finding.code.as_str()).collect()
}

/// A repository in whose later commit, branch and tag the fix lies, as in the case H13.
#[tokio::test]
async fn nothing_of_the_past_or_future_is_there() {
    let world = World::new();
    world.write("past.txt", "GOLDEN_FIX_0000").commit("the past GOLDEN_FIX_0000");
    std::fs::remove_file(world.origin().join("past.txt")).unwrap();
    let base = world.write("pen.py", "def count(p): return 0\n").commit("empty count");
    world.write("pen.py", "def count(p): return len(p)  # GOLDEN_FIX_7431\n").commit("count for real GOLDEN_FIX_7431");
    world.git(&["tag", "-a", "v2", "-m", "GOLDEN_FIX_7431"]);
    world.git(&["branch", "later"]);
    world.git(&["checkout", "-q", "-b", "side", "HEAD~1"]);
    world.write("note.txt", "GOLDEN_FIX_7431").commit("side note GOLDEN_FIX_7431");
    world.write("stashed.txt", "GOLDEN_FIX_7431");
    world.git(&["stash", "-u", "-q"]);

    let pinned = world.repositories(limits()).fetch(&url(), &base).await.unwrap();
    let snapshot = pinned.snapshot(&SnapshotRequest::default()).await.unwrap();
    let place = unpack(&snapshot);
    let ask = |arguments: &[&str]| git(place.path(), arguments, b"");
    assert_eq!(ask(&["rev-parse", "HEAD"]).trim(), snapshot.commit.as_str());
    assert_eq!(ask(&["log", "--all", "--format=%H %P"]).trim(), snapshot.commit.as_str());
    for nothing in
        [&["tag"][..], &["remote"], &["stash", "list"], &["reflog"], &["fsck", "--lost-found"], &["status", "--short"]]
    {
        assert_eq!(ask(nothing), "", "{nothing:?}");
    }
    assert_eq!(ask(&["branch", "-a", "--format=%(refname)"]).trim(), "refs/heads/main");
    let objects = ask(&["cat-file", "--batch-all-objects", "--batch"]);
    assert!(objects.contains("def count(p): return 0") && !objects.contains("GOLDEN_FIX"), "{objects}");
    let told = &snapshot.findings[0];
    assert!(told.message.contains(base.as_str()) && told.message.contains(snapshot.commit.as_str()), "{told}");
}

#[tokio::test]
async fn files_come_as_they_are() {
    let world = World::new();
    world.write(".gitattributes", "*.txt text eol=crlf\nsecret.md export-ignore\nid.md ident\nv.md export-subst\n");
    world.write("a.txt", "one\ntwo\n").write("secret.md", "kept").write("id.md", "$Id$").write("v.md", "$Format:%H$");
    world.write("bin/run.sh", "#!/bin/sh\n").write("deep/a/b/c", "x").write("empty", "");
    std::fs::set_permissions(world.origin().join("bin/run.sh"), PermissionsExt::from_mode(0o755)).unwrap();
    world.link("out", "/etc/passwd").link("up", "../../../../etc/shadow").link("long", &"x".repeat(150));
    let commit = world.commit("files");
    let pinned = world.repositories(limits()).fetch(&url(), &commit).await.unwrap();
    let snapshot = pinned.snapshot(&SnapshotRequest::default()).await.unwrap();
    let mut seen = BTreeMap::new();
    let mut archive = tar::Archive::new(std::fs::File::open(&snapshot.tar).unwrap());
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        let path = entry.path().unwrap().display().to_string();
        let target = entry.link_name().unwrap().map(|target| target.display().to_string());
        let mut text = String::new();
        if !path.starts_with(".git/") {
            std::io::Read::read_to_string(&mut entry, &mut text).unwrap();
        }
        seen.insert(path, (entry.header().mode().unwrap(), target.unwrap_or(text)));
    }
    for (path, mode, content) in [
        ("a.txt", 0o644, "one\ntwo\n"),
        ("secret.md", 0o644, "kept"),
        ("id.md", 0o644, "$Id$"),
        ("v.md", 0o644, "$Format:%H$"),
        ("bin/run.sh", 0o755, "#!/bin/sh\n"),
        ("deep/a/b/c", 0o644, "x"),
        ("deep/a", 0o755, ""),
        ("empty", 0o644, ""),
        ("out", 0o777, "/etc/passwd"),
        ("up", 0o777, "../../../../etc/shadow"),
    ] {
        assert_eq!(seen.get(path), Some(&(mode, content.to_owned())), "{path}");
    }
    assert_eq!(seen["long"].1.len(), 150);
    let again = pinned.snapshot(&SnapshotRequest::default()).await.unwrap();
    assert_eq!(again, snapshot, "made once");
    std::fs::remove_file(&snapshot.tar).unwrap();
    let anew = pinned.snapshot(&SnapshotRequest::default()).await.unwrap();
    assert_eq!((anew.hash, anew.commit), (snapshot.hash, snapshot.commit), "and the same when it is made again");
}

#[tokio::test]
async fn agents_folders_and_what_is_not_asked_for_are_left_out() {
    let world = World::new();
    world.write(".claude/skills/fix/SKILL.md", "GOLDEN").write("web/.agents/skills/x/SKILL.md", "GOLDEN");
    world.write("src/a.py", "a").write("docs/b.md", "b").write(".agents/README.md", "kept");
    let commit = world.commit("bundled");
    let pinned = world.repositories(limits()).fetch(&url(), &commit).await.unwrap();
    let leave_out = vec![".claude".to_owned(), ".agents/skills".to_owned()];
    let whole = SnapshotRequest { leave_out: leave_out.clone(), sparse: Vec::new() };
    let snapshot = pinned.snapshot(&whole).await.unwrap();
    let place = unpack(&snapshot);
    assert_eq!(files(place.path()), [".agents/README.md", "docs/b.md", "src/a.py"]);
    assert_eq!(git(place.path(), &["status", "--short"], b""), "", "git there misses nothing");
    assert!(!git(place.path(), &["cat-file", "--batch-all-objects", "--batch"], b"").contains("GOLDEN"));
    assert_eq!(codes(&snapshot), ["repository", "agent_folders_removed"]);
    let part = SnapshotRequest { sparse: vec![RelPath::new("src").unwrap()], leave_out };
    let snapshot = pinned.snapshot(&part).await.unwrap();
    assert_eq!(files(unpack(&snapshot).path()), ["src/a.py"]);
    let nothing = SnapshotRequest { sparse: vec![RelPath::new("nowhere").unwrap()], leave_out: Vec::new() };
    assert!(matches!(pinned.snapshot(&nothing).await, Err(RepoError::NoFolder { .. })));
}

#[tokio::test]
async fn submodules_and_lfs_are_told_and_not_fetched() {
    let world = World::new();
    world.write("big.bin", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n");
    world.write(".gitmodules", "[submodule \"m\"]\n\tpath = m\n\turl = https://git.example.com/m\n").commit("lfs");
    let elsewhere = "1234567890123456789012345678901234567890";
    world.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{elsewhere},m")]);
    world.git(&["commit", "-q", "-m", "submodule"]);
    let commit = crate::support::id(&world.git(&["rev-parse", "HEAD"]));
    let pinned = world.repositories(limits()).fetch(&url(), &commit).await.unwrap();
    let snapshot = pinned.snapshot(&SnapshotRequest::default()).await.unwrap();
    assert_eq!(codes(&snapshot), ["repository", "submodules", "lfs_pointers"]);
    let place = unpack(&snapshot);
    assert_eq!(std::fs::read_dir(place.path().join("m")).unwrap().count(), 0);
    assert!(std::fs::read_to_string(place.path().join("big.bin")).unwrap().starts_with("version https"));
}

#[tokio::test]
async fn what_is_fetched_once_needs_no_mirror_any_more() {
    let world = World::new();
    let commit = world.write("a", "a").commit("one");
    let repositories = world.repositories(limits());
    let url = url();
    let (one, two) = tokio::join!(repositories.fetch(&url, &commit), repositories.fetch(&url, &commit));
    assert_eq!(one.unwrap().commit(), two.unwrap().commit());
    std::fs::rename(world.origin(), world.room.path().join("gone")).unwrap();
    repositories.fetch(&url, &commit).await.unwrap();
    let other = crate::support::id(&"0".repeat(40));
    assert!(matches!(repositories.fetch(&url, &other).await, Err(RepoError::NoMirror { .. })));
    let left: Vec<_> = std::fs::read_dir(world.room.path().join("cache")).unwrap().flatten().collect();
    assert!(left.iter().all(|entry| !entry.file_name().to_string_lossy().starts_with("fetch-")), "{left:?}");
}

#[tokio::test]
async fn names_are_looked_up() {
    let world = World::new();
    let first = world.write("a", "a").commit("one");
    world.git(&["tag", "-a", "v1", "-m", "one"]);
    let second = world.write("a", "b").commit("two");
    world.git(&["branch", "both", &first.to_string()]);
    world.git(&["tag", "both"]);
    let repositories = world.repositories(limits());
    let tag = crate::support::id(&world.git(&["rev-parse", "v1"]));
    for (revision, want) in
        [(None, &second), (Some("main"), &second), (Some("v1"), &first), (Some(first.as_str()), &first)]
    {
        assert_eq!(&repositories.resolve(&url(), revision).await.unwrap(), want, "{revision:?}");
    }
    assert!(matches!(repositories.resolve(&url(), Some("both")).await, Err(RepoError::Ambiguous { .. })));
    assert!(matches!(repositories.resolve(&url(), Some("abc1234")).await, Err(RepoError::NoRevision { .. })));
    assert!(matches!(repositories.fetch(&url(), &tag).await, Err(RepoError::NotACommit { .. })));
}

#[tokio::test]
async fn errors_name_what_to_do() {
    let world = World::new();
    let commit = world.write("a", [7; 5000]).write("b", [8; 5000]).commit("two files");
    let missing = crate::support::id(&"12".repeat(20));
    let told = |result: Result<_, RepoError>| match result {
        Ok(_) => "done".to_owned(),
        Err(error) => error.to_string(),
    };
    let fetch = async |limits: RepoLimits, commit| {
        let cache = World { room: tempfile::tempdir().unwrap() };
        let repositories = cache.repositories_of(&world.origin(), limits);
        match repositories.fetch(&url(), commit).await {
            Ok(pinned) => told(pinned.snapshot(&SnapshotRequest::default()).await.map(|_| ())),
            Err(error) => error.to_string(),
        }
    };
    for (limits, commit, want) in [
        (limits(), &missing, "update the mirror"),
        (RepoLimits { files: 1, ..limits() }, &commit, "more than 1 files"),
        (RepoLimits { file_bytes: 4999, ..limits() }, &commit, "a is too large"),
        (RepoLimits { total_bytes: 9999, ..limits() }, &commit, "too large"),
        (RepoLimits { fetch_time: std::time::Duration::ZERO, ..limits() }, &commit, "--repository-mirror"),
    ] {
        let said = fetch(limits, commit).await;
        assert!(said.contains(want), "{want}: {said}");
    }
    let unreachable = world.repositories_of(Path::new("/nowhere/at/all"), limits());
    assert!(told(unreachable.fetch(&url(), &missing).await.map(|_| ())).contains("git clone --mirror"));
}
