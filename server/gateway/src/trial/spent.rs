//! What an attempt's calls have spent, and whose limit stands in their way.

use domain::usage::TokenUsage;
use tokio::sync::watch;

use super::TrialGateway;
use crate::caps::{CapReached, CapScope, Spent};
use crate::record::{CallOutcome, CallRecord, sum_cost, sum_usage};

impl TrialGateway {
    /// Tokens of all calls; a class that is unknown in one call is unknown, and so is every class while a call is under way.
    #[must_use]
    pub fn usage(&self) -> TokenUsage {
        let state = self.shared.lock();
        if state.let_through > 0 { TokenUsage::UNKNOWN } else { sum_usage(&state.records) }
    }

    /// List price of all calls; `None` = unknown, as while a call is under way.
    #[must_use]
    pub fn cost(&self) -> Option<f64> {
        let state = self.shared.lock();
        if state.let_through > 0 { None } else { sum_cost(&state.records) }
    }

    /// How many calls there were, those under way included; what was refused here reached no model.
    #[must_use]
    pub fn calls(&self) -> u64 {
        let state = self.shared.lock();
        let refused = |record: &&CallRecord| matches!(record.outcome, CallOutcome::Refused { .. });
        let ended = state.records.len() - state.records.iter().filter(refused).count();
        (ended as u64).saturating_add(state.under_way)
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
