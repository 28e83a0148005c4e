//! Both task layouts, part by part, from files in memory: what is read, and what is refused with which word and line.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::time::Duration;

use domain::finding::Severity;
use domain::path::RelPath;
use domain::task::{ImageSource, NetworkPolicy, Task, TaskLayout};
use domain::tree::{LoadedFile, LoadedTree};
use formats::task::{LoadedTask, load};

const TOML: &str = r#"version = "1.0"
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

const MD: &str = r"---
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

const SKILL: &str = "---\nname: count-sheep\ndescription: Counts sheep.\n---\nLook.\n";

fn older() -> Vec<(&'static str, String)> {
    vec![
        ("instruction.md", "Count the sheep.\r\nThen stop.\r\n".to_owned()),
        ("task.toml", TOML.to_owned()),
        ("environment/Dockerfile", "FROM debian\n".to_owned()),
        ("tests/test.sh", "echo 1 > /logs/verifier/reward.txt\n".to_owned()),
        ("solution/solve.sh", "true\n".to_owned()),
        ("environment/skills/count-sheep/SKILL.md", SKILL.to_owned()),
    ]
}

fn newer() -> Vec<(&'static str, String)> {
    vec![
        ("task.md", MD.to_owned()),
        ("environment/Dockerfile", "FROM debian\n".to_owned()),
        ("verifier/test.sh", "echo 1 > /logs/verifier/reward.txt\n".to_owned()),
        ("oracle/solve.sh", "true\n".to_owned()),
    ]
}

/// `files` with changes: a text puts a file, `None` takes it (and all below it) away.
fn loaded(mut files: Vec<(&'static str, String)>, changes: &[(&'static str, Option<&str>)]) -> LoadedTask {
    for (path, text) in changes {
        files.retain(|(other, _)| other != path && !other.starts_with(&format!("{path}/")));
        files.extend(text.map(|text| (*path, text.to_owned())));
    }
    let file = |text: String| LoadedFile { executable: true, bytes: text.into_bytes() };
    let files: LoadedTree = files.into_iter().map(|(path, text)| (RelPath::new(path).unwrap(), file(text))).collect();
    load("sheep", files, Vec::new())
}

fn task(loaded: &LoadedTask) -> &Task {
    loaded.task.as_ref().unwrap_or_else(|| panic!("{:#?}", loaded.findings))
}

/// `file:line code`, for each finding at least as grave as `from`.
fn told(loaded: &LoadedTask, from: Severity) -> Vec<String> {
    let graver = loaded.findings.iter().filter(|finding| finding.severity >= from);
    let place = |line: Option<u32>| line.map(|line| format!(":{line}")).unwrap_or_default();
    graver.map(|finding| format!("{}{} {}", finding.file, place(finding.line), finding.code)).collect()
}

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
        for finding in loaded.findings.iter().filter(|finding| finding.is_error() && !finding.code.contains("syntax")) {
            assert!(finding.hint.is_some(), "{finding}");
        }
    }
}

/// Reads the older layout with these settings; the findings from `from` on.
fn toml(settings: &str, from: Severity) -> (LoadedTask, Vec<String>) {
    let loaded = loaded(older(), &[("task.toml", Some(settings))]);
    let told = told(&loaded, from).into_iter().filter(|told| !told.contains("default_timeout")).collect();
    (loaded, told)
}

