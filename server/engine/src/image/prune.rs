//! Makes room by removing images of ours that were not used for longest. An image that is missed is built again.

use std::collections::{HashMap, HashSet};

use bollard::query_parameters::{ListContainersOptions, ListImagesOptions, RemoveImageOptions};

use super::{IMAGE_LABEL, Images};
use crate::sandbox::SandboxError;
use crate::sandbox::docker::classify;

/// An image of ours on the engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptImage {
    /// Its name; its id where it has none.
    pub tag: String,
    /// `sha256:…`.
    pub id: String,
    /// `task`, `base`, or `cache`.
    pub kind: String,
    /// Bytes, those that it shares with other images included.
    pub bytes: u64,
    /// When it was used last, in seconds since 1970; when it was made, where nothing is known.
    pub last_used: i64,
    /// Whether a container is there that was made from it.
    pub in_use: bool,
}

impl Images {
    /// Our images, and what builds of ours left in the cache, least recently used first. `last_used` is seconds since 1970 by tag or id.
    ///
    /// # Errors
    /// When the engine does not list images or containers.
    pub async fn kept(&self, last_used: &HashMap<String, i64>) -> Result<Vec<KeptImage>, SandboxError> {
        let filters = HashMap::from([("label".to_owned(), vec![IMAGE_LABEL.to_owned()])]);
        let options = ListImagesOptions { filters: Some(filters), ..ListImagesOptions::default() };
        let found =
            self.engine.docker().list_images(Some(options)).await.map_err(|error| classify("list images", error))?;
        let in_use = self.in_use().await?;
        let mut kept: Vec<KeptImage> = found
            .into_iter()
            .map(|image| {
                let tag = image.repo_tags.iter().find(|tag| *tag != "<none>:<none>").unwrap_or(&image.id).clone();
                let used = last_used.get(&tag).or_else(|| last_used.get(&image.id)).copied();
                KeptImage {
                    kind: image.labels.get(IMAGE_LABEL).cloned().unwrap_or_default(),
                    bytes: u64::try_from(image.size).unwrap_or(0),
                    last_used: used.unwrap_or(image.created).max(image.created),
                    in_use: in_use.contains(&image.id),
                    id: image.id,
                    tag,
                }
            })
            .collect();
        kept.sort_by(|a, b| (a.last_used, &a.tag).cmp(&(b.last_used, &b.tag)));
        Ok(kept)
    }

    async fn in_use(&self) -> Result<HashSet<String>, SandboxError> {
        let options = ListContainersOptions { all: true, ..ListContainersOptions::default() };
        let containers = self.engine.docker().list_containers(Some(options)).await;
        let containers = containers.map_err(|error| classify("list containers", error))?;
        Ok(containers.into_iter().filter_map(|container| container.image_id).collect())
    }

    /// Removes images one by one in the given order, until `enough` says so; it is asked before each. Images in use stay, and one that another
    /// image was made from goes only after that. Answers the tags removed.
    pub async fn prune(
        &self,
        images: Vec<KeptImage>,
        mut enough: impl FnMut(&KeptImage) -> bool + Send,
    ) -> Vec<String> {
        let mut removed = Vec::new();
        for image in images.into_iter().filter(|image| !image.in_use) {
            if enough(&image) {
                break;
            }
            match self.engine.docker().remove_image(&image.tag, None::<RemoveImageOptions>, None).await {
                Ok(_) => removed.push(image.tag),
                Err(error) => tracing::debug!(%error, tag = image.tag, "image stays"),
            }
        }
        removed
    }
}
