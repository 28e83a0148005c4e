//! Pairs as pages read them.

use domain::id::{EvaluationId, TaskId};
use domain::listing::PairDetail;
use leptos::prelude::*;
use leptos::server_fn::codec::GetUrl;
use serde::{Deserialize, Serialize};

use super::SameBuild;
use crate::AppError;

/// A pair as its page shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PairView {
    /// The pair.
    pub pair: PairDetail,
    /// Tokens used up to each step as SVG, for wide and for narrow pages; empty where no step tells any.
    pub chart: [String; 2],
}

/// The two trials of one task and repeat, with a stretch of their traces: those rows that pass the filter named `filter`, `from` on. `view` is the
/// query of the matrix that one came from.
#[server(prefix = "/api", endpoint = "pair", input = GetUrl, client = SameBuild)]
pub async fn pair(
    evaluation: EvaluationId,
    task: TaskId,
    repeat: u32,
    view: String,
    filter: String,
    from: usize,
) -> Result<PairView, AppError> {
    use domain::listing::{RowFilter, TraceView};
    use domain::report::matrix::View;
    let traces = TraceView { filter: RowFilter::of(&filter), from };
    let pair = super::ops()?.pair(evaluation, task, repeat, View::from_query(&view), traces).await?;
    let chart = charts::Width::BOTH.map(|width| charts::tokens_by_step(&pair.traces, width));
    Ok(PairView { pair, chart })
}
