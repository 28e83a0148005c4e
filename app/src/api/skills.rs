//! Skills as pages read them.

use domain::id::SkillId;
use domain::listing::{SkillDetail, SkillListing};
use leptos::prelude::*;
use leptos::server_fn::codec::GetUrl;

use super::SameBuild;
use crate::AppError;

/// All skills, newest version each.
#[server(prefix = "/api", endpoint = "skills", input = GetUrl, client = SameBuild)]
pub async fn skills() -> Result<Vec<SkillListing>, AppError> {
    Ok(super::ops()?.skills().await?)
}

/// One skill with its versions.
#[server(prefix = "/api", endpoint = "skill", input = GetUrl, client = SameBuild)]
pub async fn skill(id: SkillId) -> Result<SkillDetail, AppError> {
    Ok(super::ops()?.skill(id).await?)
}
