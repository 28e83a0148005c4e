//! `skilldelta export`: an evaluation as a file or folder in an open format.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use clap::Args;
use domain::id::EvaluationId;
use formats::export::ExportFormat;
use ops::Export;

use super::eval::unusable;
use super::{Exit, Failure, is_there};
use crate::config::{CommonArgs, Config};
use crate::runtime::Runtime;

/// What to export, and how.
#[derive(Debug, Args)]
pub struct ExportArgs {
    /// The evaluation's number, as its page and its JSON tell it.
    evaluation: EvaluationId,
    /// json, csv, markdown, html, atif, patch, agentcompass or skill-creator.
    #[arg(long, value_name = "FORMAT", value_parser = format)]
    format: ExportFormat,
    /// Where to write it; a folder for atif, patch and agentcompass. `-` = standard output. Otherwise it goes into the current folder.
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,
}

fn format(word: &str) -> Result<ExportFormat, String> {
    let words = ExportFormat::ALL.map(ExportFormat::word).join(", ");
    ExportFormat::from_word(word).ok_or_else(|| format!("there are: {words}"))
}

/// Exports, and says where to.
///
/// # Errors
/// An evaluation that is not there or has nothing of the kind (exit 2), or a place that cannot be written (exit 1).
pub async fn run(common: &CommonArgs, args: ExportArgs) -> Result<Exit, Failure> {
    let config = Config::load(common).map_err(Failure::unusable)?;
    is_there(&config)?;
    let runtime = Runtime::open(config, None).await?;
    let export = runtime.ops.export(args.evaluation, args.format).await.map_err(unusable)?;
    for left_out in &export.left_out {
        eprintln!("left out: {left_out}");
    }
    deliver(export, args.out)
}

/// Writes an export to the place that was asked for, else into the current folder, and says where to.
///
/// # Errors
/// A folder that is to go to standard output, or into one that holds files (exit 2); a place that cannot be written (exit 1).
pub fn deliver(export: Export, out: Option<PathBuf>) -> Result<Exit, Failure> {
    let place = out.unwrap_or_else(|| PathBuf::from(&export.name));
    if place.as_os_str() == "-" {
        return to_stdout(export);
    }
    write(&export, &place)?;
    eprintln!("written to {}", place.display());
    Ok(Exit::Done)
}

fn to_stdout(export: Export) -> Result<Exit, Failure> {
    if export.is_folder {
        return Err(Failure::unusable(anyhow!("this format is a folder of files; name one with --out")));
    }
    let mut out = std::io::stdout().lock();
    for file in export.files {
        out.write_all(&file.bytes)?;
    }
    out.flush()?;
    Ok(Exit::Done)
}

fn write(export: &Export, place: &Path) -> Result<(), Failure> {
    if !export.is_folder {
        return export.files.iter().try_for_each(|file| put(place, &file.bytes)).map_err(Failure::from);
    }
    let taken = std::fs::read_dir(place).is_ok_and(|mut entries| entries.next().is_some());
    if taken {
        let message =
            format!("{} holds files already; name another folder, so that old and new do not mix", place.display());
        return Err(Failure::unusable(anyhow!(message)));
    }
    for file in &export.files {
        put(&place.join(&file.path), &file.bytes)?;
    }
    Ok(())
}

/// Written beside and then moved, so that a reader never meets half a file.
fn put(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let write = || {
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder)?;
        }
        let mut beside = path.as_os_str().to_owned();
        beside.push(".part");
        std::fs::write(&beside, bytes)?;
        std::fs::rename(&beside, path)
    };
    write().with_context(|| format!("{} could not be written", path.display()))
}
