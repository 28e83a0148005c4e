//! What a user can ask for. Called by pages and by the command line alike, so that they never differ.
//!
//! Starting an evaluation writes rows and nothing else: the scheduler in `server` finds them. This crate never sees the engine.

mod again;
mod analyze;
mod approvals;
mod arms;
mod audits;
mod check;
mod checked_places;
mod early_end;
mod error;
mod estimate;
mod evaluations;
mod export;
mod import;
mod leaderboard;
mod limits;
mod models;
mod noise;
mod pairs;
mod plan;
mod repository;
mod secrets;
mod skills;
mod snapshots;
mod task_sets;
mod tasks;
mod traces;

use std::path::PathBuf;
use std::sync::Arc;

use domain::listing::{AgentChoice, Choices};
use domain::plan::ModelRef;
use domain::time::Timestamp;
use repos::Repositories;
use store::Store;

pub use again::Started;
pub use analyze::{FileAnalysis, analyze_bytes, analyze_file, published_table};
pub use approvals::HostValues;
pub use check::{CheckReport, CheckedSkill, CheckedTask, check};
pub use checked_places::{CheckedPlace, CheckedPlaces};
pub use early_end::{ends_at, may_end_early};
pub use error::{OpsError, Result};
pub use evaluations::LivePage;
pub use export::Export;
pub use leaderboard::{BadgeChoice, BadgeImage, leaderboard_view};
pub use models::Priced;
pub use repository::check_repository;
pub use secrets::Secrets;
pub use skills::Upload;
pub use store::Wanted;

/// Asks what time it is.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// What this server allows and offers.
#[derive(Debug, Clone, Default)]
pub struct OpsConfig {
    /// Agents that can be chosen.
    pub agents: Vec<AgentChoice>,
    /// Models that can be chosen.
    pub models: Vec<ModelRef>,
    /// Upstreams that any model can be asked of by name.
    pub upstreams: Vec<UpstreamChoice>,
    /// Upstreams of the settings that cannot be asked now: name, and what is missing.
    pub unusable_upstreams: Vec<(String, String)>,
    /// Of which models the prices are known.
    pub priced: Priced,
    /// Task folders may be added from below these only; empty = from nowhere.
    pub task_roots: Vec<PathBuf>,
    /// Largest upload, in bytes.
    pub upload_limit: u64,
    /// Values that must not appear in an export, nor in what is imported.
    pub secrets: Secrets,
    /// Looks up the variables of this machine that a verifier may be given.
    pub host_values: HostValues,
    /// Whether variables of this machine are approved by nobody who comes by its pages.
    pub takes_no_approvals: bool,
    /// Where skills in repositories come from; `None` = they are not fetched.
    pub repositories: Option<Repositories>,
}

/// An upstream that is configured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpstreamChoice {
    /// Its name.
    pub name: String,
    /// Whether it answers from a file.
    pub scripted: bool,
}

/// Everything a user can ask for. Clones are cheap.
#[derive(Clone)]
pub struct Ops {
    store: Store,
    clock: Clock,
    config: Arc<OpsConfig>,
    /// Who holds it compares two traces.
    aligning: Arc<tokio::sync::Mutex<()>>,
    last_read: snapshots::LastRead,
    settled: audits::Settled,
}

impl Ops {
    /// The operations on one data folder.
    #[must_use]
    pub fn new(store: Store, clock: Clock, config: OpsConfig) -> Self {
        Self {
            store,
            clock,
            config: Arc::new(config),
            aligning: Arc::default(),
            last_read: Arc::default(),
            settled: audits::Settled::default(),
        }
    }

    /// What can be chosen on this server.
    #[must_use]
    pub fn choices(&self) -> Choices {
        Choices {
            agents: self.config.agents.clone(),
            models: self.config.models.clone(),
            task_roots: self.config.task_roots.iter().map(|root| root.display().to_string()).collect(),
            upload_limit: self.config.upload_limit,
        }
    }

    /// The data folder behind these operations.
    #[must_use]
    pub const fn store(&self) -> &Store {
        &self.store
    }

    fn now(&self) -> Timestamp {
        (self.clock)()
    }
}

/// Runs work that reads many files or hashes much, away from the async threads.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(|fault| {
        OpsError::internal("the program failed at this, by a fault of its own; its log tells more", &fault)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_is_a_fault_of_our_own() {
        assert_eq!(blocking(|| 7).await.ok(), Some(7));
        let fault = blocking(|| Vec::<u8>::new().swap(0, 1)).await;
        assert!(matches!(fault, Err(OpsError::Internal { .. })), "{fault:?}");
    }
}
