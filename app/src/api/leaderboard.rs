//! The leaderboard as pages read it.

use domain::leaderboard::LeaderboardPage;
#[cfg(feature = "ssr")]
use domain::leaderboard::LeaderboardQuery;
use leptos::prelude::*;
use leptos::server_fn::codec::GetUrl;

use super::SameBuild;
use crate::AppError;

/// One page of the view that a query string asks for.
#[server(prefix = "/api", endpoint = "leaderboard", input = GetUrl, client = SameBuild)]
pub async fn leaderboard(query: String) -> Result<LeaderboardPage, AppError> {
    Ok(super::ops()?.leaderboard(&LeaderboardQuery::parse(&query)).await?)
}