#[test]
fn limits_are_sane_numbers_or_errors_with_a_line() {
    for (settings, want) in [
        ("[agent]\ntimeout_sec = 0", "task.toml:2 limit_out_of_range"),
        ("[agent]\ntimeout_sec = -5.0", "task.toml:2 limit_out_of_range"),
        ("[agent]\ntimeout_sec = nan", "task.toml:2 limit_out_of_range"),
        ("[agent]\ntimeout_sec = inf", "task.toml:2 limit_out_of_range"),
        ("[agent]\ntimeout_sec = 1e300", "task.toml:2 limit_out_of_range"),
        ("[agent]\ntimeout_sec = \"soon\"", "task.toml:2 wrong_type"),
        ("[agent]\ntimeout_sec = true", "task.toml:2 wrong_type"),
        ("agent = 3", "task.toml:1 wrong_type"),
        ("[verifier]\nx = 1\ntimeout_sec = 1e9", "task.toml:3 limit_out_of_range"),
        ("[environment]\ncpus = 0", "task.toml:2 limit_out_of_range"),
        ("[environment]\ncpus = 100000", "task.toml:2 limit_out_of_range"),
        ("[environment]\nmemory_mb = 0", "task.toml:2 limit_out_of_range"),
        ("[environment]\nmemory_mb = 99999999999", "task.toml:2 limit_out_of_range"),
        ("[environment]\nmemory = \"2X\"", "task.toml:2 wrong_type"),
        ("[environment]\nmemory = \"nanG\"", "task.toml:2 limit_out_of_range"),
        ("[environment]\nmemory_mb = 1024\nmemory = \"2G\"", "task.toml:3 limit_conflict"),
        ("[environment]\ngpus = 1", "task.toml:2 unsupported_gpu"),
        ("[environment]\nworkdir = \"app\"", "task.toml:2 bad_workdir"),
        ("[agent]\nuser = \"a b; rm\"", "task.toml:2 bad_user"),
        ("version = \"2.0\"", "task.toml:1 schema_version"),
    ] {
        let (_, told) = toml(settings, Severity::Error);
        assert_eq!(told, [want], "{settings}");
    }
    for (settings, memory_mb) in [
        ("[environment]\nmemory = \"2G\"", 2048),
        ("[environment]\nmemory = \"512M\"", 512),
        ("[environment]\nmemory = \"1.5g\"", 1536),
        ("[environment]\nmemory = \"1GiB\"\nmemory_mb = 1024", 1024),
        ("[environment]\nmemory_mb = \"4096\"", 4096),
        ("version = \"0.0\"\n", 2048),
    ] {
        let (loaded, _) = toml(settings, Severity::Error);
        assert_eq!(task(&loaded).environment.memory_mb, memory_mb, "{settings}");
    }
}

#[test]
fn unknown_settings_are_noted_and_kept_from_nobody() {
    let (loaded, told) = toml("colour = 1\n[environment]\nshape = \"round\"\n", Severity::Note);
    assert_eq!(told, ["task.toml:1 unknown_key", "task.toml:3 unknown_key"]);
    assert!(loaded.task.is_some());
}

