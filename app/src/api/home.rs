//! What the first page reads.

use domain::listing::EvaluationListing;
use leptos::prelude::*;
use leptos::server_fn::codec::GetUrl;
use serde::{Deserialize, Serialize};

use super::SameBuild;
use crate::AppError;

/// How far one has come, and the latest results.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct HomeView {
    /// Number of skills.
    pub skills: u64,
    /// Number of tasks.
    pub tasks: u64,
    /// Number of evaluations.
    pub evaluations: u64,
    /// The latest of them, newest first.
    pub latest: Vec<EvaluationListing>,
}

/// How many evaluations the first page lists.
#[cfg(feature = "ssr")]
const LATEST: usize = 8;

/// The first page.
#[server(prefix = "/api", endpoint = "home", input = GetUrl, client = SameBuild)]
pub async fn home() -> Result<HomeView, AppError> {
    let ops = super::ops()?;
    let evaluations = ops.evaluations().await?;
    Ok(HomeView {
        skills: ops.skills().await?.len() as u64,
        tasks: ops.tasks().await?.len() as u64,
        evaluations: evaluations.len() as u64,
        latest: evaluations.into_iter().take(LATEST).collect(),
    })
}
