//! The only difference between the arms: the skills on trial that are physically there (design §5.1). Skills that came with the image are
//! removed in both arms, each arm's own and the distractors are placed, and what then lies where the agent looks is audited in both.

use std::time::Duration;

use domain::skill::SkillPackage;
use domain::skill_audit::{FoundSkill, SkillAudit};
use domain::tree::LoadedTree;

use super::fault::Fault;
use crate::sandbox::{Caps, Collect, Download, ExecSpec, Sandbox, Upload};

/// Below the home folder and the working folder, where the agents of the field look for skills.
const KNOWN_FOLDERS: [&str; 13] = [
    ".agents/skills",
    ".claude/skills",
    ".codex/skills",
    ".config/opencode/skills",
    ".factory/skills",
    ".gemini/skills",
    ".github/skills",
    ".goose/skills",
    ".openclaw/skills",
    ".opencode/skill",
    ".opencode/skills",
    ".qwen/skills",
    "skills",
];
/// Places outside home and working folder.
const KNOWN_PLACES: [&str; 2] = ["/etc/claude-code/.claude/skills", "/skills"];
/// A folder of skills is not looked at beyond this.
const CAPS: Caps = Caps { file_bytes: 1 << 20, total_bytes: 64 << 20, files: 20_000, passed_over: &[], sums: false };

/// Every folder of a container in which some agent would look for skills.
pub(super) fn known_folders(home: &str, workdir: &str) -> Vec<String> {
    let below = |base: &str| {
        let base = base.trim_end_matches('/').to_owned();
        KNOWN_FOLDERS.iter().map(move |folder| format!("{base}/{folder}"))
    };
    let mut folders: Vec<String> =
        below(home).chain(below(workdir)).chain(KNOWN_PLACES.iter().map(|place| (*place).to_owned())).collect();
    folders.sort();
    folders.dedup();
    folders
}

/// Folders that are left out of a repository wherever in it they lie: those of skills, and the whole of `.claude`, in which hooks and
/// commands could stand in for a skill (SWE-Skills-Bench removes it as well). A plain `skills` deeper down is source like any other.
pub(super) fn folders_in_repositories() -> Vec<String> {
    let known = KNOWN_FOLDERS.iter().filter(|folder| folder.starts_with('.') && !folder.starts_with(".claude/"));
    std::iter::once(".claude").chain(known.copied()).map(str::to_owned).collect()
}

/// Those of `folders` that exist in the container.
pub(super) async fn existing(sandbox: &dyn Sandbox, folders: &[String]) -> Result<Vec<String>, Fault> {
    let mut existing = Vec::new();
    for folder in folders {
        if sandbox.download(folder, CAPS).await?.is_some() {
            existing.push(folder.clone());
        }
    }
    Ok(existing)
}

/// Removes folders of skills that came with the image.
pub(super) async fn remove(sandbox: &dyn Sandbox, folders: &[String]) -> Result<(), Fault> {
    if folders.is_empty() {
        return Ok(());
    }
    let command = ["rm", "-rf", "--"].into_iter().map(str::to_owned).chain(folders.iter().cloned());
    let mut spec = ExecSpec::new(command, Duration::from_secs(60));
    spec.user = Some("0".to_owned());
    spec.workdir = Some("/".to_owned());
    let mut output = Collect::default();
    let end = sandbox.exec(&spec, &mut output).await?;
    if end.exit.is_success() {
        return Ok(());
    }
    Err(Fault::Audit(format!(
        "skills that came with the image could not be removed: {}: {}",
        end.exit,
        output.err_text()
    )))
}

/// Puts each skill into a folder made from its name.
pub(super) fn place(mut upload: Upload, folder: &str, skills: &[(&SkillPackage, LoadedTree)]) -> Upload {
    for (skill, files) in skills {
        upload = upload.tree(&format!("{folder}/{}", skill.folder()), files);
    }
    upload
}

/// Looks where the agent will look, and compares with what should be there in this arm.
pub(super) async fn audit(
    sandbox: &dyn Sandbox,
    looked_in: Vec<String>,
    removed: Vec<String>,
    expected: &[&SkillPackage],
) -> Result<SkillAudit, Fault> {
    let mut found = Vec::new();
    for folder in &looked_in {
        if let Some(download) = sandbox.download(folder, CAPS).await? {
            found.extend(skills_in(folder, &download)?);
        }
    }
    found.sort();
    let audit = SkillAudit { looked_in, found, removed };
    compare(&audit, expected.iter().map(|skill| skill.folder()).collect())?;
    Ok(audit)
}

fn skills_in(folder: &str, download: &Download) -> Result<Vec<FoundSkill>, Fault> {
    if !download.complete || download.is_file {
        return Err(Fault::Audit(format!(
            "{folder} could not be looked through; the image puts too much or something odd there"
        )));
    }
    if let Some(skipped) = download.skipped.iter().find(|skipped| skipped.why == "symbolic link") {
        return Err(Fault::Audit(format!("{folder} holds a symbolic link: {}", skipped.path)));
    }
    let is_skill = |name: &str| name.eq_ignore_ascii_case("SKILL.md");
    let top = |path: &str| path.split('/').next().unwrap_or_default().to_owned();
    Ok(download
        .files
        .iter()
        .filter(|(path, _)| is_skill(path.file_name()) && path.as_str().split('/').count() <= 2)
        .map(|(path, _)| FoundSkill { path: format!("{folder}/{path}"), name: top(path.as_str()) })
        .collect())
}

fn compare(audit: &SkillAudit, mut expected: Vec<String>) -> Result<(), Fault> {
    let mut names: Vec<String> = audit.found.iter().map(|skill| skill.name.clone()).collect();
    names.sort();
    expected.sort();
    if names == expected {
        return Ok(());
    }
    let list = |names: &[String]| if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    Err(Fault::Audit(format!(
        "the skills where the agent looks are not those of the arm: found {}, expected {}; looked in {}",
        list(&names),
        list(&expected),
        audit.looked_in.join(", "),
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_audit_wants_exactly_the_skills_of_the_arm() {
        let audit = |names: &[&str]| SkillAudit {
            looked_in: vec!["/root/.agents/skills".into()],
            found: names
                .iter()
                .map(|name| FoundSkill { path: format!("/x/{name}/SKILL.md"), name: (*name).into() })
                .collect(),
            removed: vec![],
        };
        for (found, expected, ok) in [
            (vec![], vec![], true),
            (vec!["a"], vec!["a"], true),
            (vec!["a", "b"], vec!["b", "a"], true),
            (vec!["a"], vec![], false),
            (vec![], vec!["a"], false),
            (vec!["a", "b"], vec!["a"], false),
        ] {
            let expected_names = expected.iter().map(|name: &&str| (*name).to_owned()).collect();
            assert_eq!(compare(&audit(&found), expected_names).is_ok(), ok, "{found:?} {expected:?}");
        }
    }
}
