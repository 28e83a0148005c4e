//! The configured upstreams, and the opening of a trial's own gateway.

use std::sync::Arc;

use domain::id::AttemptId;

use crate::caps::Caps;
use crate::retry::RetryPolicy;
use crate::trial::TrialGateway;
use crate::upstream::Upstream;

/// What one attempt may ask for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrialTicket {
    /// The attempt whose calls these are.
    pub attempt: AttemptId,
    /// The evaluation's model.
    pub model: String,
    /// Models that the agent also calls for side jobs, as declared.
    pub side_models: Vec<String>,
    /// Name of the upstream.
    pub upstream: String,
    /// What it may spend.
    pub caps: Caps,
    /// How long trouble upstream is borne.
    pub retry: RetryPolicy,
}

/// All configured upstreams.
#[derive(Clone, Default)]
pub struct Gateway {
    upstreams: Vec<Arc<dyn Upstream>>,
}

/// An upstream that is not configured.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no upstream '{asked}'; configured: {}", if known.is_empty() { "none".to_owned() } else { known.join(", ") })]
pub struct OpenError {
    /// The name asked for.
    pub asked: String,
    /// The names that exist.
    pub known: Vec<String>,
}

impl Gateway {
    /// A gateway to these upstreams; of two with one name the first counts.
    #[must_use]
    pub fn new(upstreams: Vec<Arc<dyn Upstream>>) -> Self {
        Self { upstreams }
    }

    /// The upstream of this name.
    ///
    /// # Errors
    /// [`OpenError`] with the names that exist.
    pub fn upstream(&self, name: &str) -> Result<&Arc<dyn Upstream>, OpenError> {
        let known = || self.upstreams.iter().map(|upstream| upstream.name().to_owned()).collect();
        let found = self.upstreams.iter().find(|upstream| upstream.name() == name);
        found.ok_or_else(|| OpenError { asked: name.to_owned(), known: known() })
    }

    /// Opens the gateway of one attempt.
    ///
    /// # Errors
    /// [`OpenError`] where its upstream is not configured.
    pub fn open(&self, ticket: TrialTicket) -> Result<TrialGateway, OpenError> {
        let upstream = Arc::clone(self.upstream(&ticket.upstream)?);
        Ok(TrialGateway::new(ticket, upstream))
    }
}
