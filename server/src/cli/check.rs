//! `skilldelta check`: every finding, nothing stored.

use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use domain::finding::{Finding, Severity};
use ops::CheckReport;

use super::{Exit, Failure, sarif};

/// What to check.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// A skill, an archive of skills, a task, an evals.json, a folder of these, or a whole checkout.
    path: PathBuf,
    /// Print JSON instead of lines.
    #[arg(long)]
    json: bool,
    /// Write the findings as SARIF 2.1.0 too, for code scanning in CI.
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,
}

/// Checks, prints, and fails where a finding is an error.
///
/// # Errors
/// A path that is not there.
pub fn run(args: &CheckArgs) -> Result<Exit, Failure> {
    if !args.path.exists() {
        return Err(Failure::unusable(anyhow::anyhow!("there is nothing at {}; check the path", args.path.display())));
    }
    let report = ops::check(&args.path);
    if let Some(file) = &args.sarif {
        let json = serde_json::to_string_pretty(&sarif::log(&report, &args.path))?;
        std::fs::write(file, json + "\n").with_context(|| format!("{} could not be written", file.display()))?;
    }
    if args.json {
        println!("{}", serde_json::to_string_pretty(&report)?);
    } else {
        print_lines(&report);
    }
    Ok(if report.all().any(Finding::is_error) { Exit::Failed } else { Exit::Done })
}

fn print_lines(report: &CheckReport) {
    for finding in report.all() {
        println!("{finding}");
    }
    let count = |severity| report.all().filter(|finding| finding.severity == severity).count();
    println!(
        "{} skills, {} tasks: {} errors, {} warnings, {} notes",
        report.skills.len(),
        report.tasks.len(),
        count(Severity::Error),
        count(Severity::Warning),
        count(Severity::Note),
    );
}
