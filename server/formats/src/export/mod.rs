//! Evaluations as files for other programs and for people: one file of code per format. Pure; what is given has its secrets taken out already.
//! Start at [`render`].

mod agentcompass;
mod atif;
mod bundle;
mod csv;
pub mod document;
mod html;
mod html_tables;
mod json;
mod leaderboard;
mod markdown;
mod names;
mod patch;
mod skill_creator;
mod words;

use std::collections::BTreeMap;

use domain::attempt::AttemptResult;
use domain::hash::ContentHash;
use domain::history::{EvaluationHistory, TrialHistory};
use domain::report::EvaluationReport;
use domain::trace::Trace;

pub use bundle::zipped;
pub use document::LeftOut;
pub use leaderboard::{LeaderboardFormat, LeaderboardView, render_leaderboard};

/// The forms in which an evaluation can be had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ExportFormat {
    /// Everything, in our own JSON; import takes it back without loss.
    Json,
    /// One row per trial.
    Csv,
    /// The result as text for a pull request or a wiki.
    Markdown,
    /// AgentCompass' folder: `summary.md` and `details/*.json`, one pair per arm.
    Agentcompass,
    /// skill-creator's `benchmark.json`.
    SkillCreator,
    /// Every trace as ATIF v1.8.
    Atif,
    /// What each agent changed in its workspace.
    Patch,
    /// One page that opens offline.
    Html,
}

/// Which of the files that attempts name a format needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// None.
    Nothing,
    /// The verifier's output.
    VerifierLogs,
    /// The traces.
    Traces,
    /// What the agents changed.
    Patches,
    /// All of them.
    Everything,
}

impl ExportFormat {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Json,
        Self::Csv,
        Self::Markdown,
        Self::Html,
        Self::Atif,
        Self::Patch,
        Self::Agentcompass,
        Self::SkillCreator,
    ];

    /// The word used on the command line and in addresses.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Csv => "csv",
            Self::Markdown => "markdown",
            Self::Agentcompass => "agentcompass",
            Self::SkillCreator => "skill-creator",
            Self::Atif => "atif",
            Self::Patch => "patch",
            Self::Html => "html",
        }
    }

    /// The format of that word.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.word() == word)
    }

    /// Which files [`render`] must be given.
    #[must_use]
    pub const fn needs(self) -> Needs {
        match self {
            Self::Json => Needs::Everything,
            Self::Atif => Needs::Traces,
            Self::Agentcompass => Needs::VerifierLogs,
            Self::Patch => Needs::Patches,
            Self::Csv | Self::Markdown | Self::SkillCreator | Self::Html => Needs::Nothing,
        }
    }

    /// Whether it is a folder of files rather than one.
    #[must_use]
    pub const fn is_folder(self) -> bool {
        matches!(self, Self::Agentcompass | Self::Atif | Self::Patch)
    }

    /// What a single file is, for browsers.
    #[must_use]
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::Json | Self::SkillCreator => "application/json",
            Self::Csv => "text/csv; charset=utf-8",
            Self::Markdown => "text/markdown; charset=utf-8",
            Self::Html => "text/html; charset=utf-8",
            Self::Agentcompass | Self::Atif | Self::Patch => "application/zip",
        }
    }

    /// The name of the file, or of the folder.
    #[must_use]
    pub fn name(self, evaluation: domain::id::EvaluationId) -> String {
        match self {
            Self::Json => format!("evaluation-{evaluation}.json"),
            Self::Csv => format!("evaluation-{evaluation}.csv"),
            Self::Markdown => format!("evaluation-{evaluation}.md"),
            Self::Html => format!("evaluation-{evaluation}.html"),
            Self::SkillCreator => format!("evaluation-{evaluation}-benchmark.json"),
            Self::Agentcompass => format!("evaluation-{evaluation}-agentcompass"),
            Self::Atif => format!("evaluation-{evaluation}-traces"),
            Self::Patch => format!("evaluation-{evaluation}-patches"),
        }
    }
}

/// An evaluation, ready to be written in any format.
#[derive(Debug, Clone, Copy)]
pub struct Exported<'a> {
    /// Everything that is known of it.
    pub history: &'a EvaluationHistory,
    /// Its result, computed from that.
    pub report: &'a EvaluationReport,
    /// The files that the format needs, by their name in the history.
    pub files: &'a BTreeMap<ContentHash, Vec<u8>>,
    /// Files that the history names and `files` lacks although the format needs them.
    pub left_out: &'a [LeftOut],
    /// The plot of pass rates as an SVG element, for the page.
    pub chart: &'a str,
}

/// One file of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExportFile {
    /// Relative, with `/`; the name alone where the format is one file.
    pub path: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// Why an evaluation cannot be had in a format.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// There is nothing of that kind in it.
    #[error("evaluation {evaluation} has no {what} to export; {hint}")]
    Nothing {
        /// Which evaluation.
        evaluation: domain::id::EvaluationId,
        /// `traces`, `patches`.
        what: &'static str,
        /// Where they would come from.
        hint: &'static str,
    },
    /// It could not be written; a fault of this program.
    #[error("the export could not be written")]
    Write(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl ExportError {
    pub(crate) fn write(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self::Write(Box::new(error))
    }
}

/// Writes an evaluation in a format: one file, or the files of a folder.
///
/// # Errors
/// [`ExportError::Nothing`] where there is nothing of the kind in the evaluation.
pub fn render(format: ExportFormat, exported: &Exported<'_>) -> Result<Vec<ExportFile>, ExportError> {
    let single = |bytes: Vec<u8>| vec![ExportFile { path: format.name(exported.history.id), bytes }];
    match format {
        ExportFormat::Json => json::render(exported).map(single),
        ExportFormat::Csv => csv::render(exported).map(single),
        ExportFormat::Markdown => Ok(single(markdown::render(exported).into_bytes())),
        ExportFormat::SkillCreator => skill_creator::render(exported).map(single),
        ExportFormat::Html => Ok(single(html::render(exported).into_bytes())),
        ExportFormat::Agentcompass => agentcompass::render(exported),
        ExportFormat::Atif => atif::render(exported),
        ExportFormat::Patch => patch::render(exported),
    }
}

impl<'a> Exported<'a> {
    /// The task's name of a trial.
    fn task(&self, trial: &TrialHistory) -> &'a str {
        let task = self.history.plan.tasks.iter().find(|task| task.id == trial.task);
        task.map_or("", |task| task.name.as_str())
    }

    /// Place of a trial's task in the plan, from 0.
    fn task_index(&self, trial: &TrialHistory) -> usize {
        self.history.plan.tasks.iter().position(|task| task.id == trial.task).unwrap_or(usize::MAX)
    }

    /// What the last attempt at a trial left behind.
    fn result(trial: &'a TrialHistory) -> Option<&'a AttemptResult> {
        trial.attempts.last()?.result.as_ref()
    }

    fn trace(&self, result: &AttemptResult) -> Option<Trace> {
        serde_json::from_slice(self.files.get(&result.trace?.hash)?).ok()
    }

    fn verifier_log(&self, result: &AttemptResult) -> Option<String> {
        let bytes = self.files.get(&result.verifier_log?.hash)?;
        Some(String::from_utf8_lossy(bytes).into_owned())
    }
}
