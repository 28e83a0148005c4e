//! Evaluations as pages read them.

use domain::condition::Pair;
use domain::id::EvaluationId;
use domain::listing::{EvaluationsPage, LiveEvent};
use domain::report::matrix::MatrixPage;
#[cfg(feature = "ssr")]
use domain::report::matrix::View;
use domain::report::{EvaluationReport, LeftOut};
use leptos::prelude::*;
use leptos::server_fn::codec::GetUrl;
use serde::{Deserialize, Serialize};

use super::SameBuild;
#[cfg(feature = "ssr")]
use super::draw;
use crate::AppError;
use crate::draft::Draft;

/// An evaluation as its page shows it, live or finished.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EvaluationView {
    /// The numbers so far. Once it is finished it is without its tasks and trials: those are read page by page with [`matrix`].
    pub report: EvaluationReport,
    /// What is not in its Δ; empty until it is finished.
    pub left_out: LeftOut,
    /// The latest events; empty once it is finished.
    pub events: Vec<LiveEvent>,
    /// What is drawn of it; empty until it is finished.
    pub charts: ResultCharts,
    /// Whether a trial left a patch.
    pub has_patches: bool,
    /// What would plan it again; `None` where others ran it.
    pub again: Option<Draft>,
}

/// A chart for wide and for narrow pages.
pub type Drawn = [String; 2];

/// The drawings of a result, as SVG.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResultCharts {
    /// Pass rates task by task.
    pub dumbbell: Option<Drawn>,
    /// Δ by group of tasks; only where there are several.
    pub forest: Option<Drawn>,
    /// Δ against ρ; only where tokens are known.
    pub quadrant: Option<Drawn>,
    /// Tokens of the trials, arm by arm; only where they are known.
    pub tokens: Option<Drawn>,
    /// Quartiles of those tokens: least, quarter, half, three quarters, most.
    pub token_quartiles: Pair<Option<[u64; 5]>>,
}

/// How many evaluations stand on a page.
#[cfg(feature = "ssr")]
const PAGE: u32 = 50;

/// A page of all evaluations, newest first.
#[server(prefix = "/api", endpoint = "evaluations", input = GetUrl, client = SameBuild)]
pub async fn evaluations(page: u32) -> Result<EvaluationsPage, AppError> {
    Ok(super::ops()?.evaluations(page, PAGE).await?)
}

/// One evaluation.
#[server(prefix = "/api", endpoint = "evaluation", input = GetUrl, client = SameBuild)]
pub async fn evaluation(id: EvaluationId) -> Result<EvaluationView, AppError> {
    let ops = super::ops()?;
    let mut report = ops.report(id).await?;
    // The page shows no single tests; they would be most of its bytes.
    report.trials.iter_mut().for_each(|trial| trial.tests.clear());
    let again = match report.imported {
        None => Some(Draft::of_plan(&ops.planned(id).await?)),
        Some(_) => None,
    };
    let has_patches = report.trials.iter().filter_map(|trial| trial.patch).any(|patch| patch.file.is_some());
    if !report.finished {
        let (left_out, charts) = (LeftOut::default(), ResultCharts::default());
        return Ok(EvaluationView { events: ops.live_log(id).await?, report, left_out, charts, has_patches, again });
    }
    let (left_out, charts) = (LeftOut::of(&report), draw::charts(&report));
    report.trials.clear();
    report.tasks.clear();
    Ok(EvaluationView { report, left_out, events: Vec::new(), charts, has_patches, again })
}

/// One page of the paired matrix; `view` is the query of its address.
#[server(prefix = "/api", endpoint = "matrix", input = GetUrl, client = SameBuild)]
pub async fn matrix(id: EvaluationId, view: String) -> Result<MatrixPage, AppError> {
    Ok(super::ops()?.matrix(id, View::from_query(&view)).await?)
}
