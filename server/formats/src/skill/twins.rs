//! Two skills of one name in one upload: a copy is dropped, anything else is an error that names both.

use std::collections::BTreeMap;

use domain::finding::Finding;

use super::intake::{Intake, LoadedSkill, RefusedSkill};

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
        let message = format!("the name `{name}` is used by {}", paths.join(" and "));
        intake.refused.extend(skills.into_iter().map(|skill| refuse(skill, &message)));
    }
}

/// Keeps the first of skills that are equal to the byte.
fn drop_copies(skills: &mut Vec<LoadedSkill>) -> Vec<Finding> {
    let mut notes = Vec::new();
    let mut kept: Vec<LoadedSkill> = Vec::new();
    for skill in skills.drain(..) {
        match kept.iter().find(|other| other.tree == skill.tree) {
            Some(other) => {
                let message = format!("the same skill as {}; taken once", other.path);
                notes.push(Finding::note("same_skill_twice", &skill.path, message));
            }
            None => kept.push(skill),
        }
    }
    *skills = kept;
    notes
}

fn refuse(skill: LoadedSkill, message: &str) -> RefusedSkill {
    let finding =
        Finding::error("duplicate_name", &skill.path, message).hint("rename one, or hand them over one by one");
    let mut findings = skill.findings;
    findings.insert(0, finding);
    RefusedSkill { path: skill.path, name: Some(skill.manifest.name), findings }
}
