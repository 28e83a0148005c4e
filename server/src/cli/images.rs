//! `skilldelta images`: the images that were built for tasks, and removing them.

use clap::Subcommand;
use domain::report::number::counted;
use domain::time::Timestamp;
use engine::image::{ImageConfig, Images, KeptImage};
use engine::sandbox::docker::DockerEngine;
use store::{DataDir, Store};

use super::{Exit, Failure, terminal};
use crate::config::{CommonArgs, Config};
use crate::runtime::wall_clock;
use crate::scheduler::last_used;

const DAY_S: i64 = 86_400;

/// What to do with images.
#[derive(Debug, Subcommand)]
pub enum ImagesCommand {
    /// List images of ours, least recently used first.
    List,
    /// Remove images of ours that were not used for long. Images in use stay; what is missed is built again.
    Prune {
        /// Days without use after which an image goes; 0 = all that nothing uses. Without it: image_keep_days of the settings.
        #[arg(long, value_name = "DAYS")]
        unused_for: Option<u32>,
    },
}

/// Carries it out.
///
/// # Errors
/// Settings or a data folder that cannot be read, an engine that does not answer; each with a remedy.
pub async fn run(common: &CommonArgs, command: ImagesCommand) -> Result<Exit, Failure> {
    let config = Config::load(common).map_err(Failure::unusable)?;
    let engine = DockerEngine::connect(config.docker_host.as_deref()).await?;
    let images = Images::new(engine, ImageConfig::default());
    let used = if config.data.exists() {
        // Held until the end: a server at work must not have its images taken away.
        let dir = DataDir::open(&config.data)?;
        last_used(&Store::open(&dir).await?).await?
    } else {
        std::collections::HashMap::new()
    };
    let kept = images.kept(&used).await?;
    match command {
        ImagesCommand::List => list(&kept),
        ImagesCommand::Prune { unused_for } => {
            let days = unused_for.or(config.image_keep_days).ok_or_else(|| {
                Failure::unusable(anyhow::anyhow!("image_keep_days is 0; say how long with --unused-for DAYS"))
            })?;
            let oldest = wall_clock()().0 / 1000 - i64::from(days) * DAY_S;
            let removed = images.prune(kept, |image| days > 0 && image.last_used >= oldest).await;
            removed.iter().for_each(|tag| terminal::line(&format!("removed  {tag}")));
            terminal::line(&format!("{} removed", counted(removed.len() as u64, "image")));
        }
    }
    Ok(Exit::Done)
}

fn list(kept: &[KeptImage]) {
    for image in kept {
        let used = Timestamp(image.last_used.saturating_mul(1000));
        let state = if image.in_use { "in use" } else { "" };
        terminal::line(&format!(
            "{:5}  {:>6} MB  last used {used}  {}  {state}",
            image.kind,
            image.bytes >> 20,
            image.tag
        ));
    }
    terminal::line(&format!("{}; sizes include what images share", counted(kept.len() as u64, "image")));
}
