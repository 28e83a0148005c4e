//! Events: what happened, appended in the transaction in which it took effect. An event's id is its place in the live stream.

use domain::condition::Condition;
use domain::id::{AttemptId, EvaluationId, EventId, TrialId};
use domain::order::{Happening, TrialEvent};
use domain::spending::Spending;
use domain::time::Timestamp;
use domain::trace::TraceStep;
use domain::trial::{Phase, TrialInput, TrialState};
use domain::verdict::Verdict;
use serde::{Deserialize, Serialize};
use sqlx::FromRow;

use crate::change::Change;
use crate::codec::{from_json, to_condition, to_json, to_u32};
use crate::error::{Result, StoreError};
use crate::{Moved, Store, TrialRow, attempts, steps, trials};

/// An event as it is kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredEvent {
    /// Its place: ids grow in the order in which events became visible.
    pub id: EventId,
    /// The evaluation.
    pub evaluation: EvaluationId,
    /// The trial.
    pub trial: TrialId,
    /// Name of the trial's task.
    pub task: String,
    /// The trial's arm.
    pub condition: Condition,
    /// The trial's repeat, from 1.
    pub repeat: u32,
    /// The attempt; `None` if none was under way.
    pub attempt: Option<AttemptId>,
    /// When it happened.
    pub at: Timestamp,
    /// What happened.
    pub what: Recorded,
}

/// The kinds of events that are kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Recorded {
    /// The trial went to this state, whatever brought it there: a claim, a phase, an end, a lease that was over, a cancel.
    Moved {
        /// It.
        state: TrialState,
    },
    /// A piece of output.
    Log {
        /// Whose.
        phase: Phase,
        /// Text, redacted and decoded.
        text: String,
    },
    /// The agent completed a step.
    StepDone {
        /// It.
        step: Box<TraceStep>,
    },
    /// What the attempt had spent when a model call of its agent ended.
    Spent {
        /// In all, as far as it is known.
        spent: Spending,
    },
    /// The executor reported the attempt's end; what it left behind lies in the attempt's row.
    Ended {
        /// As reported.
        verdict: Verdict,
        /// Whether it decided the attempt. Else the attempt had been decided before.
        counted: bool,
    },
}

impl Recorded {
    /// The word used in tables and JSON.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Moved { .. } => "moved",
            Self::Log { .. } => "log",
            Self::StepDone { .. } => "step_done",
            Self::Spent { .. } => "spent",
            Self::Ended { .. } => "ended",
        }
    }
}

#[derive(FromRow)]
struct RawEvent {
    id: i64,
    evaluation_id: i64,
    trial_id: i64,
    task: String,
    condition: String,
    repeat: i64,
    attempt_id: Option<i64>,
    at: i64,
    body: String,
}

impl TryFrom<RawEvent> for StoredEvent {
    type Error = StoreError;

    fn try_from(raw: RawEvent) -> Result<Self> {
        Ok(Self {
            id: EventId(raw.id),
            evaluation: EvaluationId(raw.evaluation_id),
            trial: TrialId(raw.trial_id),
            task: raw.task,
            condition: to_condition("trials.condition", &raw.condition)?,
            repeat: to_u32("trials.repeat", raw.repeat)?,
            attempt: raw.attempt_id.map(AttemptId),
            at: Timestamp(raw.at),
            what: from_json("events.body", &raw.body)?,
        })
    }
}

// What a trial is never changes, so it is read for the events that are asked for and no others.
macro_rules! select_events {
    ($rest:literal) => {
        concat!(
            "SELECT e.id, e.evaluation_id, e.trial_id, k.name AS task, t.condition, t.repeat, e.attempt_id, e.at, e.body \
             FROM events e JOIN trials t ON t.id = e.trial_id JOIN tasks k ON k.id = t.task_id ",
            $rest
        )
    };
}

impl Store {
    /// Takes an executor's event in: what it changes, and its own row, in one transaction. A phase is kept as the move that it makes.
    /// `Moved::No` also where the attempt is not there (any more) or belongs to another trial; nothing is kept then.
    ///
    /// # Errors
    /// [`StoreError::Invalid`] if a reward is no number in 0..=1; [`StoreError::Busy`], [`StoreError::DiskFull`]: nothing was kept, send it again.
    pub async fn record_event(&self, evaluation: EvaluationId, trial: TrialId, event: &TrialEvent) -> Result<Moved> {
        if let Happening::Ended { result } = &event.what {
            attempts::check(result)?;
        }
        let mut change = self.change().await?;
        let row = match trials::of_attempt(change.db(), event.attempt).await? {
            Some(row) if (row.id, row.evaluation) == (trial, evaluation) => row,
            other => {
                let known = other.is_some();
                tracing::warn!(%evaluation, %trial, attempt = %event.attempt, known, "event of another trial or a removed one");
                return Ok(Moved::No);
            }
        };
        let moved = record(&mut change, &row, event).await?;
        change.commit().await?;
        Ok(moved)
    }

