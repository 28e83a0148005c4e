//! Makes room on the disks while nothing runs: events that only live pages needed go, images of ours and fetched commits that were not used for
//! long, and where too little is free, those that were not used for longest. What is missed is built, or fetched, again.

use std::collections::HashMap;
use std::ops::AddAssign;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use domain::time::Timestamp;
use engine::image::{Images, KeptImage};
use repos::Repositories;
use store::{Store, StoreError};

use super::{Limits, Obstacles};

const DAY_S: i64 = 86_400;
/// A commit that was used since stays, even where the disk is full: somebody may still read it.
const STILL_READ: Duration = Duration::from_secs(3600);

/// What may be removed, and when.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    limits: Limits,
}

/// How much was removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Removed {
    pub(super) images: usize,
    pub(super) commits: usize,
    pub(super) events: u64,
}

impl AddAssign for Removed {
    fn add_assign(&mut self, more: Self) {
        self.images += more.images;
        self.commits += more.commits;
        self.events += more.events;
    }
}

impl Room {
    /// Keeps images and commits for as many days after their last use as the limits say, unless the disk is full.
    #[must_use]
    pub(super) const fn new(limits: Limits) -> Self {
        Self { limits }
    }

    /// Removes what was not used for long.
    pub(super) async fn tidy(
        self,
        store: &Store,
        images: &Images,
        repositories: &Repositories,
        now: Timestamp,
    ) -> Removed {
        let mut removed = Removed { events: pruned_events(store).await, ..Removed::default() };
        if let Some(days) = self.limits.image_days
            && let Some(kept) = kept(store, images).await
        {
            let oldest = now.0 / 1000 - i64::from(days) * DAY_S;
            removed.images = images.prune(kept, |image| image.last_used >= oldest).await.len();
        }
        if let Some(days) = self.limits.repository_days {
            let age = Duration::from_secs(u64::from(days) * DAY_S.unsigned_abs());
            removed.commits = pruned(repositories, now, age, || true).await;
        }
        removed
    }

    /// Removes what was not used for longest until the disk's floor is kept.
    pub(super) async fn free(
        self,
        store: &Store,
        images: &Images,
        repositories: &Repositories,
        obstacles: &Obstacles,
        now: Timestamp,
    ) -> Removed {
        let commits = pruned(repositories, now, STILL_READ, || obstacles.disk().is_some()).await;
        let images = match kept(store, images).await {
            Some(kept) => images.prune(kept, |_| obstacles.disk().is_none()).await.len(),
            None => 0,
        };
        Removed { images, commits, events: 0 }
    }
}

/// Removes commits that were not used for `age`, while `wanted` says so.
async fn pruned(repositories: &Repositories, now: Timestamp, age: Duration, wanted: impl Fn() -> bool + Send) -> usize {
    let now = UNIX_EPOCH + Duration::from_millis(u64::try_from(now.0).unwrap_or(0));
    let oldest = now.checked_sub(age).unwrap_or(SystemTime::UNIX_EPOCH);
    match repositories.prune(oldest, wanted).await {
        Ok(gone) => gone.len(),
        Err(error) => {
            tracing::warn!(%error, "no further commit is removed");
            0
        }
    }
}

async fn pruned_events(store: &Store) -> u64 {
    store.prune_events().await.unwrap_or_else(|error| {
        tracing::warn!(%error, "events of finished evaluations stay for now");
        0
    })
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
