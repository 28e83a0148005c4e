//! The one way in which a trial's state changes: a step of the domain's state machine, applied as a compare-and-set on the row, with all that
//! follows from it in the same transaction.

use std::collections::{BTreeMap, BTreeSet};

use domain::id::{AttemptId, EvaluationId};
use domain::time::Timestamp;
use domain::trial::{RetryWait, Step, TrialInput, TrialState, interrupted};
use domain::verdict::Verdict;
use serde::Serialize;
use sqlx::SqliteConnection;

use crate::TrialRow;
use crate::attempts;
use crate::change::Change;
use crate::codec::to_json;
use crate::error::Result;
use crate::events::{self, NewEvent, Recorded};

/// Whether an input moved a trial.
#[derive(Debug, Clone, PartialEq)]
pub enum Moved {
    /// To this state.
    Yes(TrialState),
    /// It came too late, or is about another attempt. Not an error.
    No,
}

impl Moved {
    /// Whether it did.
    #[must_use]
    pub const fn is_yes(&self) -> bool {
        matches!(self, Self::Yes(_))
    }
}

/// Applies an input to one trial.
pub(crate) async fn step(change: &mut Change, trial: &TrialRow, input: TrialInput, at: Timestamp) -> Result<Moved> {
    let moved = step_all(change, std::slice::from_ref(trial), at, |_| input.clone()).await?;
    Ok(moved.into_values().next().map_or(Moved::No, Moved::Yes))
}

/// Applies an input to each of many trials, with a fixed number of statements for all that wait; answers the new states by place in `trials`.
/// Attempts that end are closed, the moves are told to live readers, and an evaluation is finished with its last trial.
pub(crate) async fn step_all(
    change: &mut Change,
    trials: &[TrialRow],
    at: Timestamp,
    input: impl Fn(&TrialRow) -> TrialInput,
) -> Result<BTreeMap<usize, TrialState>> {
    let retry_wait = change.retry_wait();
    let mut moves = Vec::new();
    for (place, trial) in trials.iter().enumerate() {
        moves.extend(Move::of(place, trial, input(trial), retry_wait));
    }
    let won = compare_and_set(change.db(), &moves).await?;
    moves.retain(|moved| won.contains(&moved.trial.id.0));
    for moved in &moves {
        if let (Some(attempt), Some(verdict)) = (moved.before, &moved.closes) {
            attempts::close(change.db(), attempt, verdict, at).await?;
            change.wake_queue();
        }
    }
    let told = moves.iter().filter(|moved| !moved.is_renewal);
    let told: Vec<_> = told.map(|moved| moved.event(at)).collect::<Result<_>>()?;
    events::append_all(change, &told).await?;
    if finish_evaluations(change.db(), &moves, at).await? {
        change.wake_finished();
    }
    Ok(moves.into_iter().map(|moved| (moved.place, moved.next)).collect())
}

/// A step that a trial is to take.
struct Move<'a> {
    place: usize,
    trial: &'a TrialRow,
    next: TrialState,
    /// The attempt that runs before the step.
    before: Option<AttemptId>,
    /// The verdict with which the step ends it.
    closes: Option<Verdict>,
    is_renewal: bool,
}

impl<'a> Move<'a> {
    fn of(place: usize, trial: &'a TrialRow, input: TrialInput, retry_wait: RetryWait) -> Option<Self> {
        let closes = match &input {
            TrialInput::Ended { verdict, .. } => Some(verdict.clone()),
            TrialInput::LeaseChecked { .. } => Some(interrupted()),
            TrialInput::CancelRequested { .. } => Some(Verdict::Cancelled),
            TrialInput::Claimed { .. } | TrialInput::PhaseReached { .. } | TrialInput::LeaseRenewed { .. } => None,
        };
        let is_renewal = matches!(input, TrialInput::LeaseRenewed { .. });
        match trial.state.step(input, trial.allowance, retry_wait) {
            Step::Moved(next) => {
                Some(Self { place, trial, next, before: running_attempt(&trial.state), closes, is_renewal })
            }
            Step::Ignored => None,
        }
    }

    fn event(&self, at: Timestamp) -> Result<NewEvent> {
        let attempt = self.before.or(running_attempt(&self.next));
        NewEvent::new(self.trial, attempt, at, &Recorded::Moved { state: self.next.clone() })
    }

