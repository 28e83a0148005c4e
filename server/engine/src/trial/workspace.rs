//! The folder that holds a task's result, as a volume: filled from the image, handed from the agent's container to the verifier's.

use std::sync::Arc;

use domain::path::RelPath;
use domain::task::{ResultPlace, Task};

use super::fault::Fault;
use crate::sandbox::{Engine, Labels, Mount, MountSource, VolumeName};

/// A workspace that outlives its containers. Dropping it removes it in the background, once they are gone.
pub(super) struct Workspace {
    engine: Arc<dyn Engine>,
    /// `None` once it is removed.
    volume: Option<VolumeName>,
    path: String,
}

impl Workspace {
    /// An empty one for a task whose result lies in its workspace; the first container that mounts it fills it from the image.
    pub(super) async fn of(task: &Task, engine: &Arc<dyn Engine>, labels: &Labels) -> Result<Option<Self>, Fault> {
        let path = match &task.result_place {
            ResultPlace::Anywhere | ResultPlace::Artifacts { .. } => return Ok(None),
            ResultPlace::Workspace { path } => folder(path).ok_or_else(|| {
                Fault::Order(format!(
                    "task {} names '{path}' as its workspace; it must be a folder of the container by its absolute path, such as /app",
                    task.name
                ))
            })?,
        };
        let volume = engine.create_volume(labels).await?;
        Ok(Some(Self { engine: Arc::clone(engine), volume: Some(volume), path }))
    }

    /// Where it lies in its containers.
    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// How a container gets it.
    pub(super) fn mount(&self) -> Option<Mount> {
        let volume = self.volume.clone()?;
        Some(Mount { target: self.path.clone(), source: MountSource::Volume(volume), read_only: false })
    }

    /// Removes it. No container may have it any more.
    pub(super) async fn remove(mut self) -> Result<(), Fault> {
        if let Some(volume) = &self.volume {
            self.engine.remove_volume(volume).await?;
            self.volume = None;
        }
        Ok(())
    }
}

impl Drop for Workspace {
    fn drop(&mut self) {
        if let Some(volume) = self.volume.take() {
            self.engine.remove_volume_later(volume);
        }
    }
}

/// The path in its plain form; `None` for one that names no folder of its own, or one of the kernel's.
fn folder(path: &str) -> Option<String> {
    let inner = RelPath::new(path.strip_prefix('/')?.trim_end_matches('/')).ok()?;
    let top = inner.as_str().split('/').next().unwrap_or_default();
    (!["proc", "sys", "dev"].contains(&top)).then(|| format!("/{inner}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workspace_is_a_folder_of_its_own() {
        for (path, want) in [
            ("/app", Some("/app")),
            ("/home/travis/build/", Some("/home/travis/build")),
            ("/", None),
            ("app", None),
            ("", None),
            ("/app/../etc", None),
            ("/proc/1", None),
        ] {
            assert_eq!(folder(path).as_deref(), want, "{path}");
        }
    }
}
