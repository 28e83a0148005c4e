//! Results files: tables of trials as JSON lines, a JSON list, our own evaluation's JSON, or CSV; and the paper's Table 2.

mod cell;
mod column;
mod csv;
mod json;
mod outcome;
mod place;
pub mod published;
mod trial;

use domain::analysis::TrialTable;
use domain::finding::Finding;
use domain::published::PublishedTable;

/// What a results file holds.
#[derive(Debug, Clone, PartialEq)]
pub enum ResultsFile {
    /// Trials.
    Trials(TrialTable),
    /// A published table of pass rates and tokens.
    Published(PublishedTable),
}

/// Reads a results file. The form is told by its content: `[` begins a list, `{` JSON lines or one document, anything else CSV. `file` names it in
/// findings; a trial without a verdict passes where its reward is at least `pass_mark`.
///
/// # Errors
/// Findings with line, column, reason and remedy; nothing is left out in silence.
pub fn read(file: &str, bytes: &[u8], pass_mark: f64) -> Result<ResultsFile, Vec<Finding>> {
    let text = place::text(file, bytes).map_err(|finding| vec![*finding])?;
    match text.trim_start().chars().next() {
        None => {
            let empty = Finding::error("empty_file", file, "the file is empty");
            Err(vec![empty.hint("write one line for each trial")])
        }
        Some('[') => json::list(file, text, pass_mark).map(ResultsFile::Trials),
        Some('{') => json::lines_or_document(file, text, pass_mark).map(ResultsFile::Trials),
        Some(_) if published::is_table(text) => published::read(file, text).map(ResultsFile::Published),
        Some(_) => csv::table(file, text, pass_mark).map(ResultsFile::Trials),
    }
}
