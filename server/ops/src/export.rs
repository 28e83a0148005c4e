//! An evaluation as files for others. Secrets are taken out here once more, whatever the format.

use std::collections::{BTreeMap, BTreeSet};

use domain::analysis::detail;
use domain::attempt::{AttemptResult, BlobRef};
use domain::hash::ContentHash;
use domain::history::{AttemptHistory, EvaluationHistory, TrialHistory};
use domain::id::EvaluationId;
use formats::export::{ExportError, ExportFile, ExportFormat, Exported, LeftOut, Needs, render, zipped};
use store::{AttemptRow, StoreError, TrialRow};

use crate::{Ops, OpsError, Result, blocking};

/// Largest file that is put into an export, in bytes.
const FILE_BYTES: u64 = 64 << 20;
/// All files of an export together, in bytes.
const TOTAL_BYTES: u64 = 128 << 20;
/// Tells, in a folder, what is missing from it.
const LEFT_OUT: &str = "LEFT-OUT.txt";

/// An evaluation in one format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Export {
    /// Of the file, or of the folder.
    pub name: String,
    /// Whether it is a folder.
    pub is_folder: bool,
    /// What a download of it is, for browsers.
    pub media_type: &'static str,
    /// One file, or those of the folder.
    pub files: Vec<ExportFile>,
    /// What could not be put into it, and why.
    pub left_out: Vec<String>,
}

impl Export {
    /// One file for a browser: the file itself, or the folder as an archive. Answers name and content.
    ///
    /// # Errors
    /// [`OpsError::Internal`] where the archive could not be written.
    pub fn into_download(self) -> Result<(String, Vec<u8>)> {
        if self.is_folder {
            let bytes = zipped(&self.name, &self.files).map_err(refused)?;
            return Ok((format!("{}.zip", self.name), bytes));
        }
        let bytes = self.files.into_iter().next().map(|file| file.bytes).unwrap_or_default();
        Ok((self.name, bytes))
    }
}

impl Ops {
    /// An evaluation with all its attempts, as it stands.
    ///
    /// # Errors
    /// [`OpsError::NotFound`], or storage trouble.
    pub async fn history(&self, id: EvaluationId) -> Result<EvaluationHistory> {
        let row = self.store.evaluation(id).await?;
        let trials = if row.imported.is_some() {
            self.store.imported_trials(id).await?
        } else {
            let rows = self.store.trials(id).await?;
            let mut attempts = self.store.attempts_of(id).await?;
            let with_attempts = |row: TrialRow| {
                let attempts = attempts.remove(&row.id).unwrap_or_default();
                trial(row, attempts)
            };
            rows.into_iter().map(with_attempts).collect()
        };
        Ok(EvaluationHistory {
            id,
            created_at: row.created_at,
            plan: row.plan,
            imported: row.imported,
            stopped: row.stopped,
            trials,
        })
    }

    /// An evaluation in a format. It may still run; the export says so then.
    ///
    /// # Errors
    /// [`OpsError::NotFound`]; [`OpsError::Invalid`] where it has nothing of the format's kind; or storage trouble.
    pub async fn export(&self, id: EvaluationId, format: ExportFormat) -> Result<Export> {
        let row = self.store.evaluation(id).await?;
        if !row.plan.kind.is_evaluation() {
            return Err(OpsError::invalid(format!(
                "{id} is a task audit, from which nothing follows about a skill; read it on /audits/{id}, or have it as JSON by `skilldelta audit … --json FILE`"
            )));
        }
        let history = self.history(id).await?;
        let (files, left_out) = self.contents(&history, format.needs()).await?;
        let secrets = self.secrets().await?;
        let labels = self.labels(&row).await?;
        let files = blocking(move || -> Result<(Vec<ExportFile>, Vec<LeftOut>)> {
            let (history, files) = secrets.clean_history(history, files)?;
            let mut report = history.report();
            if report.finished {
                report.detail = Some(Box::new(detail(&report, history.records(), &labels)));
            }
            let chart = match format {
                ExportFormat::Html => charts::dumbbell(&report, charts::Width::Wide, charts::Links::None),
                _ => String::new(),
            };
            let exported =
                Exported { history: &history, report: &report, files: &files, left_out: &left_out, chart: &chart };
            Ok((render(format, &exported).map_err(refused)?, left_out))
        })
        .await??;
        Ok(finished(id, format, files))
    }

