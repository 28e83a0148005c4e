//! Evaluations as pages read them.

use domain::id::EvaluationId;
use domain::listing::{EvaluationListing, LiveEvent};
use domain::report::EvaluationReport;
use leptos::prelude::*;
use leptos::server_fn::codec::GetUrl;
use serde::{Deserialize, Serialize};

use super::SameBuild;
use crate::AppError;
use crate::draft::Draft;

/// An evaluation as its page shows it, live or finished.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EvaluationView {
    /// The numbers so far.
    pub report: EvaluationReport,
    /// The latest events; empty once it is finished.
    pub events: Vec<LiveEvent>,
    /// Pass rates task by task as SVG, for wide and for narrow pages; empty until it is finished.
    pub chart: [String; 2],
    /// What would plan it again; `None` where others ran it.
    pub again: Option<Draft>,
}

/// All evaluations, newest first.
#[server(prefix = "/api", endpoint = "evaluations", input = GetUrl, client = SameBuild)]
pub async fn evaluations() -> Result<Vec<EvaluationListing>, AppError> {
    Ok(super::ops()?.evaluations().await?)
}

/// One evaluation.
#[server(prefix = "/api", endpoint = "evaluation", input = GetUrl, client = SameBuild)]
pub async fn evaluation(id: EvaluationId) -> Result<EvaluationView, AppError> {
    let ops = super::ops()?;
    let mut report = ops.report(id).await?;
    // The page shows no single tests; they would be most of its bytes.
    report.trials.iter_mut().for_each(|trial| trial.tests.clear());
    let (events, chart) = if report.finished {
        let chart = [charts::Width::Wide, charts::Width::Narrow].map(|width| charts::dumbbell(&report, width));
        (Vec::new(), chart)
    } else {
        (ops.live_log(id).await?, [String::new(), String::new()])
    };
    let again = match report.imported {
        None => Some(Draft::of_plan(&ops.planned(id).await?)),
        Some(_) => None,
    };
    Ok(EvaluationView { report, events, chart, again })
}
