//! The configured upstreams, and the opening of a trial's own gateway.

use std::sync::Arc;

use domain::id::AttemptId;

use crate::caps::{Caps, SharedBudget};
use crate::prices::PriceTable;
use crate::retry::RetryPolicy;
use crate::trial::TrialGateway;
use crate::upstream::Upstream;

/// Whether the provider may search, fetch, run code or call remote servers by itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ProviderTools {
    /// No: the trial's network is closed, and these would be a way out of it.
    #[default]
    Refused,
    /// Yes: the trial may reach out by itself as well.
    Allowed,
}

/// What one attempt may ask for.
#[derive(Debug, Clone)]
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
    /// What its evaluation may spend.
    pub budget: Option<Arc<SharedBudget>>,
    /// How long trouble upstream is borne.
    pub retry: RetryPolicy,
    /// Whether the provider may reach out.
    pub provider_tools: ProviderTools,
    /// What the trial is (task, condition, repeat), alike in each run of the same plan: where its recorded answers are found again.
    pub lane: String,
    /// Texts to look for in what the agent program tells the model; see [`TrialGateway::sighted`].
    pub watch: Vec<String>,
    /// Texts to look for wherever a request may hold them, answers of tools included; see [`TrialGateway::sighted_anywhere`].
    pub watch_anywhere: Vec<String>,
    /// Whole texts whose share of each request is measured; see [`TrialGateway::skill_text`].
    pub measure: Vec<String>,
}

impl TrialTicket {
    /// A ticket for one model, with no caps, the usual patience, and the provider's own tools refused.
    #[must_use]
    pub fn new(attempt: AttemptId, model: impl Into<String>, upstream: impl Into<String>) -> Self {
        Self {
            attempt,
            model: model.into(),
            side_models: Vec::new(),
            upstream: upstream.into(),
            caps: Caps::default(),
            budget: None,
            retry: RetryPolicy::default(),
            provider_tools: ProviderTools::default(),
            lane: String::new(),
            watch: Vec::new(),
            watch_anywhere: Vec::new(),
            measure: Vec::new(),
        }
    }

    /// Every model that may be asked for.
    pub(crate) fn models(&self) -> impl Iterator<Item = &String> {
        std::iter::once(&self.model).chain(&self.side_models)
    }
}

/// All configured upstreams.
#[derive(Clone, Default)]
pub struct Gateway {
    upstreams: Vec<Arc<dyn Upstream>>,
    prices: Arc<PriceTable>,
    retry: RetryPolicy,
}

/// Why an attempt cannot have a gateway.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// An upstream that is not configured.
    #[error("there is no upstream '{asked}'; configured: {}", if known.is_empty() { "none".to_owned() } else { known.join(", ") })]
    NoUpstream {
        /// The name asked for.
        asked: String,
        /// The names that exist.
        known: Vec<String>,
    },
    /// A cap on money for a model whose price is not known.
    #[error(
        "there is a cap on money, but the price of model '{model}' is not known; add it to the price table, or cap the tokens instead"
    )]
    NoPrice {
        /// The model.
        model: String,
    },
}

impl Gateway {
    /// A gateway to these upstreams with the bundled prices; of two upstreams with one name the first counts.
    #[must_use]
    pub fn new(upstreams: Vec<Arc<dyn Upstream>>) -> Self {
        Self { upstreams, prices: Arc::new(PriceTable::bundled()), retry: RetryPolicy::default() }
    }

    /// The same with other prices.
    #[must_use]
    pub fn with_prices(self, prices: PriceTable) -> Self {
        Self { prices: Arc::new(prices), ..self }
    }

    /// The same with another patience.
    #[must_use]
    pub fn with_retry(self, retry: RetryPolicy) -> Self {
        Self { retry, ..self }
    }

    /// How long trouble upstream is to be borne by attempts.
    #[must_use]
    pub const fn retry(&self) -> RetryPolicy {
        self.retry
    }

    /// The prices in force.
    #[must_use]
    pub fn prices(&self) -> &PriceTable {
        &self.prices
    }

    /// The upstream of this name.
    ///
    /// # Errors
    /// [`OpenError::NoUpstream`] with the names that exist.
    pub fn upstream(&self, name: &str) -> Result<&Arc<dyn Upstream>, OpenError> {
        let known = || self.upstreams.iter().map(|upstream| upstream.name().to_owned()).collect();
        let found = self.upstreams.iter().find(|upstream| upstream.name() == name);
        found.ok_or_else(|| OpenError::NoUpstream { asked: name.to_owned(), known: known() })
    }

    /// Opens the gateway of one attempt.
    ///
    /// # Errors
    /// [`OpenError`] where its upstream is not configured, or a cap on money cannot be kept.
    pub fn open(&self, ticket: TrialTicket) -> Result<TrialGateway, OpenError> {
        let upstream = Arc::clone(self.upstream(&ticket.upstream)?);
        let shared_money = ticket.budget.as_ref().and_then(|budget| budget.caps().money);
        if ticket.caps.money.or(shared_money).is_some()
            && let Some(model) = ticket.models().find(|model| !self.prices.knows(model))
        {
            return Err(OpenError::NoPrice { model: model.clone() });
        }
        Ok(TrialGateway::new(ticket, upstream, Arc::clone(&self.prices)))
    }
}
