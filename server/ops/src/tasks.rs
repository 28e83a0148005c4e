//! Tasks: add from a folder, list, look at.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use domain::finding::has_errors;
use domain::hash::ContentHash;
use domain::id::TaskId;
use domain::listing::{AcceptedTask, FindingCounts, Refused, TaskDetail, TaskIntake, TaskListing};
use domain::task::DataVersion;
use formats::task::{Checkout, LoadedTask, discover, evals_files, other_layout, read_evals, read_task_as};

use crate::check::is_evals;
use crate::{Ops, OpsError, Result, blocking};

impl Ops {
    /// Adds the task, or all tasks, below a folder of this server, read in the layout that is asked for. The folder must lie below a
    /// configured root.
    ///
    /// # Errors
    /// [`OpsError::Invalid`] where the folder is not there, lies elsewhere, or holds no task.
    pub async fn add_tasks(&self, path: &str, version: DataVersion) -> Result<TaskIntake> {
        let roots = self.config.task_roots.clone();
        if roots.is_empty() {
            return Err(OpsError::invalid(
                "no task folders are allowed on this server; name some as task_roots in skilldelta.toml",
            ));
        }
        let wanted = PathBuf::from(path.trim());
        let folder = blocking(move || below_a_root(&wanted, &roots)).await??;
        self.add_tasks_from(&[folder], self.config.task_roots.clone(), version).await
    }

    /// [`Ops::add_tasks`] for folders that the person at the command line names. Links are followed below those folders only.
    ///
    /// # Errors
    /// [`OpsError::Invalid`] where a folder is not there or none holds a task.
    pub async fn add_task_folders(&self, paths: &[PathBuf], version: DataVersion) -> Result<TaskIntake> {
        self.add_tasks_from(paths, Vec::new(), version).await
    }

    async fn add_tasks_from(&self, paths: &[PathBuf], roots: Vec<PathBuf>, version: DataVersion) -> Result<TaskIntake> {
        let mut answer = TaskIntake::default();
        for path in paths {
            if Checkout::is_one(path) {
                self.add_benchmark(path, version, &mut answer).await?;
                continue;
            }
            for source in discovered(path).await? {
                let roots = if roots.is_empty() { vec![path.clone()] } else { roots.clone() };
                match source {
                    Source::Folder(folder) => {
                        let place = folder.display().to_string();
                        let loaded = blocking(move || read_task_as(&folder, &roots, version)).await?;
                        self.put_task(place, loaded, version, &mut answer).await?;
                    }
                    Source::Evals(file) => {
                        let place = file.display().to_string();
                        for loaded in blocking(move || read_evals(&file)).await? {
                            let place = format!("{place}#{}", loaded.name);
                            self.put_task(place, loaded, version, &mut answer).await?;
                        }
                    }
                }
            }
        }
        if answer.accepted.is_empty() && answer.refused.is_empty() {
            let place = paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ");
            return Err(OpsError::invalid(format!(
                "no task found below {place}; a task folder holds task.md, or instruction.md and task.toml; a skill's own cases lie in evals/evals.json"
            )));
        }
        Ok(answer)
    }

    /// Every task of a checkout of SWE-Skills-Bench.
    async fn add_benchmark(&self, path: &Path, version: DataVersion, answer: &mut TaskIntake) -> Result<()> {
        let place = path.to_owned();
        let opened = blocking(move || Checkout::open(&place)).await?;
        let checkout = match opened {
            Ok(checkout) => Arc::new(checkout),
            Err(findings) => {
                answer.refused.push(Refused { path: path.display().to_string(), findings });
                return Ok(());
            }
        };
        for task in checkout.tasks().to_vec() {
            let document = checkout.root().join(checkout.document(&task));
            let reader = Arc::clone(&checkout);
            let loaded = blocking(move || reader.read(&task)).await?;
            self.put_task(document.display().to_string(), loaded, version, answer).await?;
        }
        Ok(())
    }

