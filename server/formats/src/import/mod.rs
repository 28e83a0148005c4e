//! Results of others, as their runners left them: one file of code per format. What is read becomes evaluations that are marked as imported; what
//! cannot be taken is said with file, place, reason and remedy. Start at [`read`].

mod agentcompass;
mod arm;
mod detect;
mod draft;
mod evalscope;
mod files;
mod harbor;
mod harbor_result;
mod number;
mod skill_creator;
mod skilldelta;
mod skilldelta_report;
mod swe_reports;
mod swe_skills_bench;
mod unread;

use std::collections::BTreeMap;
use std::path::Path;

use domain::finding::Finding;
use domain::hash::ContentHash;
use domain::history::TrialHistory;
use domain::imported::{Imported, ResultFormat};
use domain::plan::EvaluationPlan;
use domain::stop::Stopped;
use domain::time::Timestamp;

pub use self::files::{FileLimits, Files};

/// What was read from one source.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// In which form.
    pub format: ResultFormat,
    /// Name of the file or folder.
    pub source: String,
    /// Over paths and bytes of all files that were read.
    pub hash: ContentHash,
    /// At least one.
    pub evaluations: Vec<ReadEvaluation>,
    /// About the source as a whole; no errors.
    pub findings: Vec<Finding>,
}

/// One evaluation of a source. Ids in it are below 0: none of them is a row.
#[derive(Debug, Clone, PartialEq)]
pub struct ReadEvaluation {
    /// What was compared.
    pub plan: EvaluationPlan,
    /// When, as the source says; the time of reading where it does not.
    pub created_at: Timestamp,
    /// All finished.
    pub trials: Vec<TrialHistory>,
    /// Why it was ended before all of its trials, where the source says that it was.
    pub stopped: Option<Stopped>,
    /// Content of the files that the trials name, as far as the source has it.
    pub files: BTreeMap<ContentHash, Vec<u8>>,
    /// Where the source had it from.
    pub before: Option<Imported>,
    /// What could not be taken, and what is to be known about what was; no errors.
    pub findings: Vec<Finding>,
}

/// Reads the results at `path`, in `format` or in the one that its files tell. `now` stands where a source tells no time.
///
/// # Errors
/// Findings, at least one of them an error: nothing of the source is to be used then.
pub fn read(path: &Path, format: Option<ResultFormat>, now: Timestamp) -> Result<Reading, Vec<Finding>> {
    let mut files = Files::open(path, &FileLimits::default()).map_err(|finding| vec![*finding])?;
    read_files(&mut files, format, now)
}

/// The same for files that are at hand.
///
/// # Errors
/// As [`read`].
pub fn read_files(files: &mut Files, format: Option<ResultFormat>, now: Timestamp) -> Result<Reading, Vec<Finding>> {
    let format = match format {
        Some(format) => format,
        None => detect::detect(files).map_err(|finding| vec![*finding])?,
    };
    let mut findings = files.take_findings();
    let read = match format {
        ResultFormat::Skilldelta => skilldelta::read(files, now, &mut findings),
        ResultFormat::SweSkillsBench => swe_skills_bench::read(files, now, &mut findings),
        ResultFormat::Agentcompass => agentcompass::read(files, now, &mut findings),
        ResultFormat::Evalscope => evalscope::read(files, now, &mut findings),
        ResultFormat::Harbor => harbor::read(files, now, &mut findings),
        ResultFormat::SkillCreator => skill_creator::read(files, now, &mut findings),
    };
    if read.is_empty() && !domain::finding::has_errors(&findings) {
        let message = format!("no result of {} was found in it", format.runner());
        findings.push(Finding::error("no_results", files.name(), message).hint(detect::WANTED));
    }
    if domain::finding::has_errors(&findings) {
        return Err(findings);
    }
    findings.extend(unread::note(files));
    Ok(Reading { format, source: files.name().to_owned(), hash: files.hash(), evaluations: read, findings })
}
