//! Makes and starts a container.

use std::sync::Arc;

use bollard::models::{
    ContainerCreateBody, HealthConfig, HostConfig, HostConfigLogConfig, Mount as EngineMount, MountTmpfsOptions,
    MountType,
};
use bollard::query_parameters::{CreateContainerOptions, StartContainerOptions};

use super::DockerEngine;
use super::errors::classify;
use super::operate::{Container, DockerSandbox};
use crate::sandbox::{Created, Enforced, Limits, Mount, MountSource, Network, SandboxError, SandboxSpec};

/// What root in the container may do: what package managers and ordinary test scripts need (give files away, read what others own,
/// become another user, stop processes, serve on low ports, chroot for package builds, log in by `su`). Left out of the engine's usual
/// set: MKNOD, NET_RAW, SETFCAP, SETPCAP.
const CAPABILITIES: [&str; 10] = [
    "AUDIT_WRITE",
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
    "FSETID",
    "KILL",
    "NET_BIND_SERVICE",
    "SETGID",
    "SETUID",
    "SYS_CHROOT",
];

/// Makes and starts it. A caller who goes away meanwhile leaves a sandbox that is dropped, hence removed.
pub(super) async fn create(engine: &DockerEngine, spec: &SandboxSpec) -> Result<Created, SandboxError> {
    let (limits, findings) = engine.shared.facts.clamp(&spec.limits);
    let body = body(spec, &limits, engine.shared.facts.enforced);
    let sandbox = engine.outliving(make(engine.clone(), body, limits)).await?;
    Ok(Created { sandbox: Box::new(sandbox), findings })
}

async fn make(engine: DockerEngine, body: ContainerCreateBody, limits: Limits) -> Result<DockerSandbox, SandboxError> {
    let docker = engine.docker();
    let made = docker.create_container(None::<CreateContainerOptions>, body).await;
    let id = made.map_err(|error| classify("make a container", error))?.id;
    let sandbox = DockerSandbox(Arc::new(Container::new(engine.clone(), id, limits.memory_mb)));
    let started = docker.start_container(&sandbox.0.id, None::<StartContainerOptions>).await;
    started.map_err(|error| classify("start a container (its image needs /bin/sh and sleep)", error))?;
    Ok(sandbox)
}

fn body(spec: &SandboxSpec, limits: &Limits, can: Enforced) -> ContainerCreateBody {
    ContainerCreateBody {
        image: Some(spec.image.clone()),
        entrypoint: Some(vec!["/bin/sh".to_owned(), "-c".to_owned(), sleeper(spec.lifetime.as_secs())]),
        cmd: Some(Vec::new()),
        env: Some(spec.env.iter().map(|(name, value)| format!("{name}={value}")).collect()),
        user: spec.user.clone(),
        working_dir: spec.workdir.clone(),
        labels: Some(spec.labels.to_map()),
        healthcheck: Some(HealthConfig { test: Some(vec!["NONE".to_owned()]), ..HealthConfig::default() }),
        host_config: Some(host_config(spec, limits, can)),
        ..ContainerCreateBody::default()
    }
}

/// PID 1 is a shell, not an init with a child: the kernel spares PID 1 when everything else is killed from inside, a shell collects
/// orphans while it waits, and its sleeper is started anew when it was killed. A sleeper that ends by itself (or is not there at all)
/// ends the container.
fn sleeper(seconds: u64) -> String {
    format!("while sleep {}; [ $? -gt 128 ]; do :; done", seconds.max(1))
}

fn host_config(spec: &SandboxSpec, limits: &Limits, can: Enforced) -> HostConfig {
    let memory = bytes(limits.memory_mb);
    let network = match &spec.network {
        Network::None => "none".to_owned(),
        Network::Public => "bridge".to_owned(),
        Network::Named(name) => name.clone(),
        Network::Join(container) => format!("container:{container}"),
    };
    HostConfig {
        nano_cpus: can.cpus.then_some((limits.cpus * 1e9) as i64),
        memory: can.memory.then_some(memory),
        memory_swap: can.memory.then_some(memory),
        pids_limit: can.pids.then_some(limits.pids.into()),
        shm_size: limits.shm_mb.map(bytes),
        cap_drop: Some(vec!["ALL".to_owned()]),
        cap_add: Some(CAPABILITIES.map(str::to_owned).to_vec()),
        security_opt: Some(vec!["no-new-privileges".to_owned()]),
        log_config: Some(HostConfigLogConfig { typ: Some("none".to_owned()), config: None }),
        network_mode: Some(network),
        init: Some(false),
        mounts: Some(spec.mounts.iter().map(mount).collect()),
        ..HostConfig::default()
    }
}

fn mount(mount: &Mount) -> EngineMount {
    let (typ, source, tmpfs_options) = match &mount.source {
        MountSource::Volume(name) => (MountType::VOLUME, Some(name.0.clone()), None),
        MountSource::Host(path) => (MountType::BIND, Some(path.clone()), None),
        MountSource::Memory(mb) => {
            let options = MountTmpfsOptions { size_bytes: Some(bytes(*mb)), ..MountTmpfsOptions::default() };
            (MountType::TMPFS, None, Some(options))
        }
    };
    EngineMount {
        target: Some(mount.target.clone()),
        source,
        typ: Some(typ),
        read_only: Some(mount.read_only),
        tmpfs_options,
        ..EngineMount::default()
    }
}

fn bytes(mb: u64) -> i64 {
    i64::try_from(mb.saturating_mul(1 << 20)).unwrap_or(i64::MAX)
}
