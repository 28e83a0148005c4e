//! Campaigns: several evaluations started and read together.

use domain::id::{CampaignId, EvaluationId};
use domain::time::Timestamp;
use sqlx::FromRow;

use crate::Store;
use crate::codec::to_u32;
use crate::error::{Result, StoreError};

/// A campaign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CampaignRow {
    /// Its id.
    pub id: CampaignId,
    /// What people call it.
    pub title: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// Number of evaluations in it.
    pub evaluations: u32,
}

#[derive(FromRow)]
struct RawCampaign {
    id: i64,
    title: String,
    created_at: i64,
    evaluations: i64,
}

impl TryFrom<RawCampaign> for CampaignRow {
    type Error = StoreError;

    fn try_from(raw: RawCampaign) -> Result<Self> {
        Ok(Self {
            id: CampaignId(raw.id),
            title: raw.title,
            created_at: Timestamp(raw.created_at),
            evaluations: to_u32("campaigns.evaluations", raw.evaluations)?,
        })
    }
}

macro_rules! select_campaigns {
    ($rest:literal) => {
        concat!(
            "SELECT c.id, c.title, c.created_at, \
             (SELECT count(*) FROM evaluations e WHERE e.campaign_id = c.id) AS evaluations FROM campaigns c ",
            $rest
        )
    };
}

impl Store {
    /// Makes a campaign without evaluations.
    ///
    /// # Errors
    /// [`StoreError::Busy`], [`StoreError::DiskFull`].
    pub async fn create_campaign(&self, title: &str, at: Timestamp) -> Result<CampaignId> {
        let mut change = self.change().await?;
        let id = sqlx::query_scalar("INSERT INTO campaigns (title, created_at) VALUES ($1, $2) RETURNING id")
            .bind(title)
            .bind(at.0)
            .fetch_one(change.db())
            .await?;
        change.commit().await?;
        Ok(CampaignId(id))
    }

    /// Puts an evaluation into a campaign, or (`None`) takes it out of the one it is in.
    ///
    /// # Errors
    /// [`StoreError::NotFound`] if either is not there; [`StoreError::Busy`].
    pub async fn set_campaign(&self, evaluation: EvaluationId, campaign: Option<CampaignId>) -> Result<()> {
        if let Some(campaign) = campaign {
            self.campaign(campaign).await?;
        }
        let mut change = self.change().await?;
        let done = sqlx::query("UPDATE evaluations SET campaign_id = $2 WHERE id = $1")
            .bind(evaluation.0)
            .bind(campaign.map(|campaign| campaign.0))
            .execute(change.db())
            .await?;
        if done.rows_affected() == 0 {
            return Err(StoreError::not_found("evaluation", evaluation));
        }
        change.commit().await
    }

    /// All campaigns, newest first.
    ///
    /// # Errors
    /// [`StoreError::Busy`].
    pub async fn campaigns(&self) -> Result<Vec<CampaignRow>> {
        let rows: Vec<RawCampaign> =
            sqlx::query_as(select_campaigns!("ORDER BY c.id DESC")).fetch_all(self.reader()).await?;
        rows.into_iter().map(TryInto::try_into).collect()
    }

    /// One campaign.
    ///
    /// # Errors
    /// [`StoreError::NotFound`], [`StoreError::Busy`].
    pub async fn campaign(&self, id: CampaignId) -> Result<CampaignRow> {
        let row: Option<RawCampaign> =
            sqlx::query_as(select_campaigns!("WHERE c.id = $1")).bind(id.0).fetch_optional(self.reader()).await?;
        row.ok_or_else(|| StoreError::not_found("campaign", id))?.try_into()
    }
}
