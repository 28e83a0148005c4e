//! Finds the tasks that a path means: one task, a folder of tasks, or a whole checkout.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::evals::FILE as EVALS_FILE;

/// Deepest folder of a checkout that is looked at.
const MAX_DEPTH: usize = 8;
/// Build litter, and the tasks with credentials and GPUs that SkillsBench itself leaves out unless they are named.
const SKIPPED: [&str; 4] = ["node_modules", "target", "__pycache__", "tasks-extra"];

/// Task folders, sorted: `path` itself; or its sub-folders; or those of its `tasks/`; or, in a checkout without these, all further down.
/// Hidden folders are skipped. Empty where there is no task.
#[must_use]
pub fn discover(path: &Path) -> Vec<PathBuf> {
    if is_task(path) {
        return vec![path.to_owned()];
    }
    for folder in [path.to_owned(), path.join("tasks")] {
        let tasks: Vec<PathBuf> = folders_in(&folder, true).into_iter().filter(|folder| is_task(folder)).collect();
        if !tasks.is_empty() {
            return tasks;
        }
    }
    let mut tasks = Vec::new();
    descend(path, MAX_DEPTH, &mut tasks);
    tasks
}

/// Every `evals.json` that a path means: itself, or those below it, where they lie as skills have them. Sorted.
#[must_use]
pub fn evals_files(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_owned()];
    }
    let mut files = Vec::new();
    let mut open = vec![(path.to_owned(), MAX_DEPTH)];
    while let Some((folder, depth)) = open.pop() {
        let file = folder.join(EVALS_FILE);
        if file.is_file() {
            files.push(file);
        }
        if depth > 0 {
            open.extend(folders_in(&folder, false).into_iter().map(|folder| (folder, depth - 1)));
        }
    }
    files.sort();
    files
}

/// Whether a folder is meant as a task: settings or a prompt, and where these could be a document of any kind, something beside them.
fn is_task(folder: &Path) -> bool {
    let has = |name: &str| folder.join(name).exists();
    let stands_with_others = || ["environment", "verifier", "tests", "oracle", "solution"].into_iter().any(has);
    has("task.toml")
        || (has("task.md") && (stands_with_others() || has_frontmatter(&folder.join("task.md"))))
        || (has("instruction.md") && stands_with_others())
}

fn has_frontmatter(file: &Path) -> bool {
    let mut start = [0; 6];
    let read = fs::File::open(file).and_then(|mut file| file.read(&mut start)).unwrap_or(0);
    let start = start.get(..read).unwrap_or_default();
    start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start).starts_with(b"---")
}

fn descend(folder: &Path, depth: usize, tasks: &mut Vec<PathBuf>) {
    for folder in folders_in(folder, false) {
        if is_task(&folder) {
            tasks.push(folder);
        } else if depth > 1 {
            descend(&folder, depth - 1, tasks);
        }
    }
}

/// Sub-folders in name order. Links are followed only where the walk goes no deeper.
fn folders_in(folder: &Path, follow_links: bool) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> =
        entries
            .filter(|entry| {
                let name = entry.file_name();
                let name = name.to_string_lossy();
                !name.starts_with('.') && !SKIPPED.contains(&name.as_ref())
            })
            .filter(|entry| {
                if follow_links { entry.path().is_dir() } else { entry.file_type().is_ok_and(|kind| kind.is_dir()) }
            })
            .map(|entry| entry.path())
            .collect();
    folders.sort();
    folders
}