    fn columns(&self) -> Result<Columns> {
        let (id, revision) = (self.trial.id.0, self.trial.revision);
        let mut columns = Columns { id, revision, state: self.next.word(), ..Columns::default() };
        columns.attempts = self.next.attempts();
        match &self.next {
            TrialState::Queued { not_before, .. } => columns.not_before = not_before.map(|at| at.0),
            TrialState::Running { attempt, since, lease_until, .. } => {
                columns.attempt_id = Some(attempt.0);
                columns.since = Some(since.0);
                columns.lease_until = Some(lease_until.0);
            }
            TrialState::Finished { verdict, at, .. } => {
                columns.verdict = Some(to_json("verdict", verdict)?);
                columns.finished_at = Some(at.0);
            }
        }
        Ok(columns)
    }
}

const fn running_attempt(state: &TrialState) -> Option<AttemptId> {
    match state {
        TrialState::Running { attempt, .. } => Some(*attempt),
        TrialState::Queued { .. } | TrialState::Finished { .. } => None,
    }
}

/// A state as the columns of its row; `id` and `revision` say which row it may replace.
#[derive(Default, Serialize)]
struct Columns {
    id: i64,
    revision: i64,
    state: &'static str,
    attempts: u32,
    attempt_id: Option<i64>,
    since: Option<i64>,
    lease_until: Option<i64>,
    not_before: Option<i64>,
    verdict: Option<String>,
    finished_at: Option<i64>,
}

/// Answers the ids of the trials that still were as they were read.
async fn compare_and_set(db: &mut SqliteConnection, moves: &[Move<'_>]) -> Result<BTreeSet<i64>> {
    let rows: Vec<Columns> = moves.iter().map(Move::columns).collect::<Result<_>>()?;
    let won: Vec<i64> = sqlx::query_scalar(
        "UPDATE trials SET state = n.value ->> 'state', attempts = n.value ->> 'attempts', \
         attempt_id = n.value ->> 'attempt_id', since = n.value ->> 'since', lease_until = n.value ->> 'lease_until', \
         not_before = n.value ->> 'not_before', \
         verdict = n.value ->> 'verdict', finished_at = n.value ->> 'finished_at', revision = revision + 1 \
         FROM json_each($1) n WHERE trials.id = n.value ->> 'id' AND trials.revision = n.value ->> 'revision' \
         RETURNING trials.id",
    )
    .bind(to_json("trial states", &rows)?)
    .fetch_all(db)
    .await?;
    Ok(won.into_iter().collect())
}

/// Whether any was finished by it.
async fn finish_evaluations(db: &mut SqliteConnection, moves: &[Move<'_>], at: Timestamp) -> Result<bool> {
    let decided = moves.iter().filter(|moved| moved.next.verdict().is_some());
    let evaluations: BTreeSet<EvaluationId> = decided.map(|moved| moved.trial.evaluation).collect();
    let mut finished = 0;
    for evaluation in evaluations {
        let done = sqlx::query(
            "UPDATE evaluations SET finished_at = $2 WHERE id = $1 AND finished_at IS NULL \
             AND NOT EXISTS (SELECT 1 FROM trials WHERE evaluation_id = $1 AND state <> 'finished')",
        )
        .bind(evaluation.0)
        .bind(at.0)
        .execute(&mut *db)
        .await?;
        finished += done.rows_affected();
    }
    Ok(finished > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Store;

    /// A trial with as little around it as the schema allows.
    async fn trial(store: &Store) -> TrialRow {
        let mut change = store.change().await.unwrap();
        for sql in [
            "INSERT INTO tasks VALUES (5, 't', printf('%064d', 0), 'skillsbench-1.0', '{}', '[]', '', 0)",
            "INSERT INTO evaluations (id, plan, plan_key, concurrency, max_attempts, created_at) VALUES (6, '{}', '', 1, 3, 0)",
            "INSERT INTO trials (id, evaluation_id, position, task_id, condition, repeat, state, attempts, revision) \
             VALUES (7, 6, 0, 5, 'no-skill', 1, 'queued', 0, 0)",
        ] {
            sqlx::query(sql).execute(change.db()).await.unwrap();
        }
        change.commit().await.unwrap();
        store.trial(domain::id::TrialId(7)).await.unwrap()
    }

    #[tokio::test]
    async fn who_read_the_row_before_another_wrote_it_has_lost() {
        let store = Store::temp().await.unwrap();
        let read = trial(&store).await;
        let at = Timestamp(9);
        let cancel = TrialInput::CancelRequested { at };
        let mut change = store.change().await.unwrap();
        assert!(step(&mut change, &read, cancel.clone(), at).await.unwrap().is_yes());
        assert_eq!(step(&mut change, &read, cancel, at).await.unwrap(), Moved::No);
        change.commit().await.unwrap();
        let now = store.trial(read.id).await.unwrap();
        assert_eq!((now.revision, now.state.word()), (read.revision + 1, "finished"));
        assert_eq!(store.events_after(read.evaluation, domain::id::EventId(0), 9).await.unwrap().len(), 1);
    }
}
