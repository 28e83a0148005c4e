//! Two skills of one name in one upload: a copy is dropped, anything else is an error that names both.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use domain::finding::Finding;
use domain::hash::ContentHash;

use super::intake::{Intake, LoadedSkill, RefusedSkill};
use super::members::names;

/// Moves skills whose name is not theirs alone to the refused ones.
pub(super) fn separate(intake: &mut Intake) {
    let mut by_name: BTreeMap<String, Vec<LoadedSkill>> = BTreeMap::new();
    for skill in intake.skills.drain(..) {
        by_name.entry(skill.manifest.name.clone()).or_default().push(skill);
    }
    for (name, mut skills) in by_name {
        intake.findings.extend(drop_copies(&mut skills));
        if skills.len() == 1 {
            intake.skills.append(&mut skills);
            continue;
        }
        let paths: Vec<&str> = skills.iter().map(|skill| skill.path.as_str()).collect();
        let paths = if paths.len() > 2 { names(&paths) } else { paths.join(" and ") };
        let message = format!("the name `{name}` is used by {paths}");
        intake.refused.extend(skills.into_iter().map(|skill| refuse(skill, &message)));
    }
}

/// Keeps the first of skills that are equal to the byte.
fn drop_copies(skills: &mut Vec<LoadedSkill>) -> Vec<Finding> {
    let mut notes = Vec::new();
    if skills.len() < 2 {
        return notes;
    }
    let mut versions: BTreeMap<ContentHash, String> = BTreeMap::new();
    skills.retain(|skill| match versions.entry(skill.tree.summary().hash()) {
        Entry::Vacant(free) => {
            free.insert(skill.path.clone());
            true
        }
        Entry::Occupied(first) => {
            let message = format!("the same skill as {}; taken once", first.get());
            notes.push(Finding::note("same_skill_twice", &skill.path, message));
            false
        }
    });
    notes
}

fn refuse(skill: LoadedSkill, message: &str) -> RefusedSkill {
    let finding =
        Finding::error("duplicate_name", &skill.path, message).hint("rename one, or hand them over one by one");
    let mut findings = skill.findings;
    findings.insert(0, finding);
    RefusedSkill { path: skill.path, name: Some(skill.manifest.name), findings }
}