    async fn put_task(
        &self,
        path: String,
        mut loaded: LoadedTask,
        version: DataVersion,
        answer: &mut TaskIntake,
    ) -> Result<()> {
        loaded.findings.extend(loaded.layout.and_then(|layout| other_layout(version, layout, ".")));
        let Some(task) = loaded.task.filter(|_| !has_errors(&loaded.findings)) else {
            answer.refused.push(Refused { path, findings: loaded.findings });
            return Ok(());
        };
        self.store.blobs().put_tree(loaded.files).await?;
        let (id, is_new) = self.store.put_task(&task, &loaded.findings, &path, self.now()).await?;
        answer.accepted.push(AcceptedTask {
            path,
            id,
            name: task.name.clone(),
            version: task.version(),
            is_new,
            findings: loaded.findings,
        });
        Ok(())
    }

    /// All tasks by name.
    ///
    /// # Errors
    /// Storage trouble.
    pub async fn tasks(&self) -> Result<Vec<TaskListing>> {
        let rows = self.store.tasks().await?;
        let versions: Vec<ContentHash> = rows.iter().map(|row| row.hash).collect();
        let standings = self.standings(&versions).await?;
        Ok(rows
            .into_iter()
            .map(|row| TaskListing {
                audit: standings.get(&row.hash).cloned().unwrap_or_default(),
                id: row.id,
                name: row.name,
                layout: row.layout,
                version: row.hash,
                difficulty: row.metadata.difficulty,
                category: row.metadata.category,
                has_oracle: row.has_oracle,
                bundled_skills: row.bundled_skills,
                findings: FindingCounts::of(&row.findings),
                source: row.source,
                created_at: row.created_at,
            })
            .collect())
    }

    /// One task, all of it.
    ///
    /// # Errors
    /// [`OpsError::NotFound`], or storage trouble.
    pub async fn task(&self, id: TaskId) -> Result<TaskDetail> {
        let row = self.store.task(id).await?;
        let audits = self.audits().await?;
        Ok(TaskDetail {
            asked: self.asked_variables(&row).await?,
            id: row.id,
            audit: self.audit_of(&audits, row.hash).await?,
            audit_running: audits.running(row.hash),
            task: row.task,
            findings: row.findings,
            source: row.source,
            created_at: row.created_at,
        })
    }
}

/// Where tasks are read from.
enum Source {
    /// One task.
    Folder(PathBuf),
    /// An `evals.json` with a task for each case.
    Evals(PathBuf),
}

/// Task folders; where there are none, the cases of skills.
async fn discovered(path: &Path) -> Result<Vec<Source>> {
    let path = path.to_owned();
    blocking(move || {
        if is_evals(&path) {
            return Ok(vec![Source::Evals(path)]);
        }
        if !path.is_dir() {
            return Err(OpsError::invalid(format!("there is no folder {}; check the path", path.display())));
        }
        let folders = discover(&path);
        Ok(match folders.is_empty() {
            true => evals_files(&path).into_iter().map(Source::Evals).collect(),
            false => folders.into_iter().map(Source::Folder).collect(),
        })
    })
    .await?
}

/// The real place of a folder, if it lies below one of the roots.
fn below_a_root(wanted: &Path, roots: &[PathBuf]) -> Result<PathBuf> {
    let allowed = || roots.iter().map(|root| root.display().to_string()).collect::<Vec<_>>().join(", ");
    // One answer for what is not there and what lies elsewhere: the page is no way to look around on the disk.
    let refused =
        || OpsError::invalid(format!("{} is no folder below the allowed ones: {}", wanted.display(), allowed()));
    let place = wanted.canonicalize().map_err(|_| refused())?;
    let inside = roots.iter().filter_map(|root| root.canonicalize().ok()).any(|root| place.starts_with(root));
    if inside && place.is_dir() { Ok(place) } else { Err(refused()) }
}
