//! `skilldelta check`: every finding, nothing stored.

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use clap::Args;
use domain::finding::{Finding, Severity};
use domain::report::number::counted;
use domain::repository::SkillSource;
use ops::CheckReport;

use super::arms::skill_source;
use super::eval::unusable;
use super::{Exit, Failure, sarif, terminal};
use crate::config::{CommonArgs, Config};
use crate::runtime::repositories_in;

/// What to check.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// A skill, an archive of skills, a task, an evals.json, a folder of these, or a whole checkout; or the skills of a repository, as
    /// https://HOST/REPOSITORY@COMMIT#FOLDER.
    #[arg(value_name = "PATH|URL")]
    place: String,
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
/// A path that is not there, a repository that cannot be had.
pub async fn run(common: &CommonArgs, args: &CheckArgs) -> Result<Exit, Failure> {
    let (report, root) = match SkillSource::is_meant(&args.place) {
        true => of_repository(common, &args.place).await?,
        false => of_path(Path::new(&args.place))?,
    };
    if let Some(file) = &args.sarif {
        let json = serde_json::to_string_pretty(&sarif::log(&report, &root))?;
        std::fs::write(file, json + "\n").with_context(|| format!("{} could not be written", file.display()))?;
    }
    terminal::print(&if args.json { serde_json::to_string_pretty(&report)? + "\n" } else { lines(&report) })?;
    Ok(if report.all().any(Finding::is_error) { Exit::Failed } else { Exit::Done })
}

fn of_path(path: &Path) -> Result<(CheckReport, PathBuf), Failure> {
    if !path.exists() {
        return Err(Failure::unusable(anyhow!("there is nothing at {}; check the path", path.display())));
    }
    Ok((ops::check(path), path.to_owned()))
}

/// Files are named from the folder of the repository that was asked for. What is fetched is gone afterwards: a check stores nothing.
async fn of_repository(common: &CommonArgs, url: &str) -> Result<(CheckReport, PathBuf), Failure> {
    let source = skill_source(url)?;
    let config = Config::load(common).map_err(Failure::unusable)?;
    let room = tempfile::tempdir().context("no folder could be made to fetch the repository into")?;
    let repositories = repositories_in(room.path().to_owned(), &config);
    let report = ops::check_repository(&repositories, &source).await.map_err(unusable)?;
    Ok((report, source.folder.map(|folder| PathBuf::from(folder.as_str())).unwrap_or_default()))
}

fn lines(report: &CheckReport) -> String {
    let findings: String = report.all().map(|finding| format!("{finding}\n")).collect();
    let count = |severity| report.all().filter(|finding| finding.severity == severity).count() as u64;
    let parts = [
        counted(report.skills.len() as u64, "skill"),
        counted(report.tasks.len() as u64, "task"),
        counted(count(Severity::Error), "error"),
        counted(count(Severity::Warning), "warning"),
        counted(count(Severity::Note), "note"),
    ];
    let [skills, tasks, errors, warnings, notes] = parts;
    format!("{findings}{skills}, {tasks}: {errors}, {warnings}, {notes}\n")
}
