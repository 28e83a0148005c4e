//! Tasks in lists, one whole task, the answer to adding tasks, and what is asked for when they are audited.

use serde::{Deserialize, Serialize};

use super::{FindingCounts, Refused};
use crate::approval::AskedVariable;
use crate::finding::Finding;
use crate::hash::ContentHash;
use crate::id::{EvaluationId, TaskId};
use crate::task::{Task, TaskLayout};
use crate::task_audit::{AuditReport, AuditStanding};
use crate::time::Timestamp;

/// A task in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskListing {
    /// Its row.
    pub id: TaskId,
    /// Its name.
    pub name: String,
    /// Its files' family.
    pub layout: TaskLayout,
    /// Its address.
    pub version: ContentHash,
    /// Free text.
    pub difficulty: Option<String>,
    /// Free text.
    pub category: Option<String>,
    /// Whether it brings its own solution.
    pub has_oracle: bool,
    /// Names of the skills bundled with it.
    pub bundled_skills: Vec<String>,
    /// From the check.
    pub findings: FindingCounts,
    /// How it stands with its audits.
    #[serde(default)]
    pub audit: AuditStanding,
    /// The folder it was read from.
    pub source: String,
    /// When it came.
    pub created_at: Timestamp,
}

/// A task as its page shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TaskDetail {
    /// The variables of this machine that its verifier asks for.
    #[serde(default)]
    pub asked: Vec<AskedVariable>,
    /// Its row.
    pub id: TaskId,
    /// All of it.
    pub task: Task,
    /// From the check.
    pub findings: Vec<Finding>,
    /// What the newest audit that was carried through says of it; `None` = never audited.
    #[serde(default)]
    pub audit: Option<AuditReport>,
    /// An audit of it that is under way.
    #[serde(default)]
    pub audit_running: Option<EvaluationId>,
    /// The folder it was read from.
    pub source: String,
    /// When it came.
    pub created_at: Timestamp,
}

/// The answer to adding a folder of tasks.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskIntake {
    /// What went in.
    pub accepted: Vec<AcceptedTask>,
    /// What did not, and why.
    pub refused: Vec<Refused>,
    /// About the folder as a whole.
    pub findings: Vec<Finding>,
}

/// A task that went in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AcceptedTask {
    /// Where it lay.
    pub path: String,
    /// Its row.
    pub id: TaskId,
    /// Its name.
    pub name: String,
    /// Its address.
    pub version: ContentHash,
    /// `false` = these very bytes were already there.
    pub is_new: bool,
    /// What the check has to say.
    pub findings: Vec<Finding>,
}

/// What a person asks for when auditing tasks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AuditRequest {
    /// At least one.
    pub tasks: Vec<TaskId>,
    /// Runs of `nop` and of `oracle` on each task, from 1.
    pub repeats: u32,
    /// Trials at the same time.
    pub concurrency: u32,
    /// `None` = drawn.
    pub seed: Option<u64>,
    /// Multiplies the tasks' limits.
    pub timeout_multiplier: f64,
    /// Build images again without the engine's cache.
    pub rebuild_images: bool,
}
