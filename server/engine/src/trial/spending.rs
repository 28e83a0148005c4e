//! What a trial's model may cost, and what it did cost.

use std::collections::HashMap;
use std::convert::Infallible;
use std::future::pending;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use domain::attempt::{AttemptResult, BlobRef};
use domain::id::EvaluationId;
use domain::order::{Happening, TrialOrder};
use domain::spending::Spending;
use gateway::{Caps, SharedBudget, Spent, TrialGateway};
use tokio::sync::watch;
use tokio::time::sleep;

use super::reporter::Reporter;
use crate::blobs::Blobs;
use crate::sandbox::Redactor;

/// The shortest time between two words of what is spent.
const AT_MOST_EVERY: Duration = Duration::from_secs(1);

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
            let caps = Caps {
                tokens: limits.evaluation_tokens,
                money: limits.evaluation_money,
                calls: limits.evaluation_calls,
                time: None,
            };
            let earlier = &order.spent;
            let spent =
                Spent { tokens: earlier.tokens, money: earlier.money, calls: earlier.calls, ..Spent::default() };
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
        time: settings.spending.trial_seconds.map(Duration::from_secs),
    }
}

/// Tells what the attempt has spent when a call of its agent begins or ends, so that it is known should nobody live to tell its end. After
/// many calls at once only the last is told: each is a write.
pub(super) async fn tell(spending: Option<watch::Receiver<Spent>>, reporter: &Reporter) -> Infallible {
    let Some(mut spending) = spending else { return pending().await };
    while spending.changed().await.is_ok() {
        let spent = *spending.borrow_and_update();
        say(&spent, reporter).await;
        sleep(AT_MOST_EVERY).await;
    }
    pending().await
}

/// The same once: the last call may end with the agent.
pub(super) async fn tell_last(gateway: Option<&TrialGateway>, reporter: &Reporter) {
    if let Some(spending) = gateway.map(TrialGateway::spending) {
        let spent = *spending.borrow();
        say(&spent, reporter).await;
    }
}

async fn say(spent: &Spent, reporter: &Reporter) {
    let Spent { tokens, money, calls, uncounted, time: _ } = *spent;
    reporter.say(Happening::Spent { spent: Spending { tokens, money, calls, uncounted } }).await;
}

/// What the wire has counted, into the result.
pub(super) fn count(result: &mut AttemptResult, gateway: &TrialGateway) {
    result.usage = gateway.usage();
    result.cost = gateway.cost();
    result.prices = Some(gateway.price_version());
    result.model_calls = Some(gateway.calls());
}

/// How long the agent may run: its task's limit, or the plan's where that is shorter. An agent whose calls are refused at the plan's gets some time
/// more to end by itself.
pub(super) fn agent_limit(order: &TrialOrder, of_task: Duration, has_gateway: bool) -> Duration {
    const TO_END: Duration = Duration::from_secs(15);
    let of_task = order.settings.multiplied(of_task);
    let more = if has_gateway { TO_END } else { Duration::ZERO };
    let of_plan = order.settings.spending.trial_seconds.map(|seconds| Duration::from_secs(seconds) + more);
    of_plan.map_or(of_task, |of_plan| of_task.min(of_plan))
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

#[cfg(test)]
mod tests {
    use domain::id::AttemptId;
    use domain::time::Timestamp;
    use tokio::sync::mpsc;

    use super::*;
    use crate::trial::EVENTS_AHEAD;

    #[tokio::test(start_paused = true)]
    async fn however_often_it_changes_it_is_told_once_a_second_and_the_newest() {
        let (changes, spending) = watch::channel(Spent::default());
        let (events, mut received) = mpsc::channel(EVENTS_AHEAD);
        let reporter = Reporter::new(AttemptId(1), Arc::new(|| Timestamp(0)), events);
        let calling = async {
            for calls in 1..=1000 {
                changes.send_replace(Spent { calls, ..Spent::default() });
                sleep(Duration::from_millis(5)).await;
            }
            sleep(2 * AT_MOST_EVERY).await;
        };
        tokio::select! {
            () = calling => {}
            never = tell(Some(spending), &reporter) => match never {},
        }
        drop(reporter);
        let mut told = Vec::new();
        while let Some(event) = received.recv().await {
            let Happening::Spent { spent } = event.what else { panic!("{event:?}") };
            told.push(spent.calls);
        }
        assert_eq!((told.first(), told.last()), (Some(&1), Some(&1000)));
        assert!(told.len() <= 7 && told.is_sorted(), "{told:?}");
    }
}
