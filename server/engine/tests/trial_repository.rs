//! A task that works in a repository, whole, on the real engine: what the agent finds there, what it does not find, and how it is judged.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod trial_support;

use std::path::Path;
use std::process::Command;

use domain::attempt::AttemptResult;
use domain::finding::Finding;
use domain::task::ImageSource;
use domain::test_case::TestStatus;
use domain::verdict::{FailReason, InfraClass, Verdict};
use repos::Mirrors;
use trial_support::{Bench, repository_task};

const URL: &str = "https://git.example.com/sheep/pen";
/// What the agent sees, and the change that it makes. No git is in the image, so it reads the files of `.git` itself.
const AGENT: &str = r#"pwd
find . -path ./.git -prune -o -type f -print | LC_ALL=C sort
cat set-up.txt
cat .git/HEAD .git/refs/heads/main | head -1
ls .git/logs .git/packed-refs .git/hooks .git/refs/remotes 2>/dev/null
grep -rl GOLDEN_FIX . && echo found
ls -d /tests 2>/dev/null
printf 'def count(pen):\n    return len(pen)\n' > pen.py
"#;
/// Tests as another program than pytest prints them, since the image has none.
const TESTS: &str = r#"import importlib.util, sys
spec = importlib.util.spec_from_file_location("pen", "/workspace/pen/pen.py")
pen = importlib.util.module_from_spec(spec); spec.loader.exec_module(pen)
def told(name, right): print(f"test_{name} (pen.Count.test_{name}) ... {'ok' if right else 'FAIL'}")
told("none", pen.count([]) == 0)
told("two", pen.count([1, 2]) == 2)
told("list", pen.count([1]) == 1)
print("test_wolf (pen.Count.test_wolf) ... skipped 'no wolf'")
"#;

