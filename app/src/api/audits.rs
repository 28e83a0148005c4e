//! Audits as pages read them.

use domain::id::{EvaluationId, TaskId};
use domain::listing::{LiveEvent, PairDetail};
use domain::task_audit::AuditReport;
use leptos::prelude::*;
use leptos::server_fn::codec::GetUrl;
use serde::{Deserialize, Serialize};

use super::SameBuild;
use crate::AppError;

/// An audit as its page shows it, live or finished.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AuditView {
    /// What it says so far.
    pub report: AuditReport,
    /// The latest events; empty once it is finished.
    pub events: Vec<LiveEvent>,
}

/// One audit.
#[server(prefix = "/api", endpoint = "audit", input = GetUrl, client = SameBuild)]
pub async fn audit(id: EvaluationId) -> Result<AuditView, AppError> {
    let ops = super::ops()?;
    let mut report = ops.audit(id).await?;
    // The page counts test cases; each is named on its task's page.
    report.tasks.iter_mut().for_each(|task| task.tests.clear());
    let events = if report.finished { Vec::new() } else { ops.live_log(id).await? };
    Ok(AuditView { report, events })
}

/// The runs of `nop` and `oracle` of one task and repeat.
#[server(prefix = "/api", endpoint = "audit_runs", input = GetUrl, client = SameBuild)]
pub async fn audit_runs(audit: EvaluationId, task: TaskId, repeat: u32) -> Result<PairDetail, AppError> {
    Ok(super::ops()?.audit_runs(audit, task, repeat).await?)
}
