//! `skilldelta check`: every finding, nothing stored.

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use clap::Args;
use domain::finding::{Finding, Severity};
use domain::report::number::counted;
use domain::repository::SkillSource;
use ops::{CheckReport, CheckedPlace, CheckedPlaces};

use super::arms::skill_source;
use super::eval::unusable;
use super::{Exit, Failure, sarif, terminal};
use crate::config::{CommonArgs, Config};
use crate::runtime::repositories_in;

/// What to check.
#[derive(Debug, Args)]
pub struct CheckArgs {
    /// A skill, an archive of skills, a task, an evals.json, a folder of these, or a whole checkout; or the skills of a repository, as
    /// https://HOST/REPOSITORY@COMMIT#FOLDER. Of several, the findings are told place by place.
    #[arg(value_name = "PATH|URL", required = true)]
    places: Vec<String>,
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
    let is_url = |place: &str| SkillSource::is_meant(place);
    // A slip of the pen in the last of many is told before the first is looked at.
    if let Some(missing) = args.places.iter().find(|place| !is_url(place) && !Path::new(place).exists()) {
        return Err(Failure::unusable(anyhow!("there is nothing at {missing}; check the path")));
    }
    let (mut places, mut roots) = (Vec::<CheckedPlace>::new(), Vec::new());
    for place in &args.places {
        if places.iter().any(|checked| checked.place == *place) {
            continue;
        }
        let (report, root) = match is_url(place) {
            true => of_repository(common, place).await?,
            false => (ops::check(Path::new(place)), PathBuf::from(place)),
        };
        places.push(CheckedPlace { place: place.clone(), report });
        roots.push(root);
    }
    let checked = CheckedPlaces::of(places);
    if let Some(file) = &args.sarif {
        let json = serde_json::to_string_pretty(&sarif::log(&checked, &roots))?;
        std::fs::write(file, json + "\n").with_context(|| format!("{} could not be written", file.display()))?;
    }
    terminal::print(&if args.json { json(&checked)? + "\n" } else { lines(&checked) })?;
    Ok(if checked.all().any(Finding::is_error) { Exit::Failed } else { Exit::Done })
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

/// The report of one place, or those of several.
fn json(checked: &CheckedPlaces) -> serde_json::Result<String> {
    match checked.places.as_slice() {
        [one] => serde_json::to_string_pretty(&one.report),
        _ => serde_json::to_string_pretty(checked),
    }
}

fn lines(checked: &CheckedPlaces) -> String {
    let several = checked.places.len() > 1;
    let of_place = |place: &CheckedPlace| {
        let findings = place.report.all().map(|finding| format!("{}{finding}\n", if several { "  " } else { "" }));
        let findings: String = findings.collect();
        if several && !findings.is_empty() { format!("{}:\n{findings}", place.place) } else { findings }
    };
    let findings: String = checked.places.iter().map(of_place).collect();
    let together: String = checked.findings.iter().map(|finding| format!("{finding}\n")).collect();
    let count = |severity| checked.all().filter(|finding| finding.severity == severity).count() as u64;
    let sum =
        |of: fn(&CheckReport) -> usize| checked.places.iter().map(|place| of(&place.report)).sum::<usize>() as u64;
    let places = if several { format!("{}: ", counted(checked.places.len() as u64, "place")) } else { String::new() };
    let parts = [
        counted(sum(|report| report.skills.len()), "skill"),
        counted(sum(|report| report.tasks.len()), "task"),
        counted(count(Severity::Error), "error"),
        counted(count(Severity::Warning), "warning"),
        counted(count(Severity::Note), "note"),
    ];
    let [skills, tasks, errors, warnings, notes] = parts;
    format!("{findings}{together}{places}{skills}, {tasks}: {errors}, {warnings}, {notes}\n")
}
