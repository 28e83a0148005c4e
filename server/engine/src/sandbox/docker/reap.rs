//! Removes what an earlier life of this instance left behind. Goes by our label alone.

use std::collections::{HashMap, HashSet};

use bollard::query_parameters::{ListContainersOptions, ListNetworksOptions, ListVolumesOptions};
use domain::id::AttemptId;

use super::errors::classify;
use super::{DockerEngine, label, network, remove};
use crate::sandbox::{Engine, Reaped, SandboxError, VolumeName};

/// Removes containers, then networks and volumes, whose attempt is not live.
pub(super) async fn reap(
    engine: &DockerEngine,
    instance: &str,
    live: &HashSet<AttemptId>,
) -> Result<Reaped, SandboxError> {
    let mut reaped = Reaped::default();
    let mut trouble = None;
    for id in containers(engine, instance, live).await? {
        match remove::by_id(engine.docker(), &id).await {
            Ok(()) => reaped.containers.push(id),
            Err(error) => trouble = trouble.or(Some(error)),
        }
    }
    for name in networks(engine, instance, live).await? {
        match network::remove(engine, &name).await {
            Ok(()) => reaped.networks.push(name),
            Err(error) => trouble = trouble.or(Some(error)),
        }
    }
    for name in volumes(engine, instance, live).await? {
        match engine.remove_volume(&VolumeName(name.clone())).await {
            Ok(()) => reaped.volumes.push(name),
            Err(error) => trouble = trouble.or(Some(error)),
        }
    }
    trouble.map_or(Ok(reaped), Err)
}

/// Removes networks of this instance that nothing is attached to and that were not made by this engine handle.
pub(super) async fn stale_networks(engine: &DockerEngine, instance: &str) -> Result<Vec<String>, SandboxError> {
    let mut removed = Vec::new();
    for name in networks(engine, instance, &HashSet::new()).await? {
        // One that is in use refuses to go, which is right.
        if !network::in_use(engine, &name) && engine.docker().remove_network(&name).await.is_ok() {
            removed.push(name);
        }
    }
    Ok(removed)
}

async fn containers(
    engine: &DockerEngine,
    instance: &str,
    live: &HashSet<AttemptId>,
) -> Result<Vec<String>, SandboxError> {
    let options =
        ListContainersOptions { all: true, filters: Some(filter(instance)), ..ListContainersOptions::default() };
    let found =
        engine.docker().list_containers(Some(options)).await.map_err(|error| classify("list containers", error))?;
    let stale = found.into_iter().filter(|container| is_stale(container.labels.as_ref(), live));
    Ok(stale.filter_map(|container| container.id).collect())
}

async fn networks(
    engine: &DockerEngine,
    instance: &str,
    live: &HashSet<AttemptId>,
) -> Result<Vec<String>, SandboxError> {
    let options = ListNetworksOptions { filters: Some(filter(instance)) };
    let found = engine.docker().list_networks(Some(options)).await.map_err(|error| classify("list networks", error))?;
    let stale = found.into_iter().filter(|network| is_stale(network.labels.as_ref(), live));
    Ok(stale.filter_map(|network| network.name).collect())
}

async fn volumes(
    engine: &DockerEngine,
    instance: &str,
    live: &HashSet<AttemptId>,
) -> Result<Vec<String>, SandboxError> {
    let options = ListVolumesOptions { filters: Some(filter(instance)) };
    let found = engine.docker().list_volumes(Some(options)).await.map_err(|error| classify("list volumes", error))?;
    let stale = found.volumes.unwrap_or_default().into_iter().filter(|volume| is_stale(Some(&volume.labels), live));
    Ok(stale.map(|volume| volume.name).collect())
}

fn filter(instance: &str) -> HashMap<String, Vec<String>> {
    HashMap::from([("label".to_owned(), vec![format!("{}={instance}", label::INSTANCE)])])
}

fn is_stale(labels: Option<&HashMap<String, String>>, live: &HashSet<AttemptId>) -> bool {
    let attempt = labels.and_then(|labels| labels.get(label::ATTEMPT)).and_then(|id| id.parse().ok());
    attempt.is_none_or(|attempt| !live.contains(&attempt))
}
