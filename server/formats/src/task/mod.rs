//! Tasks as SkillsBench and its kin write them, from a folder to a domain task: `disk` and `discover` touch the disk, the rest is pure.
//! Each part (settings, prompt, verifier, oracle) is chosen by itself, because real packages carry parts of both layouts.

mod checks;
mod compose;
mod config;
mod container;
mod copies;
mod data_version;
pub mod discover;
pub mod disk;
mod dockerfile;
mod env_vars;
mod evals;
mod image_name;
mod leaks;
mod limits;
mod lint;
mod network;
mod own_container;
mod parts;
mod prompt;
mod remedies;
mod repository;
mod scripts;
mod settings;
mod skills;
mod swe_skills_bench;
mod unsupported;
mod v1_0;
mod v1_1;
mod verifier_md;

use std::path::{Path, PathBuf};

use domain::finding::{Finding, has_errors};
use domain::task::{DataVersion, Task, TaskLayout};
use domain::tree::LoadedTree;

pub use copies::copies;
pub use data_version::other_layout;
pub use discover::{discover, evals_files};
pub use disk::DiskLimits;
pub use evals::{FILE as EVALS_FILE, evals_of_text, read_evals};
pub use lint::names_skill;
pub use swe_skills_bench::{Checkout, CheckoutTask};

/// A task folder that was read, usable or not.
#[derive(Debug, Clone, PartialEq)]
pub struct LoadedTask {
    /// Folder name.
    pub name: String,
    /// The layout its settings and prompt are in; `None` where there are neither.
    pub layout: Option<TaskLayout>,
    /// The task; `None` exactly where a finding is an error.
    pub task: Option<Task>,
    /// Every file that could be read.
    pub files: LoadedTree,
    /// All that is to be said about it; files are named relative to the folder.
    pub findings: Vec<Finding>,
}

/// Reads the task in `folder`. Symbolic links are followed only to places below one of `roots` (or below the folder itself); the folder
/// must lie below one of them too, unless there are none.
#[must_use]
pub fn read_task(folder: &Path, roots: &[PathBuf]) -> LoadedTask {
    read_task_as(folder, roots, DataVersion::Auto)
}

/// [`read_task`] in the layout that is asked for, where the task has it.
#[must_use]
pub fn read_task_as(folder: &Path, roots: &[PathBuf], version: DataVersion) -> LoadedTask {
    let (mut files, mut findings) = disk::read_folder(folder, roots, &DiskLimits::default());
    data_version::choose(version, &mut files, &mut findings);
    load(&disk::folder_name(folder), files, findings)
}

/// [`read_task`] with other limits.
#[must_use]
pub fn read_task_within(folder: &Path, roots: &[PathBuf], limits: &DiskLimits) -> LoadedTask {
    let (files, findings) = disk::read_folder(folder, roots, limits);
    load(&disk::folder_name(folder), files, findings)
}

/// Builds a task from its files. `findings` are those of reading them.
#[must_use]
pub fn load(name: &str, mut files: LoadedTree, mut findings: Vec<Finding>) -> LoadedTask {
    let (layout, task) = parts::assemble(name, &mut files, &mut findings);
    remedies::complete(&mut findings);
    let task = task.filter(|_| !has_errors(&findings));
    LoadedTask { name: name.to_owned(), layout, task, files, findings }
}
