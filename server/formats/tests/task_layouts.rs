//! Both task layouts, part by part, from files in memory: what is read, and what is broken, with its place.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod task_support;

use std::time::Duration;

use domain::finding::Severity;
use domain::path::RelPath;
use domain::task::{ImageSource, NetworkPolicy, TaskLayout};
use domain::tree::LoadedFile;
use formats::task::{LoadedTask, load};
use task_support::{MD, TOML, loaded, newer, older, task, told};

#[test]
fn a_task_of_the_older_layout_is_read() {
    let loaded = loaded(older(), &[]);
    let task = task(&loaded);
    assert_eq!((loaded.layout, task.layout), (Some(TaskLayout::SkillsBench10), TaskLayout::SkillsBench10));
    assert_eq!(task.instruction, "Count the sheep.\nThen stop.");
    assert_eq!(task.agent.timeout, Duration::from_millis(600_500));
    assert_eq!((task.verifier.timeout, task.verifier.folder.as_str()), (Duration::from_secs(300), "tests"));
    assert_eq!((task.environment.cpus, task.environment.memory_mb, task.environment.storage_mb), (2.0, 2048, 5120));
    assert_eq!(task.environment.network, NetworkPolicy::Public);
    assert_eq!(task.environment.image, ImageSource::Build { context: RelPath::new("environment").unwrap() });
    assert_eq!(task.metadata.tags, ["sheep", "Pen Counting"]);
    assert!(task.oracle.as_ref().unwrap().needs_skills, "an older solution may import the skills");
    assert_eq!(task.bundled_skills[0].manifest.name, "count-sheep");
    assert_eq!(task.bundled_skills[0].tree.iter().map(|(path, _)| path.as_str()).collect::<Vec<_>>(), ["SKILL.md"]);
    assert_eq!(task.tree.len(), 6);
    assert_eq!(told(&loaded, Severity::Warning), [""; 0]);
}

#[test]
fn a_task_of_the_newer_layout_is_read() {
    let loaded = loaded(newer(), &[]);
    let task = task(&loaded);
    assert_eq!(task.layout, TaskLayout::SkillsBench11);
    assert_eq!(task.instruction, "Count the sheep.\n\n---\n\nThen stop.");
    assert_eq!((task.environment.cpus, task.environment.memory_mb, task.environment.storage_mb), (0.5, 4096, 10240));
    assert_eq!((task.verifier.folder.as_str(), task.verifier.pass_mark), ("verifier", 1.0));
    assert_eq!(
        task.oracle.as_ref().map(|oracle| (oracle.folder.as_str(), oracle.needs_skills)),
        Some(("oracle", false))
    );
    assert_eq!(told(&loaded, Severity::Note), [""; 0]);
}

