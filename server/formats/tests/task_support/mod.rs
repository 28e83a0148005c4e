//! Tasks of both layouts in memory, to be changed by tests.
#![allow(missing_docs, dead_code, reason = "each test program uses a part")]

use domain::finding::Severity;
use domain::path::RelPath;
use domain::task::Task;
use domain::tree::{LoadedFile, LoadedTree};
use formats::task::{LoadedTask, load};

pub const TOML: &str = r#"version = "1.0"
[metadata]
difficulty = "medium"
category = "counting"
tags = ["sheep", "Pen Counting"]
[verifier]
timeout_sec = 300
[agent]
timeout_sec = 600.5
[environment]
build_timeout_sec = 300.0
cpus = 2
memory = "2G"
storage = "5G"
gpus = 0
allow_internet = true
"#;

pub const MD: &str = r"---
schema_version: '1.3'
metadata:
  category: counting
verifier:
  timeout_sec: 300
agent:
  timeout_sec: 600.5
environment:
  cpus: 0.5
  memory_mb: 4096
---

## prompt

Count the sheep.

---

Then stop.
";

pub const SKILL: &str = "---\nname: count-sheep\ndescription: Counts sheep. Use when there are sheep.\n---\nLook.\n";

pub fn older() -> Vec<(&'static str, String)> {
    vec![
        ("instruction.md", "Count the sheep.\r\nThen stop.\r\n".to_owned()),
        ("task.toml", TOML.to_owned()),
        ("environment/Dockerfile", "FROM debian\n".to_owned()),
        ("tests/test.sh", "echo 1 > /logs/verifier/reward.txt\n".to_owned()),
        ("solution/solve.sh", "true\n".to_owned()),
        ("environment/skills/count-sheep/SKILL.md", SKILL.to_owned()),
    ]
}

pub fn newer() -> Vec<(&'static str, String)> {
    vec![
        ("task.md", MD.to_owned()),
        ("environment/Dockerfile", "FROM debian\n".to_owned()),
        ("verifier/test.sh", "echo 1 > /logs/verifier/reward.txt\n".to_owned()),
        ("oracle/solve.sh", "true\n".to_owned()),
    ]
}

/// `files` with changes: a text puts a file, `None` takes it (and all below it) away.
pub fn loaded(mut files: Vec<(&'static str, String)>, changes: &[(&'static str, Option<&str>)]) -> LoadedTask {
    for (path, text) in changes {
        files.retain(|(other, _)| other != path && !other.starts_with(&format!("{path}/")));
        files.extend(text.map(|text| (*path, text.to_owned())));
    }
    let file = |text: String| LoadedFile { executable: true, bytes: text.into_bytes() };
    let files: LoadedTree = files.into_iter().map(|(path, text)| (RelPath::new(path).unwrap(), file(text))).collect();
    load("sheep", files, Vec::new())
}

pub fn task(loaded: &LoadedTask) -> &Task {
    loaded.task.as_ref().unwrap_or_else(|| panic!("{:#?}", loaded.findings))
}

/// `file:line code`, for each finding at least as grave as `from`.
pub fn told(loaded: &LoadedTask, from: Severity) -> Vec<String> {
    let graver = loaded.findings.iter().filter(|finding| finding.severity >= from);
    let place = |line: Option<u32>| line.map(|line| format!(":{line}")).unwrap_or_default();
    graver.map(|finding| format!("{}{} {}", finding.file, place(finding.line), finding.code)).collect()
}