    /// At most `limit` events of an evaluation after `after` (0 = from the start), in the order in which they became visible.
    ///
    /// # Errors
    /// [`StoreError::Busy`], [`StoreError::Unreadable`].
    pub async fn events_after(&self, evaluation: EvaluationId, after: EventId, limit: u32) -> Result<Vec<StoredEvent>> {
        let rows: Vec<RawEvent> =
            sqlx::query_as(select_events!("WHERE e.evaluation_id = $1 AND e.id > $2 ORDER BY e.id LIMIT $3"))
                .bind(evaluation.0)
                .bind(after.0)
                .bind(limit)
                .fetch_all(self.reader())
                .await?;
        rows.into_iter().map(TryInto::try_into).collect()
    }

    /// The newest `limit` events of an evaluation, oldest first.
    ///
    /// # Errors
    /// [`StoreError::Busy`], [`StoreError::Unreadable`].
    pub async fn newest_events(&self, evaluation: EvaluationId, limit: u32) -> Result<Vec<StoredEvent>> {
        let mut rows: Vec<RawEvent> =
            sqlx::query_as(select_events!("WHERE e.evaluation_id = $1 ORDER BY e.id DESC LIMIT $2"))
                .bind(evaluation.0)
                .bind(limit)
                .fetch_all(self.reader())
                .await?;
        rows.reverse();
        rows.into_iter().map(TryInto::try_into).collect()
    }

    /// The newest event of an evaluation; 0 = there is none.
    ///
    /// # Errors
    /// [`StoreError::Busy`].
    pub async fn newest_event(&self, evaluation: EvaluationId) -> Result<EventId> {
        let newest: i64 = sqlx::query_scalar("SELECT coalesce(max(id), 0) FROM events WHERE evaluation_id = $1")
            .bind(evaluation.0)
            .fetch_one(self.reader())
            .await?;
        Ok(EventId(newest))
    }

    /// The same for one attempt.
    ///
    /// # Errors
    /// [`StoreError::Busy`], [`StoreError::Unreadable`].
    pub async fn attempt_events_after(
        &self,
        attempt: AttemptId,
        after: EventId,
        limit: u32,
    ) -> Result<Vec<StoredEvent>> {
        let rows: Vec<RawEvent> =
            sqlx::query_as(select_events!("WHERE e.attempt_id = $1 AND e.id > $2 ORDER BY e.id LIMIT $3"))
                .bind(attempt.0)
                .bind(after.0)
                .bind(limit)
                .fetch_all(self.reader())
                .await?;
        rows.into_iter().map(TryInto::try_into).collect()
    }
}

async fn record(change: &mut Change, trial: &TrialRow, event: &TrialEvent) -> Result<Moved> {
    let (attempt, at) = (event.attempt, event.at);
    match &event.what {
        Happening::PhaseReached { phase } => {
            steps::step(change, trial, TrialInput::PhaseReached { attempt, phase: *phase, at }, at).await
        }
        Happening::Log { phase, text } => {
            let log = Recorded::Log { phase: *phase, text: text.clone() };
            append_all(change, &[NewEvent::new(trial, Some(attempt), at, &log)?]).await?;
            Ok(Moved::No)
        }
        Happening::StepDone { step } => {
            let done = Recorded::StepDone { step: step.clone() };
            append_all(change, &[NewEvent::new(trial, Some(attempt), at, &done)?]).await?;
            Ok(Moved::No)
        }
        Happening::Spent { spent } => {
            let spent = Recorded::Spent { spent: *spent };
            append_all(change, &[NewEvent::new(trial, Some(attempt), at, &spent)?]).await?;
            Ok(Moved::No)
        }
        Happening::Ended { result } => {
            let verdict = result.verdict.clone();
            let input = TrialInput::Ended { attempt, verdict: verdict.clone(), at };
            let moved = steps::step(change, trial, input, at).await?;
            attempts::report(change.db(), attempt, result).await?;
            let ended = Recorded::Ended { verdict, counted: moved.is_yes() };
            append_all(change, &[NewEvent::new(trial, Some(attempt), at, &ended)?]).await?;
            Ok(moved)
        }
    }
}

/// An event that is to be appended.
#[derive(Serialize)]
pub(crate) struct NewEvent {
    evaluation: EvaluationId,
    trial: TrialId,
    attempt: Option<AttemptId>,
    at: Timestamp,
    kind: &'static str,
    body: String,
}

impl NewEvent {
    pub(crate) fn new(trial: &TrialRow, attempt: Option<AttemptId>, at: Timestamp, what: &Recorded) -> Result<Self> {
        let body = to_json("event", what)?;
        Ok(Self { evaluation: trial.evaluation, trial: trial.id, attempt, at, kind: what.word(), body })
    }
}

/// Appends events in their order, with one statement, and has their readers woken after the commit.
pub(crate) async fn append_all(change: &mut Change, events: &[NewEvent]) -> Result<()> {
    if events.is_empty() {
        return Ok(());
    }
    let done = sqlx::query(
        "INSERT INTO events (evaluation_id, trial_id, attempt_id, at, kind, body) \
         SELECT n.value ->> 'evaluation', n.value ->> 'trial', n.value ->> 'attempt', n.value ->> 'at', \
         n.value ->> 'kind', n.value ->> 'body' FROM json_each($1) n ORDER BY n.key",
    )
    .bind(to_json("events", events)?)
    .execute(change.db())
    .await?;
    for event in events {
        change.wake_events(event.evaluation, EventId(done.last_insert_rowid()));
    }
    Ok(())
}