#[test]
fn variables_are_literal_or_asked_of_the_host() {
    let (loaded, told) = toml(
        "[verifier.env]\nTAG = \"x-1\"\nN = 3\nKEY = \"${API_KEY}\"\nOPT = \"${OPT:-none}\"\nPART = \"a-${B}\"\n\
         [solution]\nINLINE = \"yes\"\n[solution.env]\nKEY = \"${API_KEY}\"\n[environment.env]\nA = \"${A:-b}\"\n",
        Severity::Warning,
    );
    let task = task(&loaded);
    let pairs = |map: &std::collections::BTreeMap<String, String>| {
        map.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(pairs(&task.verifier.env), "N=3 OPT=none PART=a-${B} TAG=x-1");
    assert_eq!(pairs(&task.verifier.env_from_host), "KEY=API_KEY OPT=OPT");
    assert_eq!(pairs(&task.oracle.as_ref().unwrap().env), "INLINE=yes");
    assert_eq!(pairs(&task.environment.env), "A=b");
    assert_eq!(told, ["task.toml:6 partial_template", "task.toml:10 host_value_left_out"]);
    let (_, told) = toml("[verifier.env]\n\"A B\" = \"x\"\nC = [1]\n", Severity::Error);
    assert_eq!(told, ["task.toml:1 bad_variable", "task.toml:3 wrong_type"]);
}

/// Reads the newer layout with this frontmatter; errors and warnings.
fn md(frontmatter: &str) -> (LoadedTask, Vec<String>) {
    let text = format!("---\n{frontmatter}\n---\nCount the sheep.\n");
    let loaded = loaded(newer(), &[("task.md", Some(&text))]);
    let told = told(&loaded, Severity::Warning);
    (loaded, told)
}

#[test]
fn the_network_is_what_the_settings_say_without_contradiction() {
    let hosts = NetworkPolicy::Allowlist { hosts: vec!["a.org".to_owned(), "*.b.org".to_owned()] };
    for (settings, want) in [
        ("{}", Ok(NetworkPolicy::Public)),
        ("{network_mode: no-network}", Ok(NetworkPolicy::None)),
        ("{allow_internet: false}", Ok(NetworkPolicy::None)),
        ("{allow_internet: true, network_mode: no-network}", Ok(NetworkPolicy::None)),
        ("{network_mode: allowlist, allowed_hosts: [A.org, '*.b.org']}", Ok(hosts)),
        ("{network_mode: allowlist}", Err("network_conflict")),
        ("{allowed_hosts: [a.org]}", Err("network_conflict")),
        ("{network_mode: public, allow_internet: false}", Err("network_conflict")),
        ("{network_mode: allowlist, allowed_hosts: ['http://a.org/x']}", Err("bad_host")),
        ("{network_mode: sometimes}", Err("bad_network_mode")),
    ] {
        for key in ["environment", "sandbox"] {
            let (loaded, told) = md(&format!("{key}: {settings}"));
            match &want {
                Ok(policy) => assert_eq!(task(&loaded).environment.network, *policy, "{settings}"),
                Err(code) => assert_eq!(told, [format!("task.md:2 {code}")], "{settings}"),
            }
        }
    }
}

#[test]
fn shorthands_and_both_spellings_are_understood() {
    let (nowhere, _) = md("name: sheep\nversion: 1.3\nimage: debian:bookworm\nverifier: checks/\noracle: answer");
    assert_eq!(told(&nowhere, Severity::Error), ["checks/test.sh no_verifier"]);
    let text = "---\nimage: debian:bookworm\nverifier: ./checks/\nsandbox: {cpus: 2}\nagent: {prompt_prefix: Be honest.}\n---\nCount.\n";
    let loaded =
        loaded(newer(), &[("task.md", Some(text)), ("checks/test.sh", Some("true")), ("environment/Dockerfile", None)]);
    assert_eq!(task(&loaded).environment.image, ImageSource::Named { image: "debian:bookworm".to_owned() });
    assert_eq!((task(&loaded).verifier.folder.as_str(), task(&loaded).environment.cpus), ("checks", 2.0));
    assert_eq!(task(&loaded).instruction, "Be honest.\n\nCount.");
    let (_, told) = md("sandbox: {cpus: 2}\nenvironment: {cpus: 1}");
    assert_eq!(told, ["task.md:2 two_spellings"]);
    let (_, told) = md("verifier: ../elsewhere");
    assert_eq!(told, ["task.md bad_folder"]);
}

#[test]
fn what_is_not_supported_is_refused_clearly() {
    for (settings, want) in [
        ("steps: [{name: a}]", "task.md:2 unsupported_multi_agent"),
        ("x: 1\nagents: {roles: {a: {}}}", "task.md:3 unsupported_multi_agent"),
        ("scenes: [{name: a}]", "task.md:2 unsupported_multi_agent"),
        ("agent: {user: me}\nuser: {model: scripted}", "task.md:3 unsupported_multi_agent"),
        ("verifier:\n  type: llm-judge", "task.md:3 unsupported_verifier"),
        ("verifier: {service: grader}", "task.md:2 several_services"),
        ("verifier: {sandbox_mode: separate}", "task.md:2 unsupported_verifier"),
        ("verifier: {reward_range: [0, 10]}", "task.md:2 unsupported_reward_range"),
        ("environment: {os: windows}", "task.md:2 unsupported_os"),
        ("environment: {mcp_servers: [{name: a}]}", "task.md:2 unsupported_environment"),
        ("sandbox:\n  docker_image: 'Not An Image'", "task.md:3 bad_image_name"),
    ] {
        let (loaded, told) = md(settings);
        assert_eq!(told, [want], "{settings}");
        assert!(loaded.task.is_none());
    }
    for settings in [
        "steps: []\nagents: {}\nuser:\nverifier: {type: test-script, service: main, judge: {model: x}, reward_range: [0, 1]}",
        "environment: {os: linux, mcp_servers: [], gpus: 0}",
    ] {
        assert_eq!(md(settings).1, [""; 0], "{settings}");
    }
    let sections = "---\na: 1\n---\nDo.\n\n## role:critic\nLook.\n";
    let loaded_sections = loaded(newer(), &[("task.md", Some(sections)), ("prompts/scene.a.md", Some("x"))]);
    assert_eq!(
        told(&loaded_sections, Severity::Error),
        ["task.md:6 unsupported_multi_agent", "prompts/scene.a.md unsupported_multi_agent"]
    );
}

#[test]
fn only_the_script_strategy_of_a_verifier_document_is_run() {
    let strategy = |strategy: &str| {
        let text = format!(
            "---\ndocument_version: '0.3'\nverifier:\n  default_strategy: x\n  strategies:\n    y: {{type: llm-judge}}\n    x: {strategy}\n---\n"
        );
        let loaded = loaded(newer(), &[("verifier/verifier.md", Some(&text))]);
        told(&loaded, Severity::Warning)
    };
    for fine in
        ["{type: script, command: ./test.sh}", "{type: script}", "{type: script, command: bash /verifier/test.sh}"]
    {
        assert_eq!(strategy(fine), [""; 0], "{fine}");
    }
    for refused in ["{type: llm-judge}", "{type: ors-episode}", "{type: script, command: python grade.py}"] {
        assert_eq!(strategy(refused), ["verifier/verifier.md:3 unsupported_verifier"], "{refused}");
    }
    let plain = loaded(newer(), &[("verifier/verifier.md", Some("How it works."))]);
    assert!(plain.task.is_some());
}

#[test]
fn a_compose_file_may_pass_variables_and_open_nothing() {
    let compose = |service: &str| {
        let text = format!("services:\n  main:\n    build:\n      context: ${{CONTEXT_DIR}}\n{service}");
        loaded(older(), &[("environment/docker-compose.yaml", Some(&text))])
    };
    let usual = compose(
        "    command: [sh, -c, sleep infinity]\n    network_mode: ${NETWORK_MODE:-bridge}\n    environment:\n      - A=b\n      - TOKEN=${TOKEN}\n    \
         volumes:\n      - ${HOST_VERIFIER_LOGS_PATH}:${ENV_VERIFIER_LOGS_PATH}\n    deploy:\n      resources:\n        limits:\n          cpus: ${CPUS}\n",
    );
    assert_eq!(task(&usual).environment.env.iter().collect::<Vec<_>>(), [(&"A".to_owned(), &"b".to_owned())]);
    assert_eq!(told(&usual, Severity::Warning), ["environment/docker-compose.yaml:9 host_value_left_out"]);
    for (service, want) in [
        ("    privileged: true\n", "5 opens_host"),
        ("    network_mode: host\n", "5 opens_host"),
        ("    pid: host\n", "5 opens_host"),
        ("    devices: [/dev/kvm]\n", "5 opens_host"),
        ("    volumes:\n      - /etc:/host\n", "6 opens_host"),
        ("    volumes:\n      - type: bind\n        source: /var/run/docker.sock\n", "7 opens_host"),
        ("    cap_add: [SYS_ADMIN]\n", "5 opens_host"),
        ("  database:\n    image: postgres\n", "1 several_services"),
        ("    env_file: .env\n", "5 unsupported_environment"),
        ("    x: [\n", "5 yaml_syntax"),
    ] {
        assert_eq!(
            told(&compose(service), Severity::Error),
            [format!("environment/docker-compose.yaml:{want}")],
            "{service}"
        );
    }
    assert!(compose("    privileged: false\n").task.is_some());
}

#[test]
fn bundled_skills_are_never_left_out_silently() {
    let skill = |name: &str| format!("---\nname: {name}\ndescription: Counts.\n---\nLook.\n");
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
