//! Makes room by removing images of ours that were not used for longest.

use std::collections::HashMap;

use bollard::query_parameters::{ListImagesOptions, RemoveImageOptions};

use super::{IMAGE_LABEL, Images};
use crate::sandbox::SandboxError;
use crate::sandbox::docker::classify;

impl Images {
    /// Removes our images, and what builds of ours left in the cache, one by one, least recently used first, until `enough` says so or none is left. `last_used` is seconds since
    /// 1970 by tag; an image not in it counts as used when it was made. Images in use stay, and images of others are never touched. Answers
    /// the tags removed.
    ///
    /// # Errors
    /// When the engine does not list images.
    pub async fn prune(
        &self,
        last_used: &HashMap<String, i64>,
        mut enough: impl FnMut() -> bool + Send,
    ) -> Result<Vec<String>, SandboxError> {
        let filters = HashMap::from([("label".to_owned(), vec![IMAGE_LABEL.to_owned()])]);
        let options = ListImagesOptions { filters: Some(filters), ..ListImagesOptions::default() };
        let found =
            self.engine.docker().list_images(Some(options)).await.map_err(|error| classify("list images", error))?;
        let mut candidates: Vec<(i64, String)> = found
            .into_iter()
            .map(|image| {
                let tag = image.repo_tags.into_iter().find(|tag| tag != "<none>:<none>").unwrap_or(image.id);
                (last_used.get(&tag).copied().unwrap_or(image.created), tag)
            })
            .collect();
        candidates.sort();
        let mut removed = Vec::new();
        for (_, tag) in candidates {
            if enough() {
                break;
            }
            match self.engine.docker().remove_image(&tag, None::<RemoveImageOptions>, None).await {
                Ok(_) => removed.push(tag),
                Err(error) => tracing::debug!(%error, tag, "image stays"),
            }
        }
        Ok(removed)
    }
}
