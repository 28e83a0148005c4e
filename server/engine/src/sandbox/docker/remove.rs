//! Removal, always: at once, or in the background when a sandbox is dropped.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bollard::Docker;
use bollard::errors::Error;
use bollard::query_parameters::{InspectContainerOptions, RemoveContainerOptions};

use super::DockerEngine;
use super::errors::{absent, classify};
use super::operate::Container;
use crate::sandbox::{Engine, SandboxError, VolumeName};

const TRIES: u32 = 6;
const FIRST_PAUSE: Duration = Duration::from_millis(100);

/// Removes it; on failure or when the caller goes away, removal goes on in the background.
pub(super) async fn now(container: &Arc<Container>) -> Result<(), SandboxError> {
    if container.removed.load(Ordering::Acquire) {
        return Ok(());
    }
    by_id(container.engine.docker(), &container.id).await?;
    container.removed.store(true, Ordering::Release);
    Ok(())
}

/// Removes it in a task that [`crate::sandbox::Engine::settle`] waits for.
pub(super) fn in_background(container: &Arc<Container>) {
    let Ok(runtime) = tokio::runtime::Handle::try_current() else {
        tracing::warn!(container = %container.id, "dropped outside the runtime; the next clean-up removes it");
        return;
    };
    let container = Arc::clone(container);
    let tracker = container.engine.shared.tasks.clone();
    tracker.spawn_on(
        async move {
            if let Err(error) = by_id(container.engine.docker(), &container.id).await {
                tracing::warn!(container = %container.id, %error, "not removed; the next clean-up will");
            }
        },
        &runtime,
    );
}

/// As [`in_background`], for a volume: it is tried again while containers that are being removed still use it.
pub(super) fn volume_in_background(engine: &DockerEngine, volume: VolumeName) {
    let Ok(runtime) = tokio::runtime::Handle::try_current() else {
        tracing::warn!(%volume, "dropped outside the runtime; the next clean-up removes it");
        return;
    };
    let engine = engine.clone();
    let tracker = engine.shared.tasks.clone();
    tracker.spawn_on(
        async move {
            let mut pause = FIRST_PAUSE;
            for _ in 0..TRIES {
                match engine.remove_volume(&volume).await {
                    Ok(()) => return,
                    Err(error) => tracing::debug!(%volume, %error, "not removed yet"),
                }
                tokio::time::sleep(pause).await;
                pause *= 2;
            }
            tracing::warn!(%volume, "not removed; the next clean-up will");
        },
        &runtime,
    );
}

/// Kills and removes a container with its anonymous volumes, however busy the engine is. One that is not there is fine.
pub(super) async fn by_id(docker: &Docker, id: &str) -> Result<(), SandboxError> {
    let mut pause = FIRST_PAUSE;
    let mut tries = 0;
    loop {
        let options = RemoveContainerOptions { force: true, v: true, link: false };
        tries += 1;
        match docker.remove_container(id, Some(options)).await {
            Ok(()) => return Ok(()),
            Err(error) if absent(&error) => return Ok(()),
            Err(error) if tries >= TRIES => return Err(classify("remove a container", error)),
            // Somebody else is removing it, or the engine is busy.
            Err(_) if is_gone(docker, id).await => return Ok(()),
            Err(_) => tokio::time::sleep(pause).await,
        }
        pause *= 2;
    }
}

async fn is_gone(docker: &Docker, id: &str) -> bool {
    let seen: Result<_, Error> = docker.inspect_container(id, None::<InspectContainerOptions>).await;
    seen.is_err_and(|error| absent(&error))
}
