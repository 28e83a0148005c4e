//! Skills of a checked-out benchmark, read for inspection: `SKILL_CHECKOUT=folder cargo test --test skill_real -- --ignored --nocapture`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use formats::skill::{IntakeLimits, read_folder};

/// Folders called `skills`, or the checkout itself where there are none.
fn skill_folders(top: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![top.to_owned()];
    while let Some(folder) = open.pop() {
        for child in std::fs::read_dir(&folder).unwrap().map(Result::unwrap) {
            if child.file_type().unwrap().is_dir() {
                let target = if child.file_name() == "skills" { &mut found } else { &mut open };
                target.push(child.path());
            }
        }
    }
    found.sort();
    found
}

#[test]
#[ignore = "needs a checkout named by SKILL_CHECKOUT"]
fn every_skill_of_a_checkout_is_taken_or_refused_with_a_reason() {
    let top = PathBuf::from(std::env::var_os("SKILL_CHECKOUT").expect("SKILL_CHECKOUT"));
    let mut codes: BTreeMap<String, usize> = BTreeMap::new();
    let (mut good, mut refused, mut files) = (0, 0, 0);
    for folder in skill_folders(&top) {
        let intake = read_folder(&folder, &IntakeLimits::default()).unwrap();
        good += intake.skills.len();
        refused += intake.refused.len();
        files += intake.skills.iter().map(|skill| skill.tree.len()).sum::<usize>();
        for finding in intake.all_findings() {
            *codes.entry(format!("{} {}", finding.severity.word(), finding.code)).or_default() += 1;
            println!("{}: {finding}", folder.strip_prefix(&top).unwrap().display());
        }
        assert!(intake.refused.iter().all(|skill| skill.findings.iter().any(domain::finding::Finding::is_error)));
    }
    println!("{good} good with {files} files, {refused} refused; {codes:#?}");
    assert!(good > 0);
}
