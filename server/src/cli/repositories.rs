//! `skilldelta repositories`: the commits that were fetched for tasks and skills, and removing them.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use clap::Subcommand;
use domain::report::number::counted;
use domain::time::Timestamp;
use repos::KeptCommit;
use store::DataDir;

use super::{Exit, Failure, terminal};
use crate::config::{CommonArgs, Config};
use crate::runtime::repositories;

const DAY: Duration = Duration::from_secs(86_400);

/// What to do with fetched commits.
#[derive(Debug, Subcommand)]
pub enum RepositoriesCommand {
    /// List the commits that are kept, least recently used first.
    List,
    /// Remove commits that were not used for long. What is missed is fetched again.
    Prune {
        /// Days without use after which a commit goes; 0 = all. Without it: repository_keep_days of the settings.
        #[arg(long, value_name = "DAYS")]
        unused_for: Option<u32>,
    },
}

/// Carries it out.
///
/// # Errors
/// Settings or a data folder that cannot be read; each with a remedy.
pub async fn run(common: &CommonArgs, command: RepositoriesCommand) -> Result<Exit, Failure> {
    let config = Config::load(common).map_err(Failure::unusable)?;
    // Held until the end: a server at work must not have its repositories taken away.
    let _dir = config.data.exists().then(|| DataDir::open(&config.data)).transpose()?;
    let repositories = repositories(&config);
    match command {
        RepositoriesCommand::List => list(&repositories.kept()?),
        RepositoriesCommand::Prune { unused_for } => {
            let days = unused_for.or(config.repository_keep_days).ok_or_else(|| {
                Failure::unusable(anyhow::anyhow!("repository_keep_days is 0; say how long with --unused-for DAYS"))
            })?;
            let oldest = SystemTime::now().checked_sub(DAY * days).unwrap_or(UNIX_EPOCH);
            let removed = repositories.prune(oldest, || true).await?;
            removed.iter().for_each(|kept| terminal::line(&format!("removed  {}", kept.commit)));
            terminal::line(&format!("{} removed", counted(removed.len() as u64, "commit")));
        }
    }
    Ok(Exit::Done)
}

fn list(kept: &[KeptCommit]) {
    for kept in kept {
        let since = kept.last_used.duration_since(UNIX_EPOCH).unwrap_or_default();
        let used = Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX));
        terminal::line(&format!("{:>6} MB  last used {used}  {}", kept.bytes >> 20, kept.commit));
    }
    terminal::line(&counted(kept.len() as u64, "commit"));
}
