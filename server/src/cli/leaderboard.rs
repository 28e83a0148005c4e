//! `skilldelta leaderboard`: publishes it, lists what was published, and writes its rows as a file; the same as on its pages.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use domain::id::SnapshotId;
use domain::leaderboard::{DataSet, LeaderboardQuery, PublishedSnapshot};
use domain::report::number::counted;
use formats::export::LeaderboardFormat;

use super::eval::unusable;
use super::export::deliver;
use super::{Exit, Failure, is_there, terminal};
use crate::config::{CommonArgs, Config};
use crate::runtime::Runtime;

/// What to do with the leaderboard.
#[derive(Debug, Subcommand)]
pub enum LeaderboardCommand {
    /// Publish the rows as they stand, as a snapshot that never changes; badges and texts refer to it.
    Publish,
    /// List the published snapshots, newest first.
    Snapshots,
    /// Write rows as a file: those of now, or of a published snapshot.
    Export(LeaderboardExport),
}

/// Which rows, and how.
#[derive(Debug, Args)]
pub struct LeaderboardExport {
    /// csv, json or markdown.
    #[arg(long, value_name = "FORMAT", value_parser = format)]
    format: LeaderboardFormat,
    /// The number of a published snapshot. Otherwise the rows of now.
    #[arg(long, value_name = "NUMBER")]
    snapshot: Option<SnapshotId>,
    /// The view, as in the address of its page: `model=NAME&sort=-rho`.
    #[arg(long, value_name = "QUERY", default_value = "")]
    view: String,
    /// Where to write it. `-` = standard output. Otherwise it goes into the current folder.
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,
}

fn format(word: &str) -> Result<LeaderboardFormat, String> {
    let words = LeaderboardFormat::ALL.map(LeaderboardFormat::word).join(", ");
    LeaderboardFormat::from_word(word).ok_or_else(|| format!("there are: {words}"))
}

/// Does it, and says what was done.
///
/// # Errors
/// A snapshot that is not there, or nothing to publish (exit 2), or a place that cannot be written (exit 1).
pub async fn run(common: &CommonArgs, command: LeaderboardCommand) -> Result<Exit, Failure> {
    let config = Config::load(common).map_err(Failure::unusable)?;
    is_there(&config)?;
    let runtime = Runtime::open(config, None).await?;
    match command {
        LeaderboardCommand::Publish => {
            let (snapshot, is_new) = runtime.ops.publish_leaderboard().await.map_err(unusable)?;
            if !is_new {
                eprintln!("these rows are published already");
            }
            terminal::line(&line(&snapshot));
        }
        LeaderboardCommand::Snapshots => {
            for snapshot in runtime.ops.published_snapshots().await.map_err(unusable)? {
                terminal::line(&line(&snapshot));
            }
        }
        LeaderboardCommand::Export(args) => {
            let asked = ops::leaderboard_view(&args.view).map_err(unusable)?;
            let data = args.snapshot.map_or(asked.data, DataSet::Snapshot);
            let query = LeaderboardQuery { data, ..asked };
            let export = runtime.ops.export_leaderboard(&query, args.format).await.map_err(unusable)?;
            return deliver(export, args.out);
        }
    }
    Ok(Exit::Done)
}

/// `snapshot 3 · 2026-03-01T00:00:00Z · 14 rows · sha256 …`.
fn line(snapshot: &PublishedSnapshot) -> String {
    format!(
        "snapshot {} · {} · {} · sha256 {}",
        snapshot.id,
        snapshot.at.rfc3339(),
        counted(snapshot.rows, "row"),
        snapshot.hash.to_hex()
    )
}
