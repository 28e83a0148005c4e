//! Checking without storing: every finding about skills, tasks, or a whole checkout.

use std::path::{Path, PathBuf};

use domain::finding::Finding;
use domain::hash::ContentHash;
use formats::skill::{Intake, IntakeLimits, read_path};
use formats::task::{discover, read_task};
use serde::Serialize;

/// What a check found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct CheckReport {
    /// Skills, usable or not.
    pub skills: Vec<CheckedSkill>,
    /// Tasks, usable or not.
    pub tasks: Vec<CheckedTask>,
    /// About the whole.
    pub findings: Vec<Finding>,
}

/// A skill that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CheckedSkill {
    /// Its `SKILL.md`.
    pub path: String,
    /// From its frontmatter, where that can be read.
    pub name: Option<String>,
    /// `None` where it cannot be used.
    pub version: Option<ContentHash>,
    /// All that is to be said about it.
    pub findings: Vec<Finding>,
}

/// A task that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CheckedTask {
    /// Its folder.
    pub path: String,
    /// Its name.
    pub name: String,
    /// Its layout, where that can be told.
    pub layout: Option<String>,
    /// All that is to be said about it.
    pub findings: Vec<Finding>,
}

impl CheckReport {
    /// Every finding, with files named from where the check began.
    pub fn all(&self) -> impl Iterator<Item = &Finding> {
        let skills = self.skills.iter().flat_map(|skill| &skill.findings);
        let tasks = self.tasks.iter().flat_map(|task| &task.findings);
        self.findings.iter().chain(skills).chain(tasks)
    }
}

/// Looks at whatever lies at `path`: a skill, an archive of skills, a task, a folder of either, a checkout.
#[must_use]
pub fn check(path: &Path) -> CheckReport {
    let tasks = if path.is_dir() { discover(path) } else { Vec::new() };
    let mut report = CheckReport::default();
    if tasks.is_empty() {
        report.skills_at(path, "");
    }
    for folder in &tasks {
        report.task_at(path, folder);
    }
    report
}

impl CheckReport {
    fn task_at(&mut self, root: &Path, folder: &PathBuf) {
        let loaded = read_task(folder, &[root.to_owned()]);
        let shown = shown(root, folder);
        let skills = folder.join("environment").join("skills");
        if skills.is_dir() {
            self.skills_at(&skills, &format!("{shown}/environment/skills/"));
        }
        let findings = loaded.findings.into_iter().map(|finding| below(finding, &format!("{shown}/"))).collect();
        self.tasks.push(CheckedTask {
            path: shown,
            name: loaded.name,
            layout: loaded.layout.map(|layout| layout.word().to_owned()),
            findings,
        });
    }

    fn skills_at(&mut self, path: &Path, prefix: &str) {
        match read_path(path, &IntakeLimits::default()) {
            Ok(intake) => self.take(intake, prefix),
            Err(refusal) => self.findings.push(refusal.finding(&path.display().to_string())),
        }
    }

    fn take(&mut self, intake: Intake, prefix: &str) {
        let placed = |findings: Vec<Finding>| findings.into_iter().map(|finding| below(finding, prefix)).collect();
        for skill in intake.skills {
            self.skills.push(CheckedSkill {
                path: format!("{prefix}{}", skill.path),
                version: Some(skill.package().version()),
                name: Some(skill.manifest.name),
                findings: placed(skill.findings),
            });
        }
        for skill in intake.refused {
            self.skills.push(CheckedSkill {
                path: format!("{prefix}{}", skill.path),
                name: skill.name,
                version: None,
                findings: placed(skill.findings),
            });
        }
        let about_all = intake.findings.into_iter().map(|finding| below(finding, prefix));
        // A task without skills of its own is no fault of the skills folder.
        self.findings.extend(about_all.filter(|finding| prefix.is_empty() || finding.code != "no_skill"));
    }
}

fn shown(root: &Path, folder: &Path) -> String {
    match folder.strip_prefix(root) {
        Ok(rest) if !rest.as_os_str().is_empty() => rest.display().to_string(),
        _ => {
            folder.file_name().map_or_else(|| folder.display().to_string(), |name| name.to_string_lossy().into_owned())
        }
    }
}

fn below(mut finding: Finding, prefix: &str) -> Finding {
    finding.file = format!("{prefix}{}", finding.file);
    finding
}
