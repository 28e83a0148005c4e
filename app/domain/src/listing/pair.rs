//! One pair, one attempt, one live event, as pages show them.

use serde::{Deserialize, Serialize};

use super::{TracePage, TraceSize};
use crate::attempt::AttemptResult;
use crate::comparison::Compared;
use crate::condition::{Condition, Pair};
use crate::demonstration::Demonstration;
use crate::id::{AttemptId, EvaluationId, EventId, TaskId, TrialId};
use crate::model_call::ModelCalls;
use crate::order::Happening;
use crate::report::TrialReport;
use crate::report::matrix::View;
use crate::spending::Spending;
use crate::time::Timestamp;
use crate::trace::{ToolKind, Trace};

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
    /// Why it is no measurement, if it is none.
    #[serde(default)]
    pub demonstration: Option<Demonstration>,
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
    /// What is looked at, and so which pairs are the previous and the next one.
    pub view: View,
    /// Place among the pairs that are looked at, from 1; `None` where this one is not among them.
    pub place: Option<usize>,
    /// How many pairs are looked at.
    pub of: usize,
    /// The pair before this one among them: task row and repeat.
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
    /// The calls to its model; `None` where none were seen.
    pub calls: Option<ModelCalls>,
    /// Files of the skill that were read, in the order of the trace's steps (from 1); those that no step names stand last.
    pub files_read: Vec<(String, Option<usize>)>,
    /// How long the record of what the agent did is; `None` where there is none.
    pub trace: Option<TraceSize>,
    /// The agent's output, decoded and capped.
    pub agent_log: String,
    /// The verifier's output, decoded and capped.
    pub verifier_log: String,
}

/// An attempt in a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
    /// What it had told of its spending before an end that nobody reported.
    #[serde(default)]
    pub told: Option<Spending>,
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

/// The file that opening a skill reads.
const MANIFEST: &str = "SKILL.md";

/// Files of a skill in the order in which the agent came to them, each with its step (from 1). Those that no step names stand last.
#[must_use]
pub fn files_in_order(files: &[String], trace: Option<&Trace>) -> Vec<(String, Option<usize>)> {
    let step_of = |file: &String| {
        let mut steps = trace?.steps.iter().zip(1..);
        let (folder, name) = file.rsplit_once('/')?;
        let folder = folder.rsplit('/').next().unwrap_or(folder);
        let is_named = |arguments: &serde_json::Value, tool: ToolKind| {
            let text = arguments.to_string();
            let opens = tool == ToolKind::Skill && name == MANIFEST && text.contains(folder);
            opens || text.contains(file.as_str()) || text.contains(name)
        };
        steps
            .find(|(step, _)| step.calls.iter().any(|call| is_named(&call.arguments, call.tool)))
            .map(|(_, number)| number)
    };
    let mut files: Vec<(String, Option<usize>)> = files.iter().map(|file| (file.clone(), step_of(file))).collect();
    files.sort_by_key(|(_, step)| step.unwrap_or(usize::MAX));
    files
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Source, ToolCall, TraceStep};

    fn step(tool: ToolKind, arguments: serde_json::Value) -> TraceStep {
        let call = ToolCall { id: String::new(), tool, name: String::new(), arguments, result: None };
        TraceStep { calls: vec![call], ..TraceStep::said(Source::Agent, "") }
    }

    #[test]
    fn files_stand_in_the_order_of_their_steps() {
        let trace = Trace {
            steps: vec![
                TraceStep::said(Source::User, "do"),
                step(ToolKind::Skill, serde_json::json!({ "skill": "books" })),
                step(ToolKind::Shell, serde_json::json!({ "command": "cd /s/books && cat references/seal.md" })),
            ],
        };
        let files = ["/s/books/references/seal.md", "/s/books/SKILL.md", "/s/books/never.md"].map(str::to_owned);
        let order: Vec<(String, Option<usize>)> = files_in_order(&files, Some(&trace));
        let expected =
            [("/s/books/SKILL.md", Some(2)), ("/s/books/references/seal.md", Some(3)), ("/s/books/never.md", None)];
        assert_eq!(order, expected.map(|(file, step)| (file.to_owned(), step)));
    }
}
