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
    pub skills: u32,
    /// Number of tasks.
    pub tasks: u32,
    /// Number of evaluations.
    pub evaluations: u32,
    /// The latest of them, newest first.
    pub latest: Vec<EvaluationListing>,
}

/// How many evaluations the first page lists.
#[cfg(feature = "ssr")]
const LATEST: u32 = 8;

/// The first page.
#[server(prefix = "/api", endpoint = "home", input = GetUrl, client = SameBuild)]
pub async fn home() -> Result<HomeView, AppError> {
    let ops = super::ops()?;
    let counts = ops.counts().await?;
    let latest = ops.evaluations(1, LATEST).await?.evaluations;
    Ok(HomeView { skills: counts.skills, tasks: counts.tasks, evaluations: counts.evaluations, latest })
}
