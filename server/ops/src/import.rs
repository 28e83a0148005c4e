//! Results of others: read, cleaned, stored as imported evaluations. They stand beside own ones in lists, marked, and never among own trials.

use std::collections::BTreeSet;
use std::path::Path;

use domain::finding::Finding;
use domain::hash::ContentHash;
use domain::history::EvaluationHistory;
use domain::id::EvaluationId;
use domain::imported::{AcceptedEvaluation, ImportIntake, Imported, ResultFormat};
use domain::time::Timestamp;
use formats::import::{ReadEvaluation, Reading, read};

use crate::{Ops, OpsError, Result, Secrets, blocking};

/// What the evaluations of one source have in common.
struct Source {
    format: ResultFormat,
    name: String,
    hash: ContentHash,
    at: Timestamp,
}

impl Ops {
    /// Imports the results at `path`, in `format` or in the one that the files tell. What was imported before stays as it is.
    ///
    /// # Errors
    /// [`OpsError::Invalid`] with a finding for each thing that is wrong, where nothing was imported; or storage trouble.
    pub async fn import(&self, path: &Path, format: Option<ResultFormat>) -> Result<ImportIntake> {
        let (wanted, at) = (path.to_owned(), self.now());
        let reading = blocking(move || read(&wanted, format, at)).await?;
        let reading = reading.map_err(|findings| refused(path, findings))?;
        self.keep(reading, at).await
    }

    async fn keep(&self, reading: Reading, at: Timestamp) -> Result<ImportIntake> {
        let Reading { format, source, hash, evaluations, findings } = reading;
        let (source, secrets) = (Source { format, name: source, hash, at }, self.secrets().await?);
        let mut intake = ImportIntake { accepted: Vec::new(), findings };
        for (place, evaluation) in (0_u32..).zip(evaluations) {
            intake.accepted.push(self.keep_one(&source, place, evaluation, &secrets).await?);
        }
        secrets.clean(intake)
    }

    async fn keep_one(
        &self,
        source: &Source,
        place: u32,
        read: ReadEvaluation,
        secrets: &Secrets,
    ) -> Result<AcceptedEvaluation> {
        let imported = Imported {
            format: source.format,
            source: source.name.clone(),
            hash: source.hash,
            at: source.at,
            findings: read.findings,
            before: read.before.map(Box::new),
        };
        let history = EvaluationHistory {
            id: EvaluationId(0),
            created_at: read.created_at,
            plan: read.plan,
            imported: Some(imported),
            stopped: read.stopped,
            trials: read.trials,
        };
        let (mut history, files) = secrets.clean_history(history, read.files)?;
        for bytes in files.into_values() {
            self.store.blobs().put(bytes).await?;
        }
        let missing = self.drop_missing(&mut history).await?;
        let report = history.report();
        let mut imported = history.imported.take().ok_or_else(|| OpsError::invalid("the evaluation lost its mark"))?;
        imported.findings.extend(missing);
        let EvaluationHistory { plan, trials, stopped, created_at, .. } = &history;
        let stored = self.store.put_imported(plan, trials, &imported, place, *created_at, stopped.clone());
        let (id, is_new) = stored.await?;
        Ok(AcceptedEvaluation {
            id,
            title: history.plan.title,
            is_new,
            format: source.format,
            tasks: history.plan.tasks.len() as u64,
            trials: history.trials.len() as u64,
            pairs_complete: report.totals.pairs_complete,
            findings: imported.findings,
        })
    }

    /// Takes out the names of files that neither the source nor this data folder has, so that no page looks for them.
    async fn drop_missing(&self, history: &mut EvaluationHistory) -> Result<Option<Finding>> {
        let names: BTreeSet<ContentHash> = history.files().map(|file| file.hash).collect();
        let mut missing = BTreeSet::new();
        for hash in names {
            if self.store.blobs().size(hash).await?.is_none() {
                missing.insert(hash);
            }
        }
        if missing.is_empty() {
            return Ok(None);
        }
        for file in history.files_mut() {
            *file = file.filter(|file| !missing.contains(&file.hash));
        }
        let message = format!("{} traces or logs are named and not in it; their names were left out", missing.len());
        let file = history.imported.as_ref().map(|imported| imported.source.clone()).unwrap_or_default();
        Ok(Some(Finding::warning("missing_files", file, message).hint("export again from where they are")))
    }
}

fn refused(path: &Path, findings: Vec<Finding>) -> OpsError {
    let errors = findings.iter().filter(|finding| finding.is_error()).count();
    let problems = if errors == 1 { "one problem".to_owned() } else { format!("{errors} problems") };
    OpsError::Invalid { message: format!("nothing of {} was imported: {problems}", path.display()), findings }
}
