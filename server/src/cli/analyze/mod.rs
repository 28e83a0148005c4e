//! `skilldelta analyze`: the whole analysis of a results file, whatever program made it; and the paper's Table 2.

mod paper;
mod text;

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use clap::Args;
use domain::analysis::Analysis;
use domain::published::PublishedReport;
use ops::{FileAnalysis, OpsError};
use serde::Serialize;

use super::fail_if::{self, FailIf};
use super::terminal::print;
use super::{Exit, Failure};

/// What to analyze.
#[derive(Debug, Args)]
pub struct AnalyzeArgs {
    /// Trials as JSON lines, a JSON list, an evaluation's JSON, or CSV; `-` = standard input. Needed columns: task, condition (no-skill,
    /// with-skill), and verdict or reward. Used where they are there: repeat, attempt, tokens or input, cache_read, cache_write, output; cluster,
    /// skill, agent, model, activated, tests or tests_passed and tests_total.
    #[arg(required_unless_present = "paper", conflicts_with = "paper")]
    file: Option<PathBuf>,
    /// Analyze the built-in Table 2 of SWE-Skills-Bench instead of a file.
    #[arg(long)]
    paper: bool,
    /// Print JSON instead of text, or write it to a file.
    #[arg(long, num_args = 0..=1, require_equals = true, default_missing_value = "-", value_name = "FILE")]
    json: Option<PathBuf>,
    /// A trial without a verdict passes from this reward on.
    #[arg(long, default_value_t = 1.0, value_name = "REWARD")]
    pass_mark: f64,
    /// Print every task and every pair left out, however many there are.
    #[arg(long)]
    all: bool,
    /// Exit with 3 if this holds of the result, as verdict=harms, delta_high<0 or broken>=1. May be given several times.
    #[arg(long, value_name = "CONDITION")]
    fail_if: Vec<FailIf>,
}

/// Analyzes, prints, and asks the conditions.
///
/// # Errors
/// Unusable input, told problem by problem (exit 2).
pub fn run(args: &AnalyzeArgs) -> Result<Exit, Failure> {
    let analysis = match &args.file {
        Some(file) => ops::analyze_file(file, args.pass_mark),
        None => ops::published_table().map(|report| FileAnalysis::Published(Box::new(report))),
    };
    match analysis.map_err(refused)? {
        FileAnalysis::Trials(analysis) => trials(args, &analysis),
        FileAnalysis::Published(report) => published(args, &report),
    }
}

/// Tells every problem; the error itself closes the list.
fn refused(error: OpsError) -> Failure {
    if let OpsError::Invalid { findings, .. } = &error {
        findings.iter().for_each(|finding| eprintln!("{finding}"));
    }
    Failure::unusable(error)
}

fn trials(args: &AnalyzeArgs, analysis: &Analysis) -> Result<Exit, Failure> {
    write(args, analysis, || text::render(analysis, args.all))?;
    if analysis.totals.pairs_complete == 0 {
        return Ok(Exit::Failed);
    }
    Ok(fail_if::concluded(&args.fail_if, &analysis.totals))
}

fn published(args: &AnalyzeArgs, report: &PublishedReport) -> Result<Exit, Failure> {
    if !args.fail_if.is_empty() {
        return Err(Failure::unusable(anyhow!("--fail-if needs trials; a published table has none")));
    }
    write(args, report, || paper::render(report))?;
    Ok(Exit::Done)
}

fn write(args: &AnalyzeArgs, result: &impl Serialize, text: impl Fn() -> String) -> Result<(), Failure> {
    match args.json.as_deref() {
        None => print(&text()),
        Some(path) if path == Path::new("-") => print(&(serde_json::to_string_pretty(result)? + "\n")),
        Some(path) => {
            print(&text())?;
            let json = serde_json::to_string_pretty(result)? + "\n";
            std::fs::write(path, json)
                .with_context(|| format!("the result could not be written to {}", path.display()))?;
            Ok(())
        }
    }
}
