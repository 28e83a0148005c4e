//! Skills bundled with a task under `environment/skills/<folder>/`. A broken one is left out with a warning and does not break the
//! task, because an uploaded skill may be the treatment; none is left out silently.

use std::collections::BTreeMap;

use domain::finding::{Finding, Severity, has_errors};
use domain::path::RelPath;
use domain::skill::SkillPackage;
use domain::tree::LoadedTree;

use crate::skill::{SKILL_MD, manifest};

/// Where bundled skills lie in a task.
pub(super) const FOLDER: &str = "environment/skills";

/// The usable bundled skills, in folder order; at most one of each name.
pub(super) fn read(files: &LoadedTree, out: &mut Vec<Finding>) -> Vec<SkillPackage> {
    let mut packages = Vec::new();
    let mut taken: BTreeMap<String, String> = BTreeMap::new();
    for folder in folders(files, out) {
        let path = format!("{FOLDER}/{folder}");
        let tree = files.below(&path);
        let Some(package) = package(&path, &folder, &tree, out) else { continue };
        if let Some(first) = taken.get(&package.folder()) {
            let message =
                format!("this skill has the same name as `{first}` and is left out: {}", package.manifest.name);
            out.push(
                Finding::warning("skill_twice", format!("{path}/{SKILL_MD}"), message)
                    .hint("give one of them another name"),
            );
            continue;
        }
        taken.insert(package.folder(), path);
        packages.push(package);
    }
    packages
}

/// Folders directly below the skills folder; files lying there loose get a note.
fn folders(files: &LoadedTree, out: &mut Vec<Finding>) -> Vec<String> {
    let mut folders: Vec<String> = Vec::new();
    let mut loose: Vec<String> = Vec::new();
    for (path, _) in files.iter() {
        let Some(path) = path.below(FOLDER) else { continue };
        match path.as_str().split_once('/') {
            None => loose.push(path.as_str().to_owned()),
            Some((folder, _)) if folders.last().is_none_or(|last| last != folder) => folders.push(folder.to_owned()),
            Some(_) => {}
        }
    }
    folders.sort();
    folders.dedup();
    if loose.iter().any(|file| file.eq_ignore_ascii_case(SKILL_MD)) {
        let message = "a skill lies directly in the skills folder and is left out";
        out.push(
            Finding::warning("skill_misplaced", FOLDER, message)
                .hint("put it into a folder of its own: skills/<name>/SKILL.md"),
        );
    } else if !loose.is_empty() {
        let message = format!("files that belong to no skill: {}", loose.join(", "));
        out.push(Finding::note("loose_files", FOLDER, message));
    }
    folders
}

fn package(path: &str, folder: &str, tree: &LoadedTree, out: &mut Vec<Finding>) -> Option<SkillPackage> {
    let file = format!("{path}/{SKILL_MD}");
    let Some(skill_md) = tree.get(SKILL_MD) else {
        out.push(without_skill_md(path, tree));
        return None;
    };
    out.extend(twin(path, tree));
    let check = manifest::check(&skill_md.bytes, &file, Some(folder));
    let broken = has_errors(&check.findings);
    out.extend(check.findings.into_iter().map(|finding| if broken { left_out(finding) } else { finding }));
    check.manifest.map(|manifest| SkillPackage { manifest, tree: tree.summary() })
}

/// An error in a skill is a warning for the task.
fn left_out(mut finding: Finding) -> Finding {
    if finding.is_error() {
        finding.severity = Severity::Warning;
        finding.message = format!("this bundled skill is left out: {}", finding.message);
    }
    finding
}

/// Another spelling of the name beside the right one.
fn twin(path: &str, tree: &LoadedTree) -> Option<Finding> {
    let mut others =
        tree.iter().map(|(file, _)| file).filter(|file| file.parent().is_none() && file.as_str() != SKILL_MD);
    let other = others.find(|file| named_so(file))?;
    let message = format!("SKILL.md is read; {other} beside it is an ordinary file");
    Some(Finding::warning("skill_md_twice", format!("{path}/{other}"), message).hint("remove one of them"))
}

fn named_so(file: &RelPath) -> bool {
    file.file_name().eq_ignore_ascii_case(SKILL_MD)
}

fn without_skill_md(path: &str, tree: &LoadedTree) -> Finding {
    let found = tree.iter().map(|(file, _)| file).find(|file| named_so(file));
    let message = "this folder is no skill and is left out: it has no SKILL.md";
    match found {
        Some(file) if file.parent().is_none() => {
            let message = format!("this bundled skill is left out: the file must be called SKILL.md, not {file}");
            Finding::warning("wrong_file_name", format!("{path}/{file}"), message)
                .hint("agents in a Linux container will not see it: rename it, or bring the skill by itself")
        }
        Some(file) => Finding::warning("no_skill_md", path, message).hint(format!("there is one deeper down: {file}")),
        None => Finding::warning("no_skill_md", path, message),
    }
}
