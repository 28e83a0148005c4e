//! Repositories that want to do something on this machine: none of them runs, writes or reads anything of it.

use std::os::unix::fs::PermissionsExt;

use crate::support::{World, limits, url};
use domain::repository::CommitId;
use repos::{RepoError, RepoLimits, SnapshotRequest};

async fn take(world: &World, commit: &CommitId) -> Result<(), RepoError> {
    let pinned = world.repositories(limits()).fetch(&url(), commit).await?;
    pinned.snapshot(&SnapshotRequest::default()).await.map(drop)
}

/// Whatever touches this file has run something.
fn trap(world: &World) -> (std::path::PathBuf, String) {
    let sprung = world.room.path().join("sprung");
    let script = world.room.path().join("trap.sh");
    std::fs::write(&script, format!("#!/bin/sh\ntouch {}\ncat\n", sprung.display())).unwrap();
    std::fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).unwrap();
    (sprung, script.display().to_string())
}

#[tokio::test]
async fn hooks_filters_and_settings_of_the_origin_are_not_run() {
    let world = World::new();
    let (sprung, script) = trap(&world);
    world.write(".gitattributes", "* filter=evil diff=evil merge=evil\n*.txt text eol=crlf\n").write("a.txt", "a\n");
    let commit = world.commit("attributes");
    for hook in [
        "post-checkout",
        "post-merge",
        "pre-auto-gc",
        "reference-transaction",
        "fsmonitor-watchman",
        "post-index-change",
    ] {
        std::fs::copy(&script, world.origin().join(".git/hooks").join(hook)).unwrap();
    }
    for (key, value) in [
        ("filter.evil.smudge", script.as_str()),
        ("filter.evil.clean", &script),
        ("filter.evil.process", &script),
        ("filter.evil.required", "true"),
        ("diff.evil.textconv", &script),
        ("core.fsmonitor", &script),
        ("core.sshCommand", &script),
        ("core.gitProxy", &script),
        ("core.hooksPath", ".git/hooks"),
        ("uploadpack.packObjectsHook", &script),
        ("credential.helper", &script),
        ("url.ext::sh.insteadOf", "https://"),
    ] {
        world.git(&["config", key, value]);
    }
    take(&world, &commit).await.unwrap();
    assert!(!sprung.exists(), "something ran");
}

/// A git that another trial has started reads the settings while they are made anew.
#[tokio::test]
async fn who_reads_gits_settings_reads_them_whole() {
    let world = World::new();
    let repositories = world.repositories(limits());
    repositories.version().await.unwrap();
    let settings = world.room.path().join("cache/gitconfig");
    let made = std::fs::read_to_string(&settings).unwrap();
    std::fs::write(&settings, "# of an older program\n").unwrap();
    let mut reader = std::fs::File::open(&settings).unwrap();
    repositories.version().await.unwrap();
    assert_eq!(std::io::read_to_string(&mut reader).unwrap(), "# of an older program\n");
    assert_eq!(std::fs::read_to_string(&settings).unwrap(), made);
    let mut reader = std::fs::File::open(&settings).unwrap();
    repositories.version().await.unwrap();
    assert_eq!(std::io::read_to_string(&mut reader).unwrap(), made);
}

#[tokio::test]
async fn hooks_in_the_tree_stay_files_of_the_tree() {
    let world = World::new();
    let (sprung, script) = trap(&world);
    let hook = world.blob(std::fs::read_to_string(&script).unwrap().as_bytes());
    // A tree with `.git` in it, and its relatives: git itself never makes them of files.
    for name in [".git", ".GIT", "..", "."] {
        let inner = world.git_with(&["mktree"], format!("100755 blob {hook}\tpost-checkout\n").as_bytes());
        let commit = world.commit_of(&format!("040000 tree {}\t{name}\n", inner.trim()));
        let said = take(&world, &commit).await.unwrap_err();
        assert!(matches!(said, RepoError::Refused { .. }), "{name}: {said}");
    }
    assert!(!sprung.exists(), "something ran");
}

#[tokio::test]
async fn submodules_are_never_followed() {
    let world = World::new();
    let (sprung, script) = trap(&world);
    for modules in [
        format!("[submodule \"m\"]\n\tpath = m\n\turl = ext::sh {script}\n\tupdate = !{script}\n"),
        "[submodule \"../../x\"]\n\tpath = m\n\turl = https://git.example.com/m\n".to_owned(),
        format!("[submodule \"m\"]\n\tpath = -u{script}\n\turl = -u{script}\n"),
    ] {
        let file = world.blob(modules.as_bytes());
        let commit =
            world.commit_of(&format!("100644 blob {file}\t.gitmodules\n160000 commit {}\tm\n", "1".repeat(40)));
        match take(&world, &commit).await {
            Ok(()) | Err(RepoError::Refused { .. }) => {}
            Err(other) => panic!("{modules}: {other}"),
        }
    }
    assert!(!sprung.exists(), "something ran");
}

/// 10 levels of 10 times the same folder: a few hundred bytes that list ten thousand million files.
#[tokio::test]
async fn a_tree_that_names_itself_over_and_over_is_cut_off() {
    let world = World::new();
    let mut object = format!("100644 blob {}", world.blob(b"x"));
    for _ in 0..10 {
        let lines: String = (0..10).map(|n| format!("{object}\tf{n}\n")).collect();
        object = format!("040000 tree {}", world.git_with(&["mktree"], lines.as_bytes()).trim());
    }
    let commit = world.commit_of(&format!("{object}\ttop\n"));
    let repositories = world.repositories(RepoLimits { files: 2_000, ..limits() });
    let pinned = repositories.fetch(&url(), &commit).await.unwrap();
    assert!(matches!(pinned.entries().await, Err(RepoError::TooLarge { .. })));
}

#[tokio::test]
async fn odd_names_and_twins_are_kept_for_the_container() {
    let world = World::new();
    world.write("Readme", "a").write("README", "b").write("-rf", "c").write("a\nb", "d").write("..a", "e");
    let commit = world.commit("odd");
    let pinned = world.repositories(limits()).fetch(&url(), &commit).await.unwrap();
    let snapshot = pinned.snapshot(&SnapshotRequest::default()).await.unwrap();
    let mut archive = tar::Archive::new(std::fs::File::open(&snapshot.tar).unwrap());
    let paths = archive.entries().unwrap().map(|entry| entry.unwrap().path().unwrap().display().to_string());
    let paths: Vec<String> = paths.filter(|path| !path.starts_with(".git")).collect();
    assert_eq!(paths, ["-rf", "..a", "README", "Readme", "a\nb"]);
    assert!(snapshot.findings.iter().any(|finding| finding.code == "case_collision"));
}

#[tokio::test]
async fn a_fetch_that_grows_too_large_is_stopped() {
    let world = World::new();
    let mut noise = 88_172_645_463_325_252_u64;
    let mut next = || {
        noise ^= noise << 13;
        noise ^= noise >> 7;
        noise ^= noise << 17;
        noise.to_le_bytes()
    };
    for file in 0..3 {
        world.write(&format!("noise{file}"), (0..131_072).flat_map(|_| next()).collect::<Vec<u8>>());
    }
    let commit = world.commit("3 MiB that cannot be packed");
    let repositories = world.repositories(RepoLimits { fetch_bytes: 1 << 19, ..limits() });
    // Whether it was stopped on its way or was done before anybody looked.
    let said = repositories.fetch(&url(), &commit).await.err().map(|error| error.to_string()).unwrap_or_default();
    assert!(said.contains("too large"), "{said}");
}
