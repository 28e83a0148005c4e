//! Makes room on the engine's disk while nothing runs: images of ours that were not used for long go, and where too little is free, those that were
//! not used for longest. An image that is missed is built again.

use std::collections::HashMap;

use domain::time::Timestamp;
use engine::image::{Images, KeptImage};
use store::{Store, StoreError};

use super::Obstacles;

const DAY_S: i64 = 86_400;

/// What may be removed, and when.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    keep_days: Option<u32>,
}

impl Room {
    /// Keeps images for so many days after their last use; `None` = for ever, unless the disk is full.
    #[must_use]
    pub(super) const fn new(keep_days: Option<u32>) -> Self {
        Self { keep_days }
    }

    /// Removes what was not used for long. Answers what went.
    pub(super) async fn tidy(self, store: &Store, images: &Images, now: Timestamp) -> Vec<String> {
        let Some(days) = self.keep_days else { return Vec::new() };
        let oldest = now.0 / 1000 - i64::from(days) * DAY_S;
        let Some(kept) = kept(store, images).await else { return Vec::new() };
        images.prune(kept, |image| image.last_used >= oldest).await
    }

    /// Removes what was not used for longest until the disk's floor is kept.
    pub(super) async fn free(self, store: &Store, images: &Images, obstacles: &Obstacles) -> Vec<String> {
        let Some(kept) = kept(store, images).await else { return Vec::new() };
        images.prune(kept, |_| obstacles.disk().is_none()).await
    }
}

async fn kept(store: &Store, images: &Images) -> Option<Vec<KeptImage>> {
    let used = match last_used(store).await {
        Ok(used) => used,
        Err(error) => {
            tracing::warn!(%error, "no image is removed: it could not be read when they were used");
            return None;
        }
    };
    images.kept(&used).await.map_err(|error| tracing::warn!(%error, "no image is removed")).ok()
}

/// When each image was used last, in seconds since 1970 by id.
///
/// # Errors
/// Storage trouble.
pub async fn last_used(store: &Store) -> Result<HashMap<String, i64>, StoreError> {
    let used = store.images_used().await?;
    Ok(used.into_iter().map(|(image, at)| (image, at.0 / 1000)).collect())
}
