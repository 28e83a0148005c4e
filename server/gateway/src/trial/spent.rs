//! What an attempt's calls have spent, and whose limit stands in their way.

use domain::usage::TokenUsage;
use tokio::sync::watch;

use super::TrialGateway;
use crate::caps::{CapReached, CapScope, Spent};

impl TrialGateway {
    /// Tokens of all calls; a class that is unknown in one call is unknown, and so is every class while a call is under way.
    #[must_use]
    pub fn usage(&self) -> TokenUsage {
        let state = self.shared.lock();
        if state.let_through > 0 { TokenUsage::UNKNOWN } else { state.ledger.usage() }
    }

    /// List price of all calls; `None` = unknown, as while a call is under way.
    #[must_use]
    pub fn cost(&self) -> Option<f64> {
        let state = self.shared.lock();
        if state.let_through > 0 { None } else { state.ledger.cost() }
    }

    /// How many calls there were, those under way included; what was refused here reached no model.
    #[must_use]
    pub fn calls(&self) -> u64 {
        let state = self.shared.lock();
        state.ledger.calls().saturating_add(self.calls_under_way())
    }

    /// What of its evaluation's budget is used up, so that it could not make one call.
    #[must_use]
    pub fn budget_spent(&self) -> Option<CapReached> {
        let budget = self.shared.ticket.budget.as_ref()?;
        let limit = budget.caps().check(&budget.spent())?;
        Some(CapReached { scope: CapScope::Evaluation, limit })
    }

    /// Which price table that is by: currency and date.
    #[must_use]
    pub fn price_version(&self) -> String {
        self.shared.prices.version()
    }

    /// Tells with each call's begin and end what has been spent, as far as it is known.
    #[must_use]
    pub fn spending(&self) -> watch::Receiver<Spent> {
        self.shared.spent.subscribe()
    }

    /// The cap that made the gateway refuse a call.
    #[must_use]
    pub fn cap_reached(&self) -> Option<CapReached> {
        self.shared.lock().cap_reached
    }
}
