//! Networks closed to the outside, from an address pool that is small.

use std::sync::PoisonError;

use bollard::models::{NetworkConnectRequest, NetworkCreateRequest, NetworkDisconnectRequest};

use super::errors::{absent, classify};
use super::{DockerEngine, reap};
use crate::sandbox::{Labels, SandboxError};

/// Makes a network; when the pool is used up, stale ones of this instance go first.
pub(super) async fn create(engine: &DockerEngine, name: &str, labels: &Labels) -> Result<(), SandboxError> {
    remember(engine, name, true);
    let made = match make(engine, name, labels).await {
        Err(SandboxError::NoNetwork { reason }) => {
            let removed = reap::stale_networks(engine, &labels.instance).await?;
            tracing::warn!(%reason, removed = removed.len(), "address pool used up; stale networks removed");
            make(engine, name, labels).await
        }
        other => other,
    };
    if made.is_err() {
        remember(engine, name, false);
    }
    made
}

async fn make(engine: &DockerEngine, name: &str, labels: &Labels) -> Result<(), SandboxError> {
    let request = NetworkCreateRequest {
        name: name.to_owned(),
        driver: Some("bridge".to_owned()),
        internal: Some(true),
        labels: Some(labels.to_map()),
        ..NetworkCreateRequest::default()
    };
    engine.docker().create_network(request).await.map(drop).map_err(|error| classify("make a network", error))
}

/// Removes a network; one that is not there is fine.
pub(super) async fn remove(engine: &DockerEngine, name: &str) -> Result<(), SandboxError> {
    match engine.docker().remove_network(name).await {
        Err(error) if !absent(&error) => return Err(classify("remove a network", error)),
        _ => {}
    }
    remember(engine, name, false);
    Ok(())
}

/// Gives a running container the engine's shared network, or takes it away: then it has loopback alone.
pub(super) async fn open(engine: &DockerEngine, container: &str, open: bool) -> Result<(), SandboxError> {
    let (docker, container) = (engine.docker(), container.to_owned());
    let leave = |network: &'static str| {
        let request = NetworkDisconnectRequest { container: container.clone(), force: Some(true) };
        async move { docker.disconnect_network(network, request).await }
    };
    let done = match open {
        true => {
            leave("none").await.map_err(|error| classify("open a network", error))?;
            let request = NetworkConnectRequest { container: container.clone(), endpoint_config: None };
            docker.connect_network("bridge", request).await
        }
        false => leave("bridge").await,
    };
    done.map_err(|error| classify(if open { "open a network" } else { "close a network" }, error))
}

fn remember(engine: &DockerEngine, name: &str, in_use: bool) {
    let mut networks = engine.shared.networks.lock().unwrap_or_else(PoisonError::into_inner);
    if in_use {
        networks.insert(name.to_owned());
    } else {
        networks.remove(name);
    }
}

/// Whether it was made here and not yet removed.
pub(super) fn in_use(engine: &DockerEngine, name: &str) -> bool {
    engine.shared.networks.lock().unwrap_or_else(PoisonError::into_inner).contains(name)
}
