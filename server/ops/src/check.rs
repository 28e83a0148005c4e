//! Checking without storing: every finding about skills, tasks, or a whole checkout.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use domain::finding::{Finding, Severity};
use domain::hash::ContentHash;
use domain::task::Task;
use formats::skill::{Intake, IntakeLimits, SkillSize, read_path, size};
use formats::task::{Checkout, EVALS_FILE, LoadedTask, discover, evals_files, read_evals, read_task};
use serde::Serialize;

/// Folders of a checkout with nothing of its own in them, and the tasks that SkillsBench itself leaves out.
const SKIPPED: [&str; 4] = [".git", "node_modules", "target", "tasks-extra"];

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
    /// What it costs to read; `None` where it cannot be used.
    pub size: Option<SkillSize>,
    /// All that is to be said about it.
    pub findings: Vec<Finding>,
}

/// A task that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CheckedTask {
    /// Its folder, or its `evals.json`.
    pub path: String,
    /// Its name.
    pub name: String,
    /// Its layout, where that can be told.
    pub layout: Option<String>,
    /// `None` where it cannot be used.
    pub version: Option<ContentHash>,
    /// All that is to be said about it.
    pub findings: Vec<Finding>,
}

impl CheckedTask {
    /// Without its findings.
    fn of(path: String, loaded: &LoadedTask) -> Self {
        Self {
            path,
            name: loaded.name.clone(),
            layout: loaded.layout.map(|layout| layout.word().to_owned()),
            version: loaded.task.as_ref().map(Task::version),
            findings: Vec::new(),
        }
    }
}

impl CheckReport {
    /// Every finding, with files named from where the check began.
    pub fn all(&self) -> impl Iterator<Item = &Finding> {
        let skills = self.skills.iter().flat_map(|skill| &skill.findings);
        let tasks = self.tasks.iter().flat_map(|task| &task.findings);
        self.findings.iter().chain(skills).chain(tasks)
    }
}

/// Looks at whatever lies at `path`: a skill, an archive of skills, a task, an `evals.json`, a folder of these, a checkout.
#[must_use]
pub fn check(path: &Path) -> CheckReport {
    if Checkout::is_one(path) {
        return benchmark(path);
    }
    let mut report = CheckReport::default();
    if is_evals(path) {
        report.evals_at(path, path);
        return report;
    }
    let tasks = if path.is_dir() { discover(path) } else { Vec::new() };
    if tasks.is_empty() {
        report.skills_at(path, "", Expected::Yes);
    }
    for folder in beside(path, &tasks) {
        report.skills_at(&folder, &format!("{}/", shown(path, &folder)), Expected::No);
    }
    for folder in &tasks {
        report.task_at(path, folder);
    }
    let evals = if path.is_dir() { evals_files(path) } else { Vec::new() };
    for file in evals.iter().filter(|file| !tasks.iter().any(|task| file.starts_with(task))) {
        report.evals_at(path, file);
    }
    report
}

/// A checkout of SWE-Skills-Bench: its skills, and each of its requirement documents.
fn benchmark(path: &Path) -> CheckReport {
    let mut report = CheckReport::default();
    let skills = path.join("skills");
    if skills.is_dir() {
        report.skills_at(&skills, "skills/", Expected::Yes);
    }
    match Checkout::open(path) {
        Ok(checkout) => {
            report.findings.extend(checkout.findings().iter().cloned());
            report.tasks.extend(checkout.tasks().iter().map(|task| {
                let loaded = checkout.read(task);
                CheckedTask { findings: loaded.findings.clone(), ..CheckedTask::of(checkout.document(task), &loaded) }
            }));
        }
        Err(findings) => report.findings.extend(findings),
    }
    report
}

/// Whether a path is a file of cases and no upload of skills.
pub(crate) fn is_evals(path: &Path) -> bool {
    path.is_file() && path.extension().is_some_and(|extension| extension == "json")
}

