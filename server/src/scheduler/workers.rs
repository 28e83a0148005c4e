//! The workers under way, each with the attempt that it makes: a worker that panics is known by its task, so that its attempt does not
//! count as under way for ever.

use std::collections::{HashMap, HashSet};

use domain::id::{AttemptId, EvaluationId, TrialId};
use store::Claim;
use tokio::task::{Id, JoinSet};
use tokio_util::sync::CancellationToken;

/// What a worker makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Making {
    pub(super) attempt: AttemptId,
    pub(super) trial: TrialId,
    pub(super) evaluation: EvaluationId,
}

impl Making {
    pub(super) const fn of(claim: &Claim) -> Self {
        Self { attempt: claim.attempt, trial: claim.trial.id, evaluation: claim.trial.evaluation }
    }
}

/// A worker that is no longer under way.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Left<T> {
    /// It came to its end.
    Ended(T),
    /// It panicked, with these words.
    Failed { making: Making, reason: String },
}

/// The workers under way.
pub(super) struct Workers<T> {
    tasks: JoinSet<T>,
    running: HashMap<Id, (Making, CancellationToken)>,
}

impl<T: Send + 'static> Workers<T> {
    pub(super) fn new() -> Self {
        Self { tasks: JoinSet::new(), running: HashMap::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.running.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.running.is_empty()
    }

    /// The attempts under way.
    pub(super) fn attempts(&self) -> HashSet<AttemptId> {
        self.running.values().map(|(making, _)| making.attempt).collect()
    }

    /// Starts one; `cancel` is what it listens to.
    pub(super) fn start(
        &mut self,
        making: Making,
        cancel: CancellationToken,
        work: impl Future<Output = T> + Send + 'static,
    ) {
        let task = self.tasks.spawn(work).id();
        self.running.insert(task, (making, cancel));
    }

    /// Cancels those whose attempt is none of `live`.
    pub(super) fn cancel_but(&self, live: &HashSet<AttemptId>) {
        let others = self.running.values().filter(|(making, _)| !live.contains(&making.attempt));
        others.for_each(|(_, cancel)| cancel.cancel());
    }

    /// The next that is no longer under way; `None` at once where there is none. May be dropped at any time.
    pub(super) async fn next(&mut self) -> Option<Left<T>> {
        loop {
            match self.tasks.join_next_with_id().await? {
                Ok((task, ended)) => {
                    self.running.remove(&task);
                    return Some(Left::Ended(ended));
                }
                Err(error) => {
                    if let Some((making, _)) = self.running.remove(&error.id()) {
                        return Some(Left::Failed { making, reason: error.to_string() });
                    }
                }
            }
        }
    }

    /// Gives all of them up.
    pub(super) async fn shut_down(&mut self) {
        self.tasks.shutdown().await;
        self.running.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_worker_that_panics_is_under_way_no_longer_and_its_attempt_is_told() {
        let making = |n| Making { attempt: AttemptId(n), trial: TrialId(n), evaluation: EvaluationId(1) };
        let mut workers = Workers::new();
        let cancel = CancellationToken::new();
        workers.start(making(1), cancel.clone(), async move {
            cancel.cancelled().await;
            "ended"
        });
        workers.start(making(2), CancellationToken::new(), async { panic!("a bug") });
        match workers.next().await {
            Some(Left::Failed { making: failed, reason }) => {
                assert_eq!(failed, making(2));
                assert!(reason.contains("a bug"), "{reason}");
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(workers.attempts(), HashSet::from([AttemptId(1)]));
        workers.cancel_but(&HashSet::new());
        assert_eq!(workers.next().await, Some(Left::Ended("ended")));
        assert!(workers.is_empty());
        assert_eq!(workers.next().await, None);
    }
}
