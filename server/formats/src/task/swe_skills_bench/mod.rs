//! SWE-Skills-Bench as its repository is: `config/benchmark_config.yaml`, `tasks/batch*/<skill>.md`, `tests/batch*/test_*.py`,
//! `skills/<skill>/`. Each requirement document is a task; those that cannot be used are listed with the reason.

mod config;
mod files;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use domain::finding::{Finding, has_errors};
use domain::task::TaskLayout;
use domain::tree::LoadedTree;

use self::config::{Config, FILE, Skill};
use self::files::Parts;
use super::disk::{self, DiskLimits};
use super::{LoadedTask, load, repository, skills, v1_0};

/// Beside the tests of a batch, for those that import it.
const HELPER: &str = "_dependency_utils.py";
/// Said once for all of them: the benchmark brings no solutions.
const NO_ORACLE: &str = "no_oracle";
const LIMITS: DiskLimits = DiskLimits { file_bytes: 8 << 20, total_bytes: 256 << 20, files: 20_000 };

/// A checkout of the benchmark, its small files in memory.
#[derive(Debug)]
pub struct Checkout {
    root: PathBuf,
    config: Config,
    files: LoadedTree,
    tasks: Vec<CheckoutTask>,
    findings: Vec<Finding>,
}

/// One requirement document.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CheckoutTask {
    batch: String,
    skill: String,
}

impl CheckoutTask {
    /// Unique among the tasks of a checkout.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}-{}", self.batch, self.skill)
    }
}

impl Checkout {
    /// Whether a folder is such a checkout.
    #[must_use]
    pub fn is_one(folder: &Path) -> bool {
        folder.join(FILE).is_file()
    }

    /// Reads the checkout in `folder`.
    ///
    /// # Errors
    /// Findings, at least one of them an error: nothing of it is to be used then.
    pub fn open(folder: &Path) -> Result<Self, Vec<Finding>> {
        let mut findings = Vec::new();
        let mut files = LoadedTree::new();
        let text = std::fs::read(folder.join(FILE)).map_err(|error| error.to_string());
        let text = text.and_then(|bytes| String::from_utf8(bytes).map_err(|error| error.to_string()));
        let text = text.map_err(|why| vec![Finding::error("unreadable", FILE, format!("it cannot be read: {why}"))])?;
        let Some(config) = config::read(&text, &mut findings) else { return Err(findings) };
        for part in [config.tasks.as_str(), config.tests.as_str(), "skills"] {
            let place = folder.join(part);
            if !place.is_dir() || !is_below(folder, &place) {
                let finding = Finding::error("no_folder", part, "there is no such folder in the checkout");
                findings.push(finding.hint("bring the checkout as it is published"));
                continue;
            }
            let (tree, found) = disk::read_folder(&place, &[folder.to_owned()], &LIMITS);
            findings.extend(found.into_iter().map(|finding| renamed(finding, |file| format!("{part}/{file}"))));
            for (path, file) in tree.iter() {
                if let Ok(part) = domain::path::RelPath::new(part) {
                    files.insert(path.inside(&part), file.clone());
                }
            }
        }
        if has_errors(&findings) && files.is_empty() {
            return Err(findings);
        }
        let mut checkout = Self { root: folder.to_owned(), config, files, tasks: Vec::new(), findings };
        checkout.list();
        Ok(checkout)
    }

    /// Every requirement document, batch by batch.
    #[must_use]
    pub fn tasks(&self) -> &[CheckoutTask] {
        &self.tasks
    }

    /// About the whole; files are named relative to the checkout.
    #[must_use]
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// The document of a task, relative to the checkout.
    #[must_use]
    pub fn document(&self, task: &CheckoutTask) -> String {
        format!("{}/{}/{}.md", self.config.tasks, task.batch, task.skill)
    }

