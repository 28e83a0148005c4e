//! `evals.json` in its dialects: which cases become tasks, what is left to a model, and what the script that decides them does when it is run.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use domain::finding::Severity;
use domain::task::TaskLayout;
use formats::task::{LoadedTask, evals_files, read_evals};

fn case(name: &str) -> Vec<LoadedTask> {
    read_evals(&folder(name).join("evals/evals.json"))
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/evals").join(name)
}

/// A file of this text in a folder of its own.
fn written(text: &str) -> Vec<LoadedTask> {
    let top = tempfile::tempdir().unwrap();
    let file = top.path().join("evals.json");
    std::fs::write(&file, text).unwrap();
    read_evals(&file)
}

/// `line code` of findings at least as grave as `from`.
fn told(task: &LoadedTask, from: Severity) -> Vec<String> {
    let graver = task.findings.iter().filter(|finding| finding.severity >= from);
    graver.map(|finding| format!("{} {}", finding.line.unwrap_or(0), finding.code)).collect()
}

#[test]
fn a_case_that_only_a_model_can_judge_is_refused_with_each_of_its_lines() {
    let tasks = case("guide");
    assert_eq!(tasks.iter().map(|task| task.name.as_str()).collect::<Vec<_>>(), ["csv-analyzer-1"]);
    assert!(tasks[0].task.is_none());
    assert_eq!(told(&tasks[0], Severity::Warning), ["10 not_judged", "11 not_judged", "4 nothing_to_check"]);
    let last = tasks[0].findings.iter().find(|finding| finding.is_error()).unwrap();
    assert!(last.message.contains("none of the case's 2 assertions") && last.hint.is_some(), "{last}");
    let creator = case("creator");
    let names: Vec<&str> = creator.iter().map(|task| task.name.as_str()).collect();
    assert_eq!(names, ["count-sheep-0", "count-sheep-blank", "count-sheep-3"]);
    assert_eq!(told(&creator[0], Severity::Warning), ["4 not_judged", "4 nothing_to_check"]);
    assert_eq!(told(&creator[1], Severity::Warning), ["5 nothing_to_check"]);
    assert_eq!(told(&creator[2], Severity::Warning), ["6 bad_case"]);
}

#[test]
fn a_case_with_checks_is_a_task_and_what_is_left_out_is_told() {
    let tasks = case("mixed");
    let tidy = &tasks[0];
    assert_eq!(told(tidy, Severity::Warning), ["9 not_judged", "18 not_judged", "19 not_judged"]);
    let notes: Vec<&str> = tidy.findings.iter().map(|finding| finding.code.as_str()).collect();
    for code in ["unknown_key", "partly_judged", "default_image"] {
        assert!(notes.contains(&code), "{code} in {notes:?}");
    }
    let task = tidy.task.as_ref().unwrap();
    assert_eq!((task.layout, task.name.as_str()), (TaskLayout::Evals, "tidy-pens-tidy"));
    assert_eq!(task.instruction, "Put the pens of src/pens.txt in order, into sorted.txt.");
    assert_eq!((task.agent.timeout, task.verifier.pass_mark), (Duration::from_secs(120), 1.0));
    let files: Vec<&str> =
        tidy.files.iter().map(|(path, _)| path.as_str()).filter(|path| path.starts_with("environment")).collect();
    assert_eq!(files, ["environment/Dockerfile", "environment/files/notes.md", "environment/files/src/pens.txt"]);
    let dockerfile = String::from_utf8(tidy.files.get("environment/Dockerfile").unwrap().bytes.clone()).unwrap();
    assert_eq!(dockerfile, "FROM debian:bookworm-slim\nWORKDIR /workspace\nCOPY files/ ./\n");
    assert_eq!(
        told(&tasks[1], Severity::Warning),
        [
            "29 bad_assertion",
            "30 bad_assertion",
            "31 bad_assertion",
            "32 bad_assertion",
            "33 bad_assertion",
            "24 input_file"
        ]
    );
    assert!(tasks[1].findings.iter().filter(|finding| finding.is_error()).all(|finding| finding.hint.is_some()));
}

#[test]
fn a_task_tells_which_cases_of_its_file_are_left_out() {
    let check = r#""assertions": [{"type": "file_exists", "path": "a"}]"#;
    let text = format!(
        r#"{{"skill_name": "pens", "evals": [{{"id": 1, "prompt": "x", {check}}}, {{"id": 2, "prompt": "x"}},
            {{"id": 3, "prompt": "x", "assertions": ["nice"]}}, {{"id": 4, "prompt": "x", {check}}}]}}"#
    );
    let tasks = written(&text);
    let left = |task: &LoadedTask| {
        let mut notes = task.findings.iter().filter(|finding| finding.code == "cases_left_out");
        notes.next().map(|finding| (finding.severity, finding.message.clone()))
    };
    let told =
        "2 of the file's 4 cases cannot be decided without a model and are not run: pens-2 and pens-3".to_owned();
    let told = Some((Severity::Note, told));
    assert_eq!(tasks.iter().map(left).collect::<Vec<_>>(), [told.clone(), None, None, told]);
    assert!(case("mixed").iter().all(|task| left(task).is_none()), "a case with a fault is no case that is left out");
}

