//! The leaderboard as pages read it.

#[cfg(feature = "ssr")]
use domain::leaderboard::{DataSet, LeaderboardQuery};
use domain::leaderboard::{LeaderboardPage, PublishedSnapshot};
use leptos::prelude::*;
use leptos::server_fn::codec::GetUrl;
use serde::{Deserialize, Serialize};

use super::{Drawn, SameBuild};
use crate::AppError;

/// One page of a view, and where it stands among what was published.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LeaderboardView {
    /// The rows.
    pub page: LeaderboardPage,
    /// The rows as a drawing; `None` where a table is asked for, or nothing can be drawn.
    pub chart: Option<Drawn>,
    /// The published snapshot that the rows are of; `None` where they are of now.
    pub shown: Option<PublishedSnapshot>,
    /// The newest published snapshot.
    pub newest: Option<PublishedSnapshot>,
}

/// One page of the view that a query string asks for.
#[server(prefix = "/api", endpoint = "leaderboard", input = GetUrl, client = SameBuild)]
pub async fn leaderboard(query: String) -> Result<LeaderboardView, AppError> {
    let (ops, query) = (super::ops()?, LeaderboardQuery::parse(&query));
    let page = ops.leaderboard(&query).await?;
    let snapshots = ops.published_snapshots().await?;
    let shown = |id| snapshots.iter().copied().find(|snapshot| snapshot.id == id);
    Ok(LeaderboardView {
        chart: super::draw_leaderboard::chart(&page),
        shown: match query.data {
            DataSet::Snapshot(id) => shown(id),
            DataSet::Own | DataSet::Paper => None,
        },
        newest: snapshots.first().copied(),
        page,
    })
}

/// All published snapshots, newest first.
#[server(prefix = "/api", endpoint = "published-snapshots", input = GetUrl, client = SameBuild)]
pub async fn published_snapshots() -> Result<Vec<PublishedSnapshot>, AppError> {
    Ok(super::ops()?.published_snapshots().await?)
}
