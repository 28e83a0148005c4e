//! Pairs as pages read them.

use domain::id::{EvaluationId, TaskId};
use domain::listing::PairDetail;
use leptos::prelude::*;
use leptos::server_fn::codec::GetUrl;

use super::SameBuild;
use crate::AppError;

/// The two trials of one task and repeat.
#[server(prefix = "/api", endpoint = "pair", input = GetUrl, client = SameBuild)]
pub async fn pair(evaluation: EvaluationId, task: TaskId, repeat: u32) -> Result<PairDetail, AppError> {
    Ok(super::ops()?.pair(evaluation, task, repeat).await?)
}
