//! Agents are installed once, from the registries of this machine's own clients.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::path::PathBuf;
use std::process::Command;

use engine::trees::{TreeError, Trees};

/// Shared with other runs: a tree of some hundred megabytes is built once.
fn trees() -> Trees {
    Trees::new(PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/agents")))
}

fn has_clients() -> bool {
    let works = |program: &str| Command::new(program).arg("--version").output().is_ok_and(|out| out.status.success());
    let has = works("npm") && works("apt-get");
    if !has {
        println!("skipped: npm or apt-get is not on this machine");
    }
    has
}

#[test]
fn claude_code_is_installed_once() {
    if !has_clients() {
        return;
    }
    let say = |text: &str| println!("{text}");
    let first = trees().install("claude-code", None, &say).unwrap();
    first.check().unwrap();
    assert_eq!(first.title(), "claude-code 2.1.332");
    assert_eq!(first.label.packages.len(), 2);
    assert!(first.label.packages.iter().all(|package| package.integrity.is_some()));
    let targets: Vec<String> = first.mounts().into_iter().map(|mount| mount.target).collect();
    assert_eq!(targets, ["/opt/agents/claude-code", "/opt/agents/tools"]);
    assert!(first.mounts().iter().all(|mount| mount.read_only));
    let again = trees().install("claude-code", Some("2.1.332"), &|_| ()).unwrap();
    assert_eq!(again, first);
    assert!(trees().list().contains(&first));
}

#[test]
fn what_cannot_be_installed_is_said_with_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let trees = Trees::new(folder.path());
    let unknown = trees.install("cloud-code", None, &|_| ()).unwrap_err().to_string();
    assert_eq!(
        unknown,
        "there is no agent 'cloud-code' to install; known: claude-code, codex, opencode, gemini-cli, qwen-code, openclaw, mini-swe-agent, openhands"
    );
    if !has_clients() {
        return;
    }
    for version in ["0.0.99", "no-such-tag"] {
        let error = trees.install("codex", Some(version), &|_| ()).unwrap_err();
        assert!(matches!(&error, TreeError::NoSuchVersion { .. }), "{error}");
    }
    let left = std::fs::read_dir(folder.path()).unwrap().flatten();
    let left: Vec<_> = left.filter(|entry| entry.file_name().to_string_lossy().starts_with('.')).collect();
    assert!(left.is_empty(), "{left:?}");
}
