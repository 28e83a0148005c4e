//! What a live page can show: an evaluation or an audit.

use std::future::Future;

use domain::id::EvaluationId;
use domain::listing::LiveEvent;
use domain::order::Happening;

use super::state::{After, apply};
use crate::AppError;
use crate::api::{self, AuditView, EvaluationView};

/// Something that is read whole, and changes by events.
pub trait Followed: Clone + Send + Sync + 'static {
    /// Whose events.
    fn id(&self) -> EvaluationId;

    /// Whether nothing more will happen.
    fn is_finished(&self) -> bool;

    /// The latest events that it was read with.
    fn events(&self) -> &[LiveEvent];

    /// Drops them, once they are in the log.
    fn forget_events(&mut self);

    /// Applies an event.
    fn take(&mut self, event: &LiveEvent) -> After;

    /// Reads it anew.
    fn read(id: EvaluationId) -> impl Future<Output = Result<Self, AppError>>;
}

impl Followed for EvaluationView {
    fn id(&self) -> EvaluationId {
        self.report.evaluation_id
    }

    fn is_finished(&self) -> bool {
        self.report.finished
    }

    fn events(&self) -> &[LiveEvent] {
        &self.events
    }

    fn forget_events(&mut self) {
        self.events.clear();
    }

    fn take(&mut self, event: &LiveEvent) -> After {
        apply(&mut self.report, event)
    }

    fn read(id: EvaluationId) -> impl Future<Output = Result<Self, AppError>> {
        api::evaluation(id)
    }
}

impl Followed for AuditView {
    fn id(&self) -> EvaluationId {
        self.report.audit_id
    }

    fn is_finished(&self) -> bool {
        self.report.finished
    }

    fn events(&self) -> &[LiveEvent] {
        &self.events
    }

    fn forget_events(&mut self) {
        self.events.clear();
    }

    fn take(&mut self, event: &LiveEvent) -> After {
        match &event.what {
            Happening::PhaseReached { phase } => {
                let run =
                    self.report.tasks.iter_mut().flat_map(|task| &mut task.runs).find(|run| run.trial == event.trial);
                if let Some(run) = run.filter(|run| run.verdict.is_none()) {
                    run.state = phase.word().to_owned();
                }
                After::Nothing
            }
            Happening::Ended { .. } => After::Refresh,
            Happening::Log { .. } | Happening::StepDone { .. } | Happening::Spent { .. } => After::Nothing,
        }
    }

    fn read(id: EvaluationId) -> impl Future<Output = Result<Self, AppError>> {
        api::audit(id)
    }
}