    /// The files that a format needs, and those of them that cannot be put into it.
    async fn contents(
        &self,
        history: &EvaluationHistory,
        needs: Needs,
    ) -> Result<(BTreeMap<ContentHash, Vec<u8>>, Vec<LeftOut>)> {
        let wanted = wanted(history, needs);
        let (mut files, mut left_out) = (BTreeMap::new(), Vec::new());
        let mut total = 0_u64;
        for file in wanted {
            if file.size > FILE_BYTES || total.saturating_add(file.size) > TOTAL_BYTES {
                let reason = format!(
                    "an export holds at most {} MB, and {} MB in one file",
                    TOTAL_BYTES >> 20,
                    FILE_BYTES >> 20
                );
                left_out.push(LeftOut { file, reason });
                continue;
            }
            match self.store.blobs().get(file.hash).await {
                Ok(bytes) => {
                    total = total.saturating_add(bytes.len() as u64);
                    files.insert(file.hash, bytes);
                }
                Err(error @ (StoreError::NotFound { .. } | StoreError::BlobDamaged { .. })) => {
                    left_out.push(LeftOut { file, reason: error.to_string() });
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok((files, left_out))
    }
}

/// Each once, in the order of the trials.
fn wanted(history: &EvaluationHistory, needs: Needs) -> Vec<BlobRef> {
    let last = |of: fn(&AttemptResult) -> Option<BlobRef>| -> Vec<BlobRef> {
        let attempts = history.trials.iter().filter_map(|trial| trial.attempts.last());
        attempts.filter_map(|attempt| of(attempt.result.as_ref()?)).collect()
    };
    let files = match needs {
        Needs::Nothing => Vec::new(),
        Needs::VerifierLogs => last(|result| result.verifier_log),
        Needs::Traces => last(|result| result.trace),
        Needs::Patches => last(|result| result.patch?.file),
        Needs::Everything => history.files().collect(),
    };
    let mut seen = BTreeSet::new();
    files.into_iter().filter(|file| seen.insert(file.hash)).collect()
}

fn finished(id: EvaluationId, format: ExportFormat, (mut files, left_out): (Vec<ExportFile>, Vec<LeftOut>)) -> Export {
    let left_out: Vec<String> = left_out
        .iter()
        .map(|left| format!("file {} ({} bytes): {}", left.file.hash, left.file.size, left.reason))
        .collect();
    if format.is_folder() && !left_out.is_empty() {
        files.push(ExportFile { path: LEFT_OUT.to_owned(), bytes: (left_out.join("\n") + "\n").into_bytes() });
    }
    Export { name: format.name(id), is_folder: format.is_folder(), media_type: format.media_type(), files, left_out }
}

pub(crate) fn refused(error: ExportError) -> OpsError {
    match &error {
        ExportError::Nothing { .. } => OpsError::invalid(error.to_string()),
        ExportError::Write(cause) => OpsError::internal(format!("{error}; the log tells more"), cause),
    }
}

fn trial(row: TrialRow, attempts: Vec<AttemptRow>) -> TrialHistory {
    TrialHistory {
        id: row.id,
        task: row.task,
        condition: row.condition,
        repeat: row.repeat,
        state: row.state,
        attempts: attempts
            .into_iter()
            .map(|attempt| AttemptHistory {
                number: attempt.number,
                started_at: Some(attempt.started_at),
                ended_at: attempt.ended_at,
                verdict: attempt.verdict,
                result: attempt.result,
                told: attempt.told,
            })
            .collect(),
    }
}
