//! What a trial's model may cost, and what it did cost.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use domain::attempt::BlobRef;
use domain::id::EvaluationId;
use domain::order::TrialOrder;
use gateway::{Caps, SharedBudget, Spent, TrialGateway};

use crate::blobs::Blobs;
use crate::sandbox::Redactor;

/// The budgets of evaluations that have one, shared by their trials. An evaluation's first order here says what is spent already.
#[derive(Default)]
pub(super) struct Budgets(Mutex<HashMap<EvaluationId, Arc<SharedBudget>>>);

impl Budgets {
    pub(super) fn of(&self, order: &TrialOrder) -> Option<Arc<SharedBudget>> {
        let limits = &order.settings.spending;
        if !limits.is_of_evaluation() {
            return None;
        }
        let mut budgets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let budget = budgets.entry(order.evaluation).or_insert_with(|| {
            let caps = Caps { tokens: limits.evaluation_tokens, money: limits.evaluation_money, ..Caps::default() };
            let spent = Spent { tokens: order.spent.tokens, money: order.spent.money, ..Spent::default() };
            Arc::new(SharedBudget::new(caps, spent))
        });
        Some(Arc::clone(budget))
    }
}

/// The trial's own limits.
pub(super) fn caps(order: &TrialOrder) -> Caps {
    let settings = &order.settings;
    Caps {
        tokens: settings.token_cap,
        calls: settings.spending.trial_calls,
        money: settings.spending.trial_money,
        time: None,
    }
}

/// Every call as a JSON list, without secrets; `None` = the agent has no gateway.
pub(super) fn calls(gateway: Option<&TrialGateway>, redactor: &Redactor) -> Option<Vec<u8>> {
    let records = serde_json::to_string(&gateway?.records()).ok()?;
    Some(redactor.clean_text(&records).into_bytes())
}

/// Keeps it. Evidence that cannot be kept is missed, and fails no trial.
pub(super) async fn keep(calls: Option<Vec<u8>>, blobs: &dyn Blobs) -> Option<BlobRef> {
    match blobs.put(calls?).await {
        Ok(kept) => Some(kept),
        Err(error) => {
            tracing::warn!(%error, "the record of a trial's model calls could not be kept");
            None
        }
    }
}