#[test]
fn each_part_is_chosen_by_itself() {
    let both = |changes: &[(&'static str, Option<&str>)]| {
        let mut files = older();
        files.extend(newer().into_iter().filter(|(path, _)| !path.starts_with("environment")));
        loaded(files, changes)
    };
    let whole = both(&[]);
    let folders = |loaded: &LoadedTask| {
        let task = task(loaded);
        (task.verifier.folder.to_string(), task.oracle.as_ref().unwrap().folder.to_string())
    };
    assert_eq!(folders(&whole), ("verifier".to_owned(), "oracle".to_owned()));
    assert_eq!(told(&whole, Severity::Note), ["task.toml two_configs", "instruction.md two_prompts"]);
    let older_folders = both(&[("verifier", None), ("oracle", None)]);
    assert_eq!(folders(&older_folders), ("tests".to_owned(), "solution".to_owned()));
    assert_eq!(task(&older_folders).environment.memory_mb, 4096, "settings are those of task.md");
    let mixed = loaded(older(), &[("verifier/test.sh", Some("true")), ("oracle/solve.sh", Some("true"))]);
    assert_eq!(
        (task(&mixed).layout, folders(&mixed)),
        (TaskLayout::SkillsBench10, ("verifier".to_owned(), "oracle".to_owned()))
    );
    let broken = both(&[("verifier/test.sh", None), ("verifier/test_outputs.py", Some("x"))]);
    assert_eq!(told(&broken, Severity::Error), ["verifier/test.sh no_verifier"], "no falling back to tests/");
    let prompt_apart = both(&[("task.md", Some("---\nagent: {timeout_sec: 5}\n---\n"))]);
    assert_eq!(task(&prompt_apart).instruction, "Count the sheep.\nThen stop.");
    assert_eq!(task(&prompt_apart).agent.timeout, Duration::from_secs(5));
}

#[test]
fn files_that_are_absent_or_broken_are_named_with_a_remedy() {
    for (files, changes, want) in [
        (older(), vec![("task.toml", None)], vec![]),
        (older(), vec![("task.toml", None), ("instruction.md", None)], vec![". not_a_task"]),
        (older(), vec![("instruction.md", None)], vec!["instruction.md no_instruction"]),
        (older(), vec![("instruction.md", Some(" \r\n"))], vec!["instruction.md no_instruction"]),
        (older(), vec![("tests", None)], vec!["tests/test.sh no_verifier"]),
        (older(), vec![("tests/test.sh", Some("\n"))], vec!["tests/test.sh empty_script"]),
        (older(), vec![("tests/test.sh", Some("#!/bin/bash\r\necho\r\n"))], vec!["tests/test.sh:1 windows_line_ends"]),
        (older(), vec![("environment/Dockerfile", None)], vec!["environment/Dockerfile no_image"]),
        (
            older(),
            vec![("environment/Dockerfile", Some("RUN x"))],
            vec!["environment/Dockerfile dockerfile_without_base"],
        ),
        (older(), vec![("task.toml", Some("a = 1\n[agent\n"))], vec!["task.toml:2 toml_syntax"]),
        (
            older(),
            vec![("task.toml", Some("[agent]\ntimeout_sec = 1\ntimeout_sec = 2\n"))],
            vec!["task.toml:3 toml_syntax"],
        ),
        (newer(), vec![("task.md", Some("Count.\n"))], vec!["task.md:1 no_frontmatter"]),
        (newer(), vec![("task.md", Some("---\na: b: c\n---\nCount.\n"))], vec!["task.md:2 yaml_syntax"]),
        (newer(), vec![("task.md", Some("---\na: 1\n---\n"))], vec!["task.md no_instruction"]),
        (
            newer(),
            vec![("task.md", Some("---\n---\n## prompt\na\n## prompt\nb\n"))],
            vec!["task.md:5 duplicate_section"],
        ),
        (newer(), vec![("oracle", None)], vec![]),
    ] {
        let loaded = loaded(files, &changes);
        assert_eq!(told(&loaded, Severity::Error), want, "{changes:?}");
        assert_eq!(loaded.task.is_none(), !want.is_empty(), "no task exactly where there is an error: {changes:?}");
        for finding in loaded.findings.iter().filter(|finding| finding.is_error() && finding.code != "yaml_syntax") {
            assert!(finding.hint.is_some(), "{finding}");
        }
    }
}

#[test]
fn bundled_skills_are_never_left_out_silently() {
    let skill = |name: &str| format!("---\nname: {name}\ndescription: Use when counting.\n---\nLook.\n");
    let loaded = loaded(
        older(),
        &[
            ("environment/skills/pen/SKILL.md", Some(&skill("pen"))),
            ("environment/skills/pen/scripts/run.py", Some("x")),
            ("environment/skills/lower/skill.md", Some(&skill("lower"))),
            ("environment/skills/plain/SKILL.md", Some("no frontmatter")),
            ("environment/skills/licenses/MIT", Some("x")),
            ("environment/skills/deep/er/SKILL.md", Some(&skill("er"))),
            ("environment/skills/twin/SKILL.md", Some(&skill("pen"))),
            ("environment/skills/LICENSE", Some("x")),
            ("instruction.md", Some("Use the count-sheep way on file.pen.")),
        ],
    );
    let names: Vec<_> =
        task(&loaded).bundled_skills.iter().map(|skill| (skill.manifest.name.as_str(), skill.tree.len())).collect();
    assert_eq!(names, [("count-sheep", 1), ("pen", 2)]);
    let told: Vec<_> =
        told(&loaded, Severity::Note).into_iter().filter(|told| !told.contains("old_spelling")).collect();
    assert_eq!(
        told,
        [
            "environment/skills loose_files",
            "environment/skills/deep no_skill_md",
            "environment/skills/licenses no_skill_md",
            "environment/skills/lower/skill.md wrong_file_name",
            "environment/skills/plain/SKILL.md:1 no_frontmatter",
            "environment/skills/twin/SKILL.md:2 name_folder_mismatch",
            "environment/skills/twin/SKILL.md skill_twice",
            "instruction.md names_skill",
        ]
    );
}

#[test]
fn the_shared_scripts_are_told_apart_at_import() {
    for (script, want) in [
        ("crlf-test.sh", ["tests/test.sh:1 windows_line_ends", "tests/test.sh not_executable"].as_slice()),
        ("noexec-test.sh", &["tests/test.sh not_executable"]),
        ("crlf-value.sh", &["tests/test.sh not_executable"]),
    ] {
        let path = format!("{}/../../../shared/cases/H23/{script}", env!("CARGO_MANIFEST_DIR"));
        let Ok(bytes) = std::fs::read(&path) else {
            println!("skipped: {path} is not there");
            continue;
        };
        let mut files = loaded(older(), &[("task.toml", Some("version = \"1.0\"\n[agent]\ntimeout_sec = 60\n"))]).files;
        files.insert(RelPath::new("tests/test.sh").unwrap(), LoadedFile { executable: false, bytes });
        assert_eq!(told(&load("sheep", files, Vec::new()), Severity::Note), want, "{script}");
    }
}

#[test]
fn no_file_makes_the_loader_panic() {
    let files = [
        ("task.md", MD),
        ("task.toml", TOML),
        ("environment/docker-compose.yaml", "services:\n  main:\n    volumes: [a]\n"),
        ("environment/Dockerfile", "FROM a\nRUN <<E\nx\nE\n"),
        ("verifier/verifier.md", MD),
    ];
    let mut state = 7_u64;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let mut usable = 0;
    for round in 0..2000 {
        let mut tree = loaded(if round % 2 == 0 { older() } else { newer() }, &[]).files;
        let (name, text) = files[random(files.len())];
        let mut bytes = text.as_bytes().to_vec();
        for _ in 0..=random(5) {
            let at = random(bytes.len());
            match random(3) {
                0 => bytes[at] = random(256) as u8,
                1 => bytes.truncate(at + 1),
                _ => bytes.insert(at, b"\"'{}[]:=\n\xff${-#|&*"[random(17)]),
            }
        }
        tree.insert(RelPath::new(name).unwrap(), LoadedFile { executable: false, bytes });
        let loaded = load("fuzz", tree, Vec::new());
        assert_eq!(loaded.task.is_none(), domain::finding::has_errors(&loaded.findings));
        usable += usize::from(loaded.task.is_some());
    }
    assert!(usable > 0);
}
