//! Task folders on a real disk: links, special files, caps, execute bits, and which folders are tasks at all.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use domain::task::{DataVersion, Task};
use formats::task::{DiskLimits, LoadedTask, discover, other_layout, read_task, read_task_as, read_task_within};
use tempfile::TempDir;

/// A task of the older layout in `folder`.
fn write_task(folder: &Path) {
    for (name, text) in [
        ("instruction.md", "Count the sheep.\n"),
        ("task.toml", "version = \"1.0\"\n[agent]\ntimeout_sec = 60\n"),
        ("environment/Dockerfile", "FROM debian\n"),
        ("tests/test.sh", "echo 1 > /logs/verifier/reward.txt\n"),
    ] {
        write(&folder.join(name), text);
    }
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Folder `set/sheep` with a task.
fn one_task() -> (TempDir, PathBuf) {
    let top = tempfile::tempdir().unwrap();
    let folder = top.path().join("set/sheep");
    write_task(&folder);
    (top, folder)
}

fn errors(loaded: &LoadedTask) -> Vec<String> {
    let errors = loaded.findings.iter().filter(|finding| finding.is_error());
    errors.map(|finding| format!("{} {}", finding.file, finding.code)).collect()
}

#[test]
fn a_folder_is_read_with_execute_bits_and_without_litter() {
    let (top, folder) = one_task();
    fs::set_permissions(folder.join("tests/test.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    write(&folder.join(".git/HEAD"), "x");
    write(&folder.join("environment/.DS_Store"), "x");
    write(&folder.join("environment/repo/.git/HEAD"), "x");
    let loaded = read_task(&folder, &[top.path().to_owned()]);
    assert_eq!((loaded.name.as_str(), errors(&loaded)), ("sheep", vec![]));
    let files: Vec<_> = loaded.files.iter().map(|(path, file)| (path.as_str(), file.executable)).collect();
    assert_eq!(
        files,
        [
            ("environment/Dockerfile", false),
            ("environment/repo/.git/HEAD", false),
            ("instruction.md", false),
            ("task.toml", false),
            ("tests/test.sh", true),
        ]
    );
    assert_eq!(loaded.task.unwrap().tree, loaded.files.summary());
}

#[test]
fn links_are_followed_below_the_roots_only() {
    let (top, folder) = one_task();
    write(&top.path().join("set/shared/data.csv"), "1");
    write(&top.path().join("secret/key"), "k");
    symlink("../../shared", folder.join("environment/shared")).unwrap();
    symlink("../instruction.md", folder.join("environment/again.md")).unwrap();
    let set = [top.path().join("set")];
    let fine = read_task(&folder, &set);
    assert_eq!(errors(&fine), [""; 0]);
    assert_eq!(fine.files.get("environment/shared/data.csv").unwrap().bytes, b"1");
    assert!(fine.files.get("environment/again.md").is_some());
    assert_eq!(
        errors(&read_task(&folder, &[])),
        ["environment/shared link_outside"],
        "without roots: the task's own folder"
    );

    symlink("../../../secret/key", folder.join("environment/key")).unwrap();
    symlink(top.path().join("secret"), folder.join("environment/all")).unwrap();
    symlink("nowhere", folder.join("environment/broken")).unwrap();
    symlink("..", folder.join("environment/up")).unwrap();
    let refused = read_task(&folder, &set);
    assert!(refused.task.is_none());
    assert_eq!(
        errors(&refused),
        [
            "environment/all link_outside",
            "environment/broken link_broken",
            "environment/key link_outside",
            "environment/up link_circle",
        ]
    );
    assert!(refused.files.iter().all(|(_, file)| file.bytes != b"k"));
}

#[test]
fn a_folder_outside_of_the_roots_is_refused_also_through_a_link() {
    let (top, folder) = one_task();
    let other = top.path().join("other");
    fs::create_dir(&other).unwrap();
    symlink(&folder, other.join("sheep")).unwrap();
    for path in [folder.clone(), other.join("sheep"), other.join("../set/sheep")] {
        let loaded = read_task(&path, std::slice::from_ref(&other));
        assert_eq!(loaded.findings[0].code, "outside_roots", "{}", path.display());
        assert!(loaded.files.is_empty() && loaded.task.is_none());
    }
    let missing = read_task(&top.path().join("set/goats"), &[]);
    assert_eq!(missing.findings[0].code, "unreadable");
}

#[test]
fn special_files_odd_names_and_too_much_are_refused() {
    let (_top, folder) = one_task();
    let _socket = UnixListener::bind(folder.join("environment/s")).unwrap();
    write(&folder.join("environment/a\\b"), "x");
    let loaded = read_task(&folder, &[]);
    assert_eq!(errors(&loaded), ["environment/a\\b bad_path", "environment/s special_file"]);

    let (_top, folder) = one_task();
    write(&folder.join("environment/large"), &"x".repeat(3000));
    let limits = |file_bytes, total_bytes, files| DiskLimits { file_bytes, total_bytes, files };
    for (limits, want) in [
        (limits(1000, 100_000, 100), "environment/large too_large"),
        (limits(5000, 2000, 100), "environment/large too_large"),
        (limits(5000, 100_000, 2), "instruction.md too_large"),
    ] {
        let loaded = read_task_within(&folder, &[], &limits);
        assert_eq!(errors(&loaded)[0], want);
        assert!(loaded.task.is_none());
    }
}

#[test]
fn discovery_finds_one_task_a_set_or_a_checkout() {
    let (top, folder) = one_task();
    let set = top.path().join("set");
    write_task(&set.join("goats"));
    write_task(&set.join(".ipynb_checkpoints"));
    write(&set.join("README.md"), "x");
    write(&set.join("notes/task.md"), "A document.\n");
    write(&set.join("bare/task.md"), "---\na: 1\n---\n");
    let names = |path: &Path| -> Vec<String> {
        discover(path).iter().map(|task| task.strip_prefix(top.path()).unwrap().display().to_string()).collect()
    };
    assert_eq!(names(&folder), ["set/sheep"]);
    assert_eq!(names(&set), ["set/bare", "set/goats", "set/sheep"]);

    let checkout = top.path().join("checkout");
    write_task(&checkout.join("tasks/a"));
    write_task(&checkout.join("libs/tasks/b"));
    assert_eq!(names(&checkout), ["checkout/tasks/a"], "a checkout keeps its tasks in tasks/");
    fs::remove_dir_all(checkout.join("tasks")).unwrap();
    write_task(&checkout.join("docs/examples/c"));
    write_task(&checkout.join("tasks-extra/d"));
    write_task(&checkout.join("node_modules/e"));
    assert_eq!(names(&checkout), ["checkout/docs/examples/c", "checkout/libs/tasks/b"]);
    assert_eq!(names(&checkout.join("tasks-extra")), ["checkout/tasks-extra/d"], "named, it is read");
    assert_eq!(names(&top.path().join("nothing")), [""; 0]);
}

#[test]
fn a_task_of_both_layouts_is_read_in_the_one_that_is_asked_for() {
    let top = tempfile::tempdir().unwrap();
    let folder = top.path().join("sheep");
    for (path, text) in [
        ("task.md", "---\nagent: {timeout_sec: 5}\n---\nCount the newer sheep.\n"),
        ("verifier/test.sh", "echo newer\n"),
        ("oracle/solve.sh", "true\n"),
        ("task.toml", "version = \"1.0\"\n[agent]\ntimeout_sec = 7\n"),
        ("instruction.md", "Count the older sheep.\n"),
        ("tests/test.sh", "echo older\n"),
        ("environment/Dockerfile", "FROM debian\n"),
    ] {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let read = |version: &str| {
        let loaded = read_task_as(&folder, &[], version.parse().unwrap());
        loaded.task.unwrap_or_else(|| panic!("{version}: {:#?}", loaded.findings))
    };
    let parts =
        |task: &Task| (task.instruction.clone(), task.verifier.folder.to_string(), task.agent.timeout.as_secs());
    let newer = ("Count the newer sheep.".to_owned(), "verifier".to_owned(), 5);
    assert_eq!((parts(&read("auto")), parts(&read("1.1"))), (newer.clone(), newer));
    let older = read("1.0");
    assert_eq!(parts(&older), ("Count the older sheep.".to_owned(), "tests".to_owned(), 7));
    assert_eq!(parts(&read("1.0-17dec32")), parts(&older), "AgentCompass' word for it");
    assert_eq!(older.oracle.unwrap().folder.as_str(), "oracle", "the only one that is there");
    assert_ne!(read("1.0").version(), read("auto").version(), "another task");
    assert_eq!(read("1.1").version(), read("auto").version());
    std::fs::remove_file(folder.join("task.toml")).unwrap();
    std::fs::remove_file(folder.join("instruction.md")).unwrap();
    let only = read("1.0");
    let finding = other_layout(DataVersion::V10, only.layout, ".").unwrap();
    assert!(finding.is_error() && finding.message.contains("1.0 was asked for"), "{finding}");
    assert!("1.2".parse::<DataVersion>().is_err());
}
