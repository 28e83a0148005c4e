//! `skilldelta check`: every finding, nothing stored.

use std::path::PathBuf;

use clap::Args;
use domain::finding::{Finding, Severity};
use ops::CheckReport;

use super::{Exit, Failure};

/// What to check.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// A skill, an archive of skills, a task, a folder of either, or a whole checkout.
    path: PathBuf,
    /// Print JSON instead of lines.
    #[arg(long)]
    json: bool,
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