    /// Where the checkout lies.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    fn list(&mut self) {
        let mut used = BTreeSet::new();
        for (path, _) in self.files.iter() {
            let Some(inner) = path.below(&self.config.tasks) else { continue };
            let parts: Vec<&str> = inner.as_str().split('/').collect();
            match parts.as_slice() {
                [batch, file] if file.ends_with(".md") => {
                    let skill = file.trim_end_matches(".md").to_owned();
                    self.tasks.push(CheckoutTask { batch: (*batch).to_owned(), skill });
                }
                _ => {
                    let message = "this is no requirement document of a batch and is not read";
                    self.findings.push(Finding::note("not_a_task", path.as_str(), message));
                }
            }
        }
        self.tasks.sort_by_key(|task| (batch_number(&task.batch), task.clone()));
        for task in &self.tasks {
            let test = self.skill(&task.skill).and_then(|skill| self.test_of(&task.batch, skill));
            used.extend(test);
        }
        self.findings.extend(self.unused_tests(&used));
        let batches: BTreeMap<u32, &str> =
            self.tasks.iter().map(|task| (batch_number(&task.batch), task.batch.as_str())).collect();
        let named: Vec<&str> = batches.into_values().collect();
        self.findings.push(Finding::note(
            "batches",
            FILE,
            format!(
                "{} requirement documents of {} skills in the batches {}",
                self.tasks.len(),
                self.config.skills.len(),
                named.join(", ")
            ),
        ));
        let message = "the benchmark has no solutions of its own, so no audit can show that its tasks can be solved";
        self.findings.push(Finding::note(NO_ORACLE, FILE, message));
        let documents = |skill: &&Skill| !self.tasks.iter().any(|task| task.skill == skill.id);
        let without = self.config.skills.iter().filter(documents);
        let message = |skill: &Skill| format!("the skill `{}` has no requirement document in any batch", skill.id);
        self.findings
            .extend(without.map(|skill| Finding::warning("no_document", FILE, message(skill))).collect::<Vec<_>>());
    }

    fn unused_tests(&self, used: &BTreeSet<String>) -> Vec<Finding> {
        let tests = self.files.iter().filter(|(path, _)| path.below(&self.config.tests).is_some());
        let unused = tests.filter(|(path, _)| path.file_name() != HELPER && !used.contains(path.as_str()));
        let message = "no task uses this test file";
        unused.map(|(path, _)| Finding::note("unused_test", path.as_str(), message)).collect()
    }

    fn skill(&self, id: &str) -> Option<&Skill> {
        self.config.skills.iter().find(|skill| skill.id == id)
    }

    /// The test file of a skill in a batch, relative to the checkout.
    fn test_of(&self, batch: &str, skill: &Skill) -> Option<String> {
        let file = files::test_file(&skill.tests.as_ref()?.command)?;
        Some(format!("{}/{batch}/{file}", self.config.tests))
    }

    /// One task, usable or not; its findings name files relative to the checkout.
    #[must_use]
    pub fn read(&self, task: &CheckoutTask) -> LoadedTask {
        let mut findings = Vec::new();
        let files = self.files_of(task, &mut findings);
        let name = task.name();
        let Some(files) = files.filter(|_| !has_errors(&findings)) else {
            return LoadedTask {
                name,
                layout: Some(TaskLayout::SweSkillsBench),
                task: None,
                files: LoadedTree::new(),
                findings,
            };
        };
        let mut loaded = load(&name, files, Vec::new());
        loaded.layout = Some(TaskLayout::SweSkillsBench);
        if let Some(task) = &mut loaded.task {
            task.layout = TaskLayout::SweSkillsBench;
        }
        // What is to be said of a skill is said where the skill is checked, but for what keeps it out of the task.
        let has_skill = loaded.task.as_ref().is_some_and(|task| !task.bundled_skills.is_empty());
        let told = loaded
            .findings
            .into_iter()
            .filter(|finding| finding.code != NO_ORACLE && !(has_skill && finding.file.starts_with(skills::FOLDER)));
        findings.extend(told.map(|finding| self.placed(finding, task)));
        loaded.findings = findings;
        loaded
    }

    fn files_of(&self, task: &CheckoutTask, out: &mut Vec<Finding>) -> Option<LoadedTree> {
        let document = self.document(task);
        let Some(skill) = self.skill(&task.skill) else {
            let message = format!(
                "{FILE} has no skill `{}`, so this task has neither repository nor image nor tests",
                task.skill
            );
            out.push(Finding::error("no_config", document, message).hint("add an entry, or leave the document out"));
            return None;
        };
        out.extend(skill.findings.iter().cloned());
        let requirement = self.files.get(&document).map(|file| file.bytes.clone())?;
        let Some(path) = self.test_of(&task.batch, skill) else {
            let message = format!("the test command of `{}` names no test file", task.skill);
            let finding = Finding::error("no_tests", FILE, message).hint("name the file as `pytest …/test_x.py`");
            out.push(Finding { line: skill.line, ..finding });
            return None;
        };
        let Some(test) = self.files.get(&path) else {
            let message = format!("the tests of {document} are not there");
            out.push(Finding::error("no_tests", path, message).hint("bring the checkout as it is published"));
            return None;
        };
        let mut tests = vec![(path.rsplit('/').next().unwrap_or_default().to_owned(), test.bytes.clone())];
        let helper = self.files.get(&format!("{}/{}/{HELPER}", self.config.tests, task.batch));
        tests.extend(helper.map(|file| (HELPER.to_owned(), file.bytes.clone())));
        let tree = self.files.below(&format!("skills/{}", task.skill));
        if tree.is_empty() {
            let message = format!("the skill that this benchmark evaluates with {document} is not there");
            out.push(
                Finding::warning("no_skill", format!("skills/{}", task.skill), message)
                    .hint("evaluate another skill with it"),
            );
        }
        let parts = Parts { batch: task.batch.clone(), requirement, tests, skill: tree };
        files::make(&self.config, skill, parts).map_err(|finding| out.push(*finding)).ok()
    }

    /// A finding about a file of the task as one about the file of the checkout that it was made of.
    fn placed(&self, finding: Finding, task: &CheckoutTask) -> Finding {
        let is_settings = finding.file == v1_0::CONFIG;
        let mut finding = renamed(finding, |file| match file {
            v1_0::CONFIG => FILE.to_owned(),
            repository::PROMPT => self.document(task),
            other => match (other.strip_prefix("environment/"), other.strip_prefix(v1_0::VERIFIER)) {
                (Some(skill), _) if other.starts_with(skills::FOLDER) => skill.to_owned(),
                (_, Some(test)) => format!("{}/{}{test}", self.config.tests, task.batch),
                _ => self.document(task),
            },
        });
        if is_settings {
            finding.line = self.skill(&task.skill).and_then(|skill| skill.line);
            finding.column = None;
        }
        finding
    }
}

fn renamed(mut finding: Finding, name: impl Fn(&str) -> String) -> Finding {
    finding.file = name(&finding.file);
    finding
}

/// `batch10` comes after `batch9`.
fn batch_number(batch: &str) -> u32 {
    batch.trim_start_matches(|c: char| !c.is_ascii_digit()).parse().unwrap_or(u32::MAX)
}

/// Folders named in the file must be the checkout's own.
fn is_below(root: &Path, place: &Path) -> bool {
    match (root.canonicalize(), place.canonicalize()) {
        (Ok(root), Ok(place)) => place.starts_with(root),
        _ => false,
    }
}
