//! Recovery is the normal path run again: attempts whose worker is gone are closed as interrupted and their trials step on.

use std::collections::HashSet;

use domain::id::{AttemptId, EvaluationId, TrialId};
use domain::time::Timestamp;
use domain::trial::{Phase, TrialInput, TrialState, interrupted};

use crate::Store;
use crate::error::Result;
use crate::steps;
use crate::trials::{self, TrialRow};

/// An attempt that was closed because its worker is gone.
#[derive(Debug, Clone, PartialEq)]
pub struct ClosedAttempt {
    /// It.
    pub attempt: AttemptId,
    /// The trial.
    pub trial: TrialId,
    /// The evaluation.
    pub evaluation: EvaluationId,
    /// What the trial became: queued anew, or finished where attempts have run out.
    pub state: TrialState,
}

/// An attempt that is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LiveAttempt {
    /// It.
    pub attempt: AttemptId,
    /// The trial.
    pub trial: TrialId,
    /// The evaluation.
    pub evaluation: EvaluationId,
    /// How far it is.
    pub phase: Phase,
    /// Since when it is in that phase.
    pub since: Timestamp,
    /// When it is taken for dead unless renewed.
    pub lease_until: Timestamp,
}

impl Store {
    /// Closes every attempt whose lease is over at `at`, but those of `alive`: whoever sees a worker at work need not guess by the clock,
    /// which leaps when a machine wakes from sleep.
    ///
    /// # Errors
    /// [`crate::StoreError::Busy`], [`crate::StoreError::DiskFull`], [`crate::StoreError::Unreadable`].
    pub async fn close_expired(&self, at: Timestamp, alive: &HashSet<AttemptId>) -> Result<Vec<ClosedAttempt>> {
        self.close_running(at, alive, |_| TrialInput::LeaseChecked { at }).await
    }

    /// Closes every attempt that is under way, whatever its lease: for the start of a program, which owns the data folder and runs
    /// nothing yet.
    ///
    /// # Errors
    /// As [`Store::close_expired`].
    pub async fn close_all_running(&self, at: Timestamp) -> Result<Vec<ClosedAttempt>> {
        self.close_running(at, &HashSet::new(), |attempt| TrialInput::Ended { attempt, verdict: interrupted(), at })
            .await
    }

    /// The attempts that are under way. A container of any other attempt is to be destroyed.
    ///
    /// # Errors
    /// [`crate::StoreError::Busy`], [`crate::StoreError::Unreadable`].
    pub async fn live_attempts(&self) -> Result<Vec<LiveAttempt>> {
        let mut reader = self.reader().acquire().await?;
        let running = trials::running(&mut reader).await?;
        Ok(running.iter().filter_map(live).collect())
    }

    async fn close_running(
        &self,
        at: Timestamp,
        but: &HashSet<AttemptId>,
        input: impl Fn(AttemptId) -> TrialInput,
    ) -> Result<Vec<ClosedAttempt>> {
        let mut change = self.change().await?;
        let mut rows = trials::running(change.db()).await?;
        rows.retain(|row| live(row).is_none_or(|live| !but.contains(&live.attempt)));
        let moved = steps::step_all(&mut change, &rows, at, |row| match live(row) {
            Some(live) => input(live.attempt),
            None => TrialInput::LeaseChecked { at },
        })
        .await?;
        change.commit().await?;
        let closed = moved.into_iter().filter_map(|(place, state)| {
            let LiveAttempt { attempt, trial, evaluation, .. } = live(rows.get(place)?)?;
            Some(ClosedAttempt { attempt, trial, evaluation, state })
        });
        Ok(closed.collect())
    }
}

fn live(row: &TrialRow) -> Option<LiveAttempt> {
    match row.state {
        TrialState::Running { attempt, phase, since, lease_until, .. } => {
            Some(LiveAttempt { attempt, trial: row.id, evaluation: row.evaluation, phase, since, lease_until })
        }
        TrialState::Queued { .. } | TrialState::Finished { .. } => None,
    }
}
