//! What was planned before and is asked for again: found, or gone on with, instead of run twice.

use domain::access::Access;
use domain::id::EvaluationId;
use domain::listing::{AuditRequest, PlanRequest};
use domain::plan::EvaluationPlan;
use store::EvaluationRow;

use crate::{Ops, Result};

/// How a request was met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Started {
    /// It is a new one.
    New(EvaluationId),
    /// One of the same plan was not finished, and goes on.
    GoesOn(EvaluationId),
    /// One of the same plan was not finished and had nothing but denials of the model's provider; it is given up for a new one.
    Afresh {
        /// The new one.
        id: EvaluationId,
        /// The one that was given up.
        given_up: EvaluationId,
    },
}

impl Started {
    /// Which it is.
    #[must_use]
    pub const fn id(self) -> EvaluationId {
        match self {
            Self::New(id) | Self::GoesOn(id) | Self::Afresh { id, .. } => id,
        }
    }
}

impl Ops {
    /// Goes on with an evaluation of this plan that was interrupted, whatever its seed where none is asked for, or starts one. One that the model's
    /// provider denied is not gone on with: who asks again has mended the key, and its first trials would stay without a score. For those who own
    /// the data folder alone: elsewhere an unfinished evaluation is somebody's.
    ///
    /// # Errors
    /// As [`Ops::start`].
    pub async fn start_or_go_on(&self, request: &PlanRequest) -> Result<Started> {
        let plan = self.resolve(request).await?;
        self.stored_or_open(plan, request.seed).await
    }

    /// The same with an audit.
    ///
    /// # Errors
    /// As [`Ops::start_audit`].
    pub async fn start_audit_or_go_on(&self, request: &AuditRequest) -> Result<Started> {
        let plan = self.audit_plan(request).await?;
        self.stored_or_open(plan, request.seed).await
    }

    async fn stored_or_open(&self, plan: EvaluationPlan, seed: Option<u64>) -> Result<Started> {
        let is_it = |row: &EvaluationRow| {
            let seed = seed.unwrap_or(row.plan.seed);
            row.plan == EvaluationPlan { seed, ..plan.clone() }
        };
        let mut given_up = None;
        if let Some(EvaluationRow { id, .. }) = self.store.open_evaluations().await?.into_iter().rfind(is_it) {
            if !matches!(self.access(id).await?, Access::Denied { .. }) {
                return Ok(Started::GoesOn(id));
            }
            self.store.request_cancel(id, self.now()).await?;
            given_up = Some(id);
        }
        let id = self.store.create_evaluation(&plan, self.now()).await?;
        Ok(given_up.map_or(Started::New(id), |given_up| Started::Afresh { id, given_up }))
    }

    /// The newest evaluation of the same plan that was not cancelled, finished or not, if there is one.
    ///
    /// # Errors
    /// Storage trouble.
    pub async fn same_plan(&self, plan: &EvaluationPlan) -> Result<Option<EvaluationId>> {
        if let Some(finished) = self.store.find_finished_like(plan).await? {
            return Ok(Some(finished.id));
        }
        let open = self.store.open_evaluations().await?;
        Ok(open.into_iter().rev().find(|row| row.plan == *plan).map(|row| row.id))
    }
}
