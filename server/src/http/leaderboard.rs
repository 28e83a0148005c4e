//! What of the leaderboard is no page: views and published documents as downloads, and badges for pages of others.

use axum::extract::{Query, RawQuery, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use domain::hash::ContentHash;
use domain::id::SnapshotId;
use formats::export::LeaderboardFormat;
use ops::{BadgeChoice, Ops, OpsError};
use serde::Deserialize;

use super::download::exported;
use super::place::Place;
use super::refusal::Refused;

/// How long a page of others may show a badge without asking again.
const KEPT: HeaderValue = HeaderValue::from_static("public, max-age=300");

/// `/leaderboard/export/{format}`: all rows of the view that the query string asks for.
pub async fn export(
    State(ops): State<Ops>,
    Place(word): Place<String>,
    RawQuery(query): RawQuery,
) -> Result<Response, Refused> {
    let known = || LeaderboardFormat::ALL.map(LeaderboardFormat::word).join(", ");
    let format = LeaderboardFormat::from_word(&word)
        .ok_or_else(|| OpsError::invalid(format!("there is no export format '{word}'; there are: {}", known())))?;
    let query = ops::leaderboard_view(query.as_deref().unwrap_or_default())?;
    exported(ops.export_leaderboard(&query, format).await?)
}

/// `/leaderboard/snapshots/{id}/document`: what a published snapshot's hash names.
pub async fn document(State(ops): State<Ops>, Place(id): Place<SnapshotId>) -> Result<Response, Refused> {
    exported(ops.snapshot_document(id).await?)
}

/// Which row of the skill the badge shows.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Choice {
    model: String,
    agent: String,
    set: String,
}

/// `/badge/{skill}.svg`. A skill that is not here has a grey badge that says so, with status 404.
pub async fn badge(
    State(ops): State<Ops>,
    Place(file): Place<String>,
    Query(choice): Query<Choice>,
    headers: HeaderMap,
) -> Result<Response, Refused> {
    let choice = BadgeChoice { model: choice.model, agent: choice.agent, set: choice.set };
    let skill = file.strip_suffix(".svg").and_then(|id| id.parse().ok());
    let image = ops.badge(skill, &choice).await?;
    let status = if image.known { StatusCode::OK } else { StatusCode::NOT_FOUND };
    let svg = image.svg;
    let tag = format!("\"{}\"", ContentHash::of(svg.as_bytes()).short());
    let known = headers.get(header::IF_NONE_MATCH).and_then(|known| known.to_str().ok());
    let mut response = match known {
        Some(known) if known.split(',').any(|one| one.trim().trim_start_matches("W/") == tag) => {
            StatusCode::NOT_MODIFIED.into_response()
        }
        _ => (status, svg).into_response(),
    };
    let sent = response.headers_mut();
    sent.insert(header::CONTENT_TYPE, HeaderValue::from_static("image/svg+xml"));
    sent.insert(header::CACHE_CONTROL, KEPT);
    // A badge stands on pages of others; a browser would not show it there by the policy of our own pages.
    sent.insert("cross-origin-resource-policy", HeaderValue::from_static("cross-origin"));
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        sent.insert(header::ETAG, tag);
    }
    Ok(response)
}
