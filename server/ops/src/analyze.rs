//! Analysis of a results file: the same arithmetic as an evaluation's own report. Stores nothing.

use std::io::Read;
use std::path::Path;

use domain::analysis::{Analysis, analyze};
use domain::finding::Finding;
use domain::published::PublishedReport;
use formats::results::{ResultsFile, published, read};

use crate::{OpsError, Result};

/// Largest results file, in bytes.
const MOST_BYTES: u64 = 1 << 30;

/// What a results file shows.
#[derive(Debug, Clone, PartialEq)]
pub enum FileAnalysis {
    /// Of trials.
    Trials(Box<Analysis>),
    /// Of a published table.
    Published(Box<PublishedReport>),
}

/// Analyses a file of trials, or a published table; `-` is standard input. A trial without a verdict passes from this reward on.
///
/// # Errors
/// [`OpsError::Invalid`] with each problem's line, column, reason and remedy.
pub fn analyze_file(path: &Path, pass_mark: f64) -> Result<FileAnalysis> {
    let name = if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() };
    let bytes = bytes(path).map_err(|error| {
        OpsError::invalid(format!("{name} cannot be read: {error}; check the path and its permissions"))
    })?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(OpsError::invalid(format!("{name} is larger than 1 GiB; analyze it in parts")));
    }
    analyze_bytes(&name, &bytes, pass_mark)
}

fn bytes(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    if path == Path::new("-") {
        std::io::stdin().lock().take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    } else {
        std::fs::File::open(path)?.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

/// The same from memory; `name` stands for the file in findings.
///
/// # Errors
/// As [`analyze_file`].
pub fn analyze_bytes(name: &str, bytes: &[u8], pass_mark: f64) -> Result<FileAnalysis> {
    if !(pass_mark > 0.0 && pass_mark <= 1.0) {
        return Err(OpsError::invalid("the pass mark must be above 0 and at most 1"));
    }
    match read(name, bytes, pass_mark).map_err(|findings| unusable(name, findings))? {
        ResultsFile::Trials(table) => {
            let analysis = analyze(name, table).map_err(|findings| unusable(name, findings))?;
            Ok(FileAnalysis::Trials(Box::new(analysis)))
        }
        ResultsFile::Published(table) => Ok(FileAnalysis::Published(Box::new(PublishedReport::of(&table)))),
    }
}

/// Table 2 of SWE-Skills-Bench, held against itself.
///
/// # Errors
/// Never, as a test makes sure.
pub fn published_table() -> Result<PublishedReport> {
    let table = published::swe_skills_bench().map_err(|findings| unusable("the built-in table", findings))?;
    Ok(PublishedReport::of(&table))
}

pub(crate) fn unusable(name: &str, findings: Vec<Finding>) -> OpsError {
    let message = format!(
        "{name} cannot be used: {}",
        if findings.len() == 1 { "1 problem".to_owned() } else { format!("{} problems", findings.len()) }
    );
    OpsError::Invalid { message, findings }
}