#[test]
fn a_file_that_the_prompt_speaks_of_lies_where_it_says() {
    let guide = &case("guide")[0];
    assert!(guide.files.get("environment/files/evals/files/sales.csv").is_some(), "{:?}", guide.files);
}

#[test]
fn a_file_that_is_none_is_refused_with_its_line() {
    for (text, want) in [
        ("", "1 bad_json"),
        ("{\n \"evals\": [\n}", "3 bad_json"),
        ("[]", "0 no_case"),
        ("{}", "0 no_case"),
        ("{\"evals\": []}", "0 no_case"),
        ("{\n\"skill_name\": \"x\",\n\"cases\": [{\"id\": \"a\", \"question\": \"?\"}]}", "3 judged_by_model"),
        ("{\"evals\": [\n3]}", "2 bad_case"),
        ("{\"evals\": [\n{\"prompt\": \"x\", \"timeout_seconds\": 0}]}", "2 bad_case"),
        ("{\"evals\": [\n{\"prompt\": \"x\",\n\"files\": \"a\"}]}", "3 bad_case"),
    ] {
        let tasks = written(text);
        assert_eq!(tasks.iter().map(|task| told(task, Severity::Error)).collect::<Vec<_>>(), [[want]], "{text}");
        assert!(tasks[0].task.is_none());
    }
}

#[test]
fn the_prompt_must_not_name_the_skill() {
    let text = r#"{"skill_name": "count-sheep", "evals": [{"id": 1, "prompt": "Use the count-sheep skill.",
        "assertions": [{"type": "file_exists", "path": "a"}]}]}"#;
    assert_eq!(told(&written(text)[0], Severity::Warning), ["1 names_skill"]);
}

#[test]
fn cases_are_found_below_a_skill_and_a_checkout() {
    let below = |path: &Path| evals_files(path).len();
    assert_eq!((below(&folder("mixed")), below(&folder("")), below(&folder("mixed/evals/files"))), (1, 3, 0));
}

/// Runs the script of the case `tidy` on a folder with `sorted`; answers reward and the statuses of its test cases.
fn decided(sorted: Option<&str>) -> (String, Vec<String>) {
    let top = tempfile::tempdir().unwrap();
    let (workspace, logs) = (top.path().join("workspace"), top.path().join("verifier"));
    std::fs::create_dir_all(workspace.join("src")).unwrap();
    std::fs::create_dir_all(&logs).unwrap();
    std::fs::write(workspace.join("src/pens.txt"), "north\nsouth\neast\n").unwrap();
    if let Some(text) = sorted {
        std::fs::write(workspace.join("sorted.txt"), text).unwrap();
    }
    let script = String::from_utf8(case("mixed")[0].files.get("tests/test.sh").unwrap().bytes.clone()).unwrap();
    let script = script.replace("out=/logs/verifier", &format!("out={}", logs.display()));
    let ended = Command::new("bash").args(["-c", &script]).current_dir(&workspace).output().unwrap();
    assert!(ended.status.success(), "{ended:?}");
    let report = std::fs::read(logs.join("ctrf.json")).unwrap();
    let tests = formats::verdict::ctrf::read_ctrf(&report).unwrap();
    let statuses = tests.iter().map(|test| format!("{:?} {}", test.status, test.name)).collect();
    (std::fs::read_to_string(logs.join("reward.txt")).unwrap().trim().to_owned(), statuses)
}

#[test]
fn the_script_decides_each_check_and_writes_what_the_judge_reads() {
    let (reward, tests) = decided(Some("a.b*c\nnorth\npen 'x' $HOME\n"));
    assert_eq!(
        tests,
        [
            "Passed file_exists: sorted.txt",
            "Passed file_absent: core",
            "Passed regex: sorted.txt: ^north\\npen 'x' \\$HOME$",
            "Passed not_regex: sorted.txt: (?i)TODO|it's",
            "Passed contains: sorted.txt: a.b*c",
            "Passed the input is untouched",
            "Skipped command: true",
        ]
    );
    assert_eq!(reward, "1");
    let failed = |tests: &[String]| tests.iter().filter(|test| test.starts_with("Failed")).count();
    let (reward, tests) = decided(Some("todo: aXbc\n"));
    assert_eq!((reward.as_str(), failed(&tests)), ("0.500000", 3));
    let (reward, tests) = decided(None);
    assert_eq!((reward.as_str(), failed(&tests)), ("0.333333", 4), "a file that is not there decides `not_regex` too");
}
