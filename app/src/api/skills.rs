//! Skills as pages read them.

use domain::id::SkillId;
use domain::leaderboard::{LeaderboardRow, PublishedSnapshot};
use domain::listing::{SkillDetail, SkillListing};
use leptos::prelude::*;
use leptos::server_fn::codec::GetUrl;
use serde::{Deserialize, Serialize};

use super::SameBuild;
use crate::AppError;

/// A skill as its page shows it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SkillView {
    /// Its versions and files.
    pub skill: SkillDetail,
    /// Its rows of the leaderboard, newest version first.
    pub rows: Vec<LeaderboardRow>,
    /// The latest of them as it was published, and in which snapshot; `None` where it never was.
    pub published: Option<(PublishedSnapshot, LeaderboardRow)>,
    /// How this server was reached, such as `http://127.0.0.1:3000`, for links to be put elsewhere.
    pub origin: String,
}

/// The list of skills, and how much may be uploaded at once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillsView {
    /// All skills.
    pub skills: Vec<SkillListing>,
    /// Largest upload, in bytes.
    pub upload_limit: u64,
}

/// All skills, newest version each.
#[server(prefix = "/api", endpoint = "skills", input = GetUrl, client = SameBuild)]
pub async fn skills() -> Result<SkillsView, AppError> {
    let ops = super::ops()?;
    Ok(SkillsView { skills: ops.skills().await?, upload_limit: ops.choices().upload_limit })
}

/// One skill with its versions and results.
#[server(prefix = "/api", endpoint = "skill", input = GetUrl, client = SameBuild)]
pub async fn skill(id: SkillId) -> Result<SkillView, AppError> {
    let ops = super::ops()?;
    let (skill, rows) = (ops.skill(id).await?, ops.skill_rows(id).await?);
    let published = match rows.first() {
        Some(row) => ops.published_row(&row.record.key).await?,
        None => None,
    };
    Ok(SkillView { skill, rows, published, origin: origin() })
}

/// From the `Host` that the request named; the guard has let in only names of this server.
#[cfg(feature = "ssr")]
fn origin() -> String {
    let parts = use_context::<axum::http::request::Parts>();
    let header = |name: &str| parts.as_ref().and_then(|parts| parts.headers.get(name)?.to_str().ok());
    // A proxy in front that speaks TLS says so.
    let scheme = if header("x-forwarded-proto") == Some("https") { "https" } else { "http" };
    format!("{scheme}://{}", header("host").unwrap_or("localhost"))
}
