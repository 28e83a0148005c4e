//! One pair, one attempt, one live event, as pages show them.

use serde::{Deserialize, Serialize};

use super::{TracePage, TraceSize};
use crate::attempt::AttemptResult;
use crate::comparison::Compared;
use crate::condition::{Condition, Pair};
use crate::id::{AttemptId, EvaluationId, EventId, TaskId, TrialId};
use crate::order::Happening;
use crate::report::TrialReport;
use crate::time::Timestamp;

/// One pair as its page shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PairDetail {
    /// The evaluation.
    pub evaluation: EvaluationId,
    /// Its title.
    pub title: String,
    /// The task's row.
    pub task_id: TaskId,
    /// The task's name.
    pub task: String,
    /// From 1.
    pub repeat: u32,
    /// Repeats in all.
    pub repeats: u32,
    /// Whether the model's answers came from a file.
    pub scripted: bool,
    /// What was compared: what the arms are called.
    #[serde(default)]
    pub compared: Compared,
    /// Both arms; `None` where the trial does not exist.
    pub arms: Pair<Option<ArmDetail>>,
    /// Names of the test cases that pass where nothing was done, by the newest audit of this task version; `None` = not audited.
    #[serde(default)]
    pub pass_to_pass: Option<Vec<String>>,
    /// A stretch of both traces, aligned.
    pub traces: TracePage,
    /// The pair before and after this one in the plan: task row and repeat.
    pub previous: Option<(TaskId, u32)>,
    /// The pair after this one.
    pub next: Option<(TaskId, u32)>,
}

/// One arm of a pair.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ArmDetail {
    /// The trial as the report has it.
    pub trial: TrialReport,
    /// All that the last attempt left behind.
    pub result: Option<AttemptResult>,
    /// Every attempt: row, number, verdict in words.
    pub attempts: Vec<AttemptListing>,
    /// How long the record of what the agent did is; `None` where there is none.
    pub trace: Option<TraceSize>,
    /// The agent's output, decoded and capped.
    pub agent_log: String,
    /// The verifier's output, decoded and capped.
    pub verifier_log: String,
}

/// An attempt in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AttemptListing {
    /// Its row.
    pub id: AttemptId,
    /// From 1.
    pub number: u32,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// Verdict word; `None` while it runs.
    pub verdict: Option<String>,
    /// What went wrong.
    pub detail: Option<String>,
}

/// An event of the live stream.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LiveEvent {
    /// Place in the stream.
    pub id: EventId,
    /// Which trial.
    pub trial: TrialId,
    /// Its task.
    pub task: String,
    /// Its arm.
    pub condition: Condition,
    /// From 1.
    pub repeat: u32,
    /// When.
    pub at: Timestamp,
    /// What.
    pub what: Happening,
}
