//! Repository tasks of our own form: what is read, what is made of the verifier's commands, and what is refused with its place.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod task_support;

use std::time::Duration;

use domain::finding::Severity;
use domain::task::{ResultPlace, Scoring, TaskLayout};
use task_support::{loaded, task, told};

const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";
const TOML: &str = r#"[repository]
url = "https://git.example.com/farm/pen.git"
commit = "0123456789abcdef0123456789abcdef01234567"
[environment]
docker_image = "python:3.12-slim"
[agent]
timeout_sec = 900
[verifier]
test_command = "python -m pytest /tests -v"
"#;

fn files() -> Vec<(&'static str, String)> {
    vec![
        ("task.toml", TOML.to_owned()),
        ("requirement.md", "# Task: Count\nCount the sheep.\n".to_owned()),
        ("tests/test_pen.py", "def test_pen(): pass\n".to_owned()),
    ]
}

#[test]
fn the_smallest_form_is_enough() {
    let loaded = loaded(files(), &[]);
    let task = task(&loaded);
    assert_eq!((loaded.layout, task.layout), (Some(TaskLayout::Repository), TaskLayout::Repository));
    assert_eq!(task.instruction, "# Task: Count\nCount the sheep.");
    let repository = task.environment.repository.as_ref().unwrap();
    assert_eq!((repository.url.as_str(), repository.commit.as_str()), ("https://git.example.com/farm/pen.git", COMMIT));
    assert_eq!((repository.folder.as_str(), repository.sparse.len(), repository.setup.len()), ("/workspace/pen", 0, 0));
    assert_eq!(task.environment.workdir.as_deref(), Some("/workspace/pen"));
    assert_eq!(task.result_place, ResultPlace::Workspace { path: "/workspace/pen".to_owned() });
    assert_eq!((task.verifier.scoring, task.verifier.pass_mark), (Scoring::PassRate, 1.0));
    assert_eq!(task.verifier.timeout, Duration::from_secs(660));
    assert!(task.tree.get("tests/test.sh").is_some(), "its script is a file of the task");
    assert_eq!(told(&loaded, Severity::Note), ["solution/solve.sh no_oracle"]);
}

#[test]
fn all_of_it_is_read() {
    let toml = TOML.replace(
        "[environment]",
        "folder = \"/srv/pen/\"\nsparse = [\"src\", \"docs/\"]\nsetup = [\"pip install -e .\"]\n[environment]",
    ) + "test_timeout_sec = 30\nmin_pass_rate = 0.5\ntests_folder = \"/tmp/pen-tests\"\nbuilds = [{ command = \"make\", expected_exit_code = 2, timeout_sec = 5 }]\n";
    let loaded =
        loaded(files(), &[("task.toml", Some(&toml)), ("instruction.md", Some("Other.")), ("requirement.md", None)]);
    let task = task(&loaded);
    let repository = task.environment.repository.as_ref().unwrap();
    assert_eq!((repository.folder.as_str(), task.instruction.as_str()), ("/srv/pen", "Other."));
    let sparse: Vec<&str> = repository.sparse.iter().map(domain::path::RelPath::as_str).collect();
    assert_eq!((sparse, repository.setup.as_slice()), (vec!["src", "docs"], &["pip install -e .".to_owned()][..]));
    assert_eq!((task.verifier.pass_mark, task.verifier.timeout), (0.5, Duration::from_secs(95)));
    let script = String::from_utf8(loaded.files.get("tests/test.sh").unwrap().bytes.clone()).unwrap();
    for line in [
        "cd '/srv/pen'\n",
        "check build 2 5 'make'\n",
        "cp -a /tests/. '/tmp/pen-tests'/\n",
        "check tests 0 30 'python -m pytest /tests -v'\n",
    ] {
        assert!(script.contains(line), "{line}{script}");
    }
}

#[test]
fn many_long_builds_take_no_longer_than_any_verifier_may() {
    let builds = "{ command = \"make\", timeout_sec = 604800 }, ".repeat(2000);
    let toml = format!("{TOML}builds = [{builds}]\n");
    assert_eq!(task(&loaded(files(), &[("task.toml", Some(&toml))])).verifier.timeout, Duration::from_secs(604_800));
}

#[test]
fn a_script_of_its_own_judges_as_everywhere() {
    let toml = TOML.replace("test_command = \"python -m pytest /tests -v\"", "");
    let script = "echo 1 > /logs/verifier/reward.txt\n";
    let loaded = loaded(files(), &[("task.toml", Some(&toml)), ("tests/test.sh", Some(script))]);
    assert_eq!(task(&loaded).verifier.scoring, Scoring::Reward);
    assert_eq!(task(&loaded).result_place, ResultPlace::Workspace { path: "/workspace/pen".to_owned() });
}

#[test]
fn what_is_wrong_is_named_with_its_line_and_a_remedy() {
    let with = |from: &str, to: &str| TOML.replace(from, to);
    // Twice, since their sum is made as well.
    let build = |seconds: &str| {
        let entry = format!("{{ command = \"make\", timeout_sec = {seconds} }}");
        format!("{TOML}builds = [{entry}, {entry}]\n")
    };
    for (toml, want) in [
        (with("https://", "http://"), "task.toml:2 bad_repository"),
        (with("https://", "https://me:key@"), "task.toml:2 bad_repository"),
        (with("url = \"https://git.example.com/farm/pen.git\"\n", ""), "task.toml:1 bad_repository"),
        (with(COMMIT, "main"), "task.toml:3 bad_repository"),
        (with("[environment]", "folder = \"pen\"\n[environment]"), "task.toml:4 bad_repository"),
        (with("[environment]", "folder = \"/\"\n[environment]"), "task.toml:4 bad_repository"),
        (with("[environment]", "sparse = [\"../x\"]\n[environment]"), "task.toml:4 bad_repository"),
        (TOML.to_owned() + "min_pass_rate = 50\n", "task.toml:10 bad_pass_rate"),
        (TOML.to_owned() + "tests_folder = \"/tmp\"\n", "task.toml:10 bad_tests_folder"),
        (TOML.to_owned() + "builds = [{ comand = \"make\" }]\n", "task.toml:10 bad_build"),
        (build("1e19"), "task.toml:10 limit_out_of_range"),
        (build("604801"), "task.toml:10 limit_out_of_range"),
        (build("0"), "task.toml:10 limit_out_of_range"),
        (build("nan"), "task.toml:10 limit_out_of_range"),
        (build("true"), "task.toml:10 wrong_type"),
        (with("test_command = \"python -m pytest /tests -v\"", "min_pass_rate = 0.5"), "task.toml:9 no_test_command"),
    ] {
        let loaded = loaded(files(), &[("task.toml", Some(&toml))]);
        let first = loaded.findings.iter().find(|finding| finding.is_error()).unwrap();
        let place = format!("{}:{} {}", first.file, first.line.unwrap_or(0), first.code);
        assert_eq!((place.as_str(), loaded.task.is_none()), (want, true), "{toml}");
    }
    let both = loaded(files(), &[("tests/test.sh", Some("true"))]);
    assert_eq!(told(&both, Severity::Error), ["tests/test.sh two_verifiers"]);
}