/// The folders below `root` that neither are, nor hold, nor lie in one of `tasks`. Those of a task are looked at with it.
fn beside(root: &Path, tasks: &[PathBuf]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut holders: BTreeSet<&Path> = tasks.iter().flat_map(|task| task.ancestors().skip(1)).collect();
    holders.retain(|holder| holder.starts_with(root));
    for holder in holders {
        let children = std::fs::read_dir(holder).into_iter().flatten().filter_map(Result::ok);
        let folders = children.filter(|child| child.file_type().is_ok_and(|kind| kind.is_dir()));
        let wanted = |path: &PathBuf| {
            !SKIPPED.iter().any(|name| path.ends_with(name)) && !tasks.iter().any(|task| task.starts_with(path))
        };
        found.extend(folders.map(|child| child.path()).filter(wanted));
    }
    found.sort();
    found
}

/// Whether a place without a skill is a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expected {
    Yes,
    No,
}

impl CheckReport {
    /// Of skills that were read already.
    pub(crate) fn of(intake: Intake) -> Self {
        let mut report = Self::default();
        report.take(intake, "", Expected::Yes);
        report
    }

    fn task_at(&mut self, root: &Path, folder: &Path) {
        let loaded = read_task(folder, &[root.to_owned()]);
        let shown = shown(root, folder);
        let skills = folder.join("environment").join("skills");
        let first = self.skills.len();
        if skills.is_dir() {
            self.skills_at(&skills, &format!("{shown}/environment/skills/"), Expected::No);
        }
        // What is said of a bundled skill is said with the skill.
        let of_skills: Vec<&Finding> = self.skills.iter().skip(first).flat_map(|skill| &skill.findings).collect();
        let findings = loaded.findings.iter().map(|finding| below(finding.clone(), &format!("{shown}/")));
        let findings = findings.filter(|finding| !of_skills.contains(&finding)).collect();
        self.tasks.push(CheckedTask { findings, ..CheckedTask::of(shown, &loaded) });
    }

    fn evals_at(&mut self, root: &Path, file: &Path) {
        let folder = file.parent().map(|folder| shown(root, folder)).unwrap_or_default();
        let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        for loaded in read_evals(file) {
            let softer = |finding: Finding| match finding.code.as_str() {
                // Cases for people and models are no fault of a skill; `eval` leaves them out, and says so.
                "nothing_to_check" => Finding { severity: Severity::Warning, ..finding },
                _ => finding,
            };
            let named = |finding: Finding| match finding.file.as_str() {
                EVALS_FILE => Finding { file: name.clone(), ..finding },
                _ => finding,
            };
            let placed = |finding: Finding| below(named(softer(finding)), &format!("{folder}/"));
            let findings = loaded.findings.iter().cloned().map(placed).collect();
            let path = format!("{folder}/{name}#{}", loaded.name);
            self.tasks.push(CheckedTask { findings, ..CheckedTask::of(path, &loaded) });
        }
    }

    fn skills_at(&mut self, path: &Path, prefix: &str, expected: Expected) {
        match read_path(path, &IntakeLimits::default()) {
            Ok(intake) => self.take(intake, prefix, expected),
            Err(refusal) => self.findings.push(refusal.finding(&path.display().to_string())),
        }
    }

    fn take(&mut self, intake: Intake, prefix: &str, expected: Expected) {
        let placed = |findings: Vec<Finding>| findings.into_iter().map(|finding| below(finding, prefix)).collect();
        for skill in intake.skills {
            self.skills.push(CheckedSkill {
                path: format!("{prefix}{}", skill.path),
                version: Some(skill.package().version()),
                size: size::of(&skill.tree),
                name: Some(skill.manifest.name),
                findings: placed(skill.findings),
            });
        }
        for skill in intake.refused {
            self.skills.push(CheckedSkill {
                path: format!("{prefix}{}", skill.path),
                name: skill.name,
                version: None,
                size: None,
                findings: placed(skill.findings),
            });
        }
        let about_all = intake.findings.into_iter().map(|finding| below(finding, prefix));
        self.findings.extend(about_all.filter(|finding| expected == Expected::Yes || finding.code != "no_skill_md"));
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
