//! A checkout of SWE-Skills-Bench in small, made by us: what is read of it, as the original reads it, and what is said about it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use domain::finding::{Finding, Severity};
use domain::task::{ImageSource, NetworkPolicy, Scoring, TaskLayout};
use formats::task::{Checkout, LoadedTask};

fn checkout() -> Checkout {
    Checkout::open(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/swe-skills-bench")).unwrap()
}

fn read(checkout: &Checkout, name: &str) -> LoadedTask {
    checkout.read(checkout.tasks().iter().find(|task| task.name() == name).unwrap())
}

fn told(findings: &[Finding], least: Severity) -> Vec<String> {
    let told = findings.iter().filter(|finding| finding.severity >= least);
    told.map(|finding| format!("{}:{} {}", finding.file, finding.line.unwrap_or(0), finding.code)).collect()
}

#[test]
fn every_document_is_listed_in_the_order_of_batches() {
    let checkout = checkout();
    let names: Vec<String> = checkout.tasks().iter().map(formats::task::CheckoutTask::name).collect();
    assert_eq!(
        names,
        ["batch1-count-sheep", "batch1-shear-sheep", "batch2-count-sheep", "batch2-dip-sheep", "batch10-count-sheep"]
    );
    assert_eq!(
        told(checkout.findings(), Severity::Note),
        [
            "config/benchmark_config.yaml:0 byte_order_mark",
            "config/benchmark_config.yaml:28 yaml_duplicate_key",
            "tasks/README.md:0 not_a_task",
            "tests/batch2/test_dip_sheep.py:0 unused_test",
            "config/benchmark_config.yaml:0 batches",
            "config/benchmark_config.yaml:0 no_oracle",
        ]
    );
    assert!(checkout.findings()[1].message.contains("line 21"), "{}", checkout.findings()[1]);
}

#[test]
fn a_task_has_its_repository_image_limits_and_tests() {
    let loaded = read(&checkout(), "batch2-count-sheep");
    assert_eq!(told(&loaded.findings, Severity::Warning), [""; 0]);
    let task = loaded.task.unwrap();
    assert_eq!((loaded.layout, task.layout), (Some(TaskLayout::SweSkillsBench), TaskLayout::SweSkillsBench));
    assert_eq!(task.instruction, "# Task: Count more");
    let repository = task.environment.repository.as_ref().unwrap();
    assert_eq!(repository.url.as_str(), "https://git.example.com/farm/pen");
    assert_eq!(repository.commit.as_str(), "0123456789abcdef0123456789abcdef01234567");
    assert_eq!((repository.folder.as_str(), repository.setup.len()), ("/workspace/pen", 1));
    assert_eq!(task.environment.image, ImageSource::Named { image: "example/pen-python".to_owned() });
    assert_eq!(task.environment.workdir.as_deref(), Some("/workspace/pen"));
    // Of the two `limits` the last counts, so the first one's CPUs and memory are lost, as in the original.
    assert_eq!((task.environment.cpus, task.environment.memory_mb), (4.0, 16 << 10));
    assert_eq!((task.agent.timeout, task.verifier.timeout), (Duration::from_secs(900), Duration::from_secs(420)));
    assert_eq!((task.verifier.scoring, task.verifier.pass_mark), (Scoring::PassRate, 0.5));
    assert_eq!(
        (&task.environment.network, &task.verifier.network),
        (&NetworkPolicy::Public, &Some(NetworkPolicy::Public))
    );
    assert_eq!(task.bundled_skills[0].manifest.name, "count-sheep");
    assert_eq!((task.metadata.category.as_deref(), task.metadata.tags[1].as_str()), (Some("feature"), "batch2"));
    let files: Vec<&str> = task.tree.iter().map(|(path, _)| path.as_str()).collect();
    assert_eq!(
        files,
        [
            "environment/skills/count-sheep/SKILL.md",
            "requirement.md",
            "task.toml",
            "tests/_dependency_utils.py",
            "tests/test.sh",
            "tests/test_count_sheep.py",
        ]
    );
    let script = String::from_utf8(loaded.files.get("tests/test.sh").unwrap().bytes.clone()).unwrap();
    assert!(script.contains("check build 0 60 'make '\\''all sheep'\\'''\n"), "{script}");
    assert!(
        script.contains(
            "check tests 0 300 'cd /tmp/benchmark_tests && unset PYTHONPATH && \
             python -m pytest /tmp/benchmark_tests/test_count_sheep.py -v --tb=short'\n"
        ),
        "{script}"
    );
}

#[test]
fn a_repository_that_is_part_of_the_image_is_no_fault() {
    let loaded = read(&checkout(), "batch1-shear-sheep");
    let task = loaded.task.unwrap();
    assert_eq!(task.environment.repository, None);
    assert_eq!((task.environment.workdir.as_deref(), task.verifier.pass_mark), (Some("/workspace"), 1.0));
    assert!(task.bundled_skills.is_empty());
    assert_eq!(
        told(&loaded.findings, Severity::Note),
        ["config/benchmark_config.yaml:58 evaluation_disabled", "skills/shear-sheep/SKILL.md:3 yaml_syntax",]
    );
}

#[test]
fn what_cannot_be_used_says_why() {
    let checkout = checkout();
    for (name, want) in [
        ("batch2-dip-sheep", "tasks/batch2/dip-sheep.md:0 no_config"),
        ("batch10-count-sheep", "tests/batch10/test_count_sheep.py:0 no_tests"),
    ] {
        let loaded = read(&checkout, name);
        assert_eq!((told(&loaded.findings, Severity::Error), loaded.task), (vec![want.to_owned()], None));
    }
}

#[test]
fn a_broken_configuration_is_told_with_its_line() {
    for (yaml, want) in [
        ("skills: [", "config/benchmark_config.yaml:1 yaml_syntax"),
        ("global: {}\n", "config/benchmark_config.yaml:0 no_skills"),
        ("a:\n\tb: 1\n", "config/benchmark_config.yaml:2 yaml_tab"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("config")).unwrap();
        std::fs::write(folder.path().join("config/benchmark_config.yaml"), yaml).unwrap();
        assert_eq!(told(&Checkout::open(folder.path()).unwrap_err(), Severity::Error), [want], "{yaml}");
    }
}

#[test]
#[ignore = "needs the published checkout named by SWE_SKILLS_BENCH"]
fn the_published_checkout_is_read_whole() {
    let root = PathBuf::from(std::env::var_os("SWE_SKILLS_BENCH").expect("SWE_SKILLS_BENCH"));
    let checkout = Checkout::open(&root).unwrap();
    let loaded: Vec<LoadedTask> = checkout.tasks().iter().map(|task| checkout.read(task)).collect();
    let mut codes: BTreeMap<String, usize> = BTreeMap::new();
    for finding in checkout.findings().iter().chain(loaded.iter().flat_map(|task| &task.findings)) {
        *codes.entry(format!("{} {}", finding.severity.word(), finding.code)).or_default() += 1;
        if finding.severity > Severity::Note {
            println!("{finding}");
        }
    }
    println!("{codes:#?}");
    let usable: Vec<_> = loaded.iter().filter_map(|task| task.task.as_ref()).collect();
    let with = |has: &dyn Fn(&domain::task::Task) -> bool| usable.iter().filter(|task| has(task)).count();
    // 499 documents: 49 skills in ten batches, and in nine of them one that the configuration does not know; one test file is missing.
    assert_eq!((loaded.len(), usable.len()), (499, 489));
    assert_eq!(codes["warning yaml_duplicate_key"], 49);
    assert_eq!((codes["error no_config"], codes["error no_tests"]), (9, 1));
    assert_eq!(with(&|task| task.environment.repository.is_none()), 10, "the one whose repository is in its image");
    assert_eq!((codes["note no_oracle"], codes["note unused_test"]), (1, 9));
    assert_eq!(with(&|task| task.bundled_skills.len() == 1), 489);
    assert_eq!(with(&|task| task.verifier.pass_mark < 1.0), 10);
}