fn git(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=t", "-c", "user.email=t@example.invalid"]).args(arguments);
    let output = command.current_dir(folder).env("GIT_CONFIG_GLOBAL", "/dev/null").output().unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// A pen whose fix lies in a later commit, in a branch and a tag, with skills of its own.
fn origin(folder: &Path) -> String {
    let write = |path: &str, text: &str| {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    git(folder, &["init", "-q", "-b", "main", "."]);
    write("pen.py", "def count(pen):\n    return 0\n");
    write("docs/pen.md", "A pen.\n");
    write(".claude/skills/count/SKILL.md", "GOLDEN_FIX: use len\n");
    git(folder, &["add", "-A"]);
    git(folder, &["commit", "-q", "-m", "empty count"]);
    let base = git(folder, &["rev-parse", "HEAD"]);
    write("pen.py", "def count(pen):\n    return len(pen)  # GOLDEN_FIX\n");
    git(folder, &["commit", "-q", "-a", "-m", "GOLDEN_FIX"]);
    git(folder, &["tag", "v2"]);
    git(folder, &["branch", "later"]);
    base
}

fn settings(commit: &str, image: &str, rate: f64, build: &str) -> String {
    format!(
        "[repository]\nurl = \"{URL}\"\ncommit = \"{commit}\"\nsetup = [\"echo set up > set-up.txt\"]\n\
         [environment]\ndocker_image = \"{image}\"\ncpus = 1\nmemory_mb = 512\nnetwork_mode = \"no-network\"\n\
         [agent]\ntimeout_sec = 60\n\
         [verifier]\ntest_command = \"python3 /tests/check.py\"\ntest_timeout_sec = 60\nmin_pass_rate = {rate}\n\
         builds = [{{ command = \"{build}\", timeout_sec = 20 }}]\n"
    )
}

async fn trial(bench: &Bench, agent: &str, settings: &str) -> trial_support::Ended {
    let files = [("task.toml", settings), ("requirement.md", agent), ("tests/check.py", TESTS)];
    let ended = bench.trial_of(repository_task(&files)).await;
    bench.remove_image(ended.result.image.as_deref()).await;
    ended
}

fn codes(result: &AttemptResult) -> Vec<&str> {
    result.findings.iter().map(|finding: &Finding| finding.code.as_str()).collect()
}

#[tokio::test]
async fn the_agent_works_in_the_pinned_tree_and_is_judged_in_a_fresh_container() {
    let room = tempfile::tempdir().unwrap();
    let commit = origin(room.path());
    let mirrors = Mirrors::parse([(URL.to_owned(), room.path().display().to_string())]).unwrap();
    let bench = Bench::with_mirrors("repository", mirrors).await;
    let image = bench.rig.image.clone();
    let build = "grep -q count pen.py";

    let ended = trial(&bench, AGENT, &settings(&commit, &image, 0.7, build)).await;
    let seen = "/workspace/pen\n./docs/pen.md\n./pen.py\n./set-up.txt\nset up\nref: refs/heads/main\n";
    assert_eq!(ended.agent, seen, "{:?}", ended.result);
    let tests: Vec<_> = ended.result.tests.iter().map(|test| (test.name.as_str(), test.status)).collect();
    let passed = |name| (name, TestStatus::Passed);
    let want = [passed("pen.Count::test_none"), passed("pen.Count::test_two"), passed("pen.Count::test_list")];
    assert_eq!(tests, [want.as_slice(), &[("pen.Count::test_wolf", TestStatus::Skipped)]].concat());
    assert_eq!(
        (ended.result.verdict.clone(), ended.result.reward),
        (Verdict::Pass, Some(0.75)),
        "a skip counts against"
    );
    let from = ended.finding("repository").unwrap();
    assert!(from.contains(&commit) && from.contains(URL), "{from}");
    assert!(ended.finding("agent_folders_removed").unwrap().contains(".claude"));

    let wrong = Verdict::Fail { reason: FailReason::WrongResult };
    let nop = trial(&bench, "true\n", &settings(&commit, &image, 0.7, build)).await;
    assert_eq!((nop.result.verdict, nop.result.reward), (wrong.clone(), Some(0.25)));
    let unbuilt = trial(&bench, AGENT, &settings(&commit, &image, 0.7, "exit 3")).await;
    assert!(codes(&unbuilt.result).contains(&"build_failed"), "{:?}", unbuilt.result.findings);
    assert_eq!((unbuilt.result.verdict, unbuilt.result.reward), (wrong, Some(0.75)));
    bench.finish().await;
}

#[tokio::test]
async fn a_commit_that_is_not_there_is_no_fault_of_the_agent() {
    let room = tempfile::tempdir().unwrap();
    origin(room.path());
    let mirrors = Mirrors::parse([(URL.to_owned(), room.path().display().to_string())]).unwrap();
    let bench = Bench::with_mirrors("repository-missing", mirrors).await;
    let ended = trial(&bench, "true\n", &settings(&"12".repeat(20), &bench.rig.image, 1.0, "true")).await;
    match ended.result.verdict {
        Verdict::InfraError { class: InfraClass::Image, message } => {
            assert!(message.contains("update the mirror") && message.contains(&"12".repeat(20)), "{message}");
        }
        other => panic!("{other:?}"),
    }
    bench.finish().await;
}

/// What the untouched repositories already pass, with no agent at all. `SWE_SKILLS_BENCH` names the published checkout, `SWE_MIRRORS` has
/// URL=PATH pairs with commas between, `SWE_IMAGE` is a local image with Python and pytest.
#[tokio::test]
#[ignore = "needs the published checkout, mirrors of its repositories and an image"]
async fn the_published_tasks_with_no_agent() {
    let variable = |name: &str| std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set"));
    let pairs: Vec<(String, String)> = variable("SWE_MIRRORS")
        .split(',')
        .map(|pair| pair.split_once('=').map(|(url, path)| (url.to_owned(), path.to_owned())).unwrap())
        .collect();
    let checkout = formats::task::Checkout::open(Path::new(&variable("SWE_SKILLS_BENCH"))).unwrap();
    let bench = Bench::with_mirrors("repository-published", Mirrors::parse(pairs.clone()).unwrap()).await;
    let mut scored = 0;
    for entry in checkout.tasks().iter().filter(|task| task.name().starts_with("batch1-")) {
        let loaded = checkout.read(entry);
        let Some(mut task) = loaded.task else { continue };
        let url = task.environment.repository.as_ref().map(|found| found.url.key().to_owned());
        if !pairs.iter().any(|(mirrored, _)| Some(mirrored) == url.as_ref()) {
            continue;
        }
        task.environment.image = ImageSource::Named { image: variable("SWE_IMAGE") };
        task.environment.cpus = 1.0;
        task.environment.memory_mb = 1024;
        task.instruction = std::env::var(format!("STUB_{}", entry.name())).unwrap_or_else(|_| "true\n".to_owned());
        let ended = bench.trial_of((loaded.files, task)).await;
        let passed = ended.result.tests.iter().filter(|test| test.status == TestStatus::Passed).count();
        println!(
            "{}: {passed}/{} {:?} {:?} {:?}",
            entry.name(),
            ended.result.tests.len(),
            ended.result.verdict,
            codes(&ended.result),
            ended.result.phases
        );
        scored += usize::from(ended.result.verdict.scored().is_some());
        bench.remove_image(ended.result.image.as_deref()).await;
    }
    assert!(scored > 0);
    bench.finish().await;
}
