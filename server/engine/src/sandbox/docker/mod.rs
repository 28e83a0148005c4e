//! The boundary kept by a Docker engine (API 1.41 and newer), reached by bollard.

mod counters;
mod create;
mod errors;
mod exec;
mod kill;
mod network;
mod operate;
mod reading;
mod reap;
mod remove;
mod sidecar;
mod trailer;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bollard::Docker;
use bollard::models::{SystemInfo, SystemInfoCgroupVersionEnum, VolumeCreateRequest};
use bollard::query_parameters::RemoveVolumeOptions;
use domain::id::AttemptId;
use tokio::sync::oneshot;
use tokio_util::task::TaskTracker;

pub(crate) use self::errors::classify;
use self::errors::{absent, unavailable};
pub(crate) use self::sidecar::{Output as SidecarOutput, Sidecar};
use super::{Created, Enforced, Engine, EngineFacts, Labels, Reaped, SandboxError, SandboxSpec, VolumeName};

/// Where an engine is, unless told otherwise.
pub const DEFAULT_HOST: &str = "unix:///var/run/docker.sock";

/// Label keys. A container, network or volume without [`label::INSTANCE`] is not ours.
pub mod label {
    /// The data folder's own id.
    pub const INSTANCE: &str = "skilldelta.instance";
    /// The evaluation's id.
    pub const EVALUATION: &str = "skilldelta.evaluation";
    /// The trial's id.
    pub const TRIAL: &str = "skilldelta.trial";
    /// The attempt's id.
    pub const ATTEMPT: &str = "skilldelta.attempt";
}

/// A connected Docker engine. Cheap to clone.
#[derive(Clone)]
pub struct DockerEngine {
    shared: Arc<Shared>,
}

struct Shared {
    docker: Docker,
    facts: EngineFacts,
    /// What outlives its caller: removals, and makings that nobody waits for any more.
    tasks: TaskTracker,
    /// Networks made here and not yet removed: never stale, even with nothing attached.
    networks: Mutex<HashSet<String>>,
}

impl DockerEngine {
    /// Makes something of the engine in a task of its own: asked once, it comes into being whether or not its caller still waits, and one that
    /// nobody waits for is dropped there, while [`Engine::settle`] still waits for it.
    async fn outliving<T: Send + 'static>(
        &self,
        making: impl Future<Output = Result<T, SandboxError>> + Send + 'static,
    ) -> Result<T, SandboxError> {
        let (give, take) = oneshot::channel();
        self.shared.tasks.spawn(async move { drop(give.send(making.await)) });
        take.await.map_err(|error| SandboxError::other("make a container", error))?
    }

    /// Connects and asks the engine what it has.
    ///
    /// # Errors
    /// [`SandboxError::EngineUnavailable`] with a remedy.
    pub async fn connect(host: Option<&str>) -> Result<Self, SandboxError> {
        let host = host.unwrap_or(DEFAULT_HOST);
        let docker = Docker::connect_with_host(host).map_err(|error| unavailable(host, &error))?;
        let docker = docker.negotiate_version().await.map_err(|error| unavailable(host, &error))?;
        let info = docker.info().await.map_err(|error| unavailable(host, &error))?;
        let facts = facts(&docker, info);
        let shared = Shared { docker, facts, tasks: TaskTracker::new(), networks: Mutex::default() };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Asks whether the engine still answers.
    ///
    /// # Errors
    /// [`SandboxError::EngineUnavailable`] with a remedy.
    pub async fn ping(&self) -> Result<(), SandboxError> {
        self.docker().ping().await.map(drop).map_err(|error| unavailable(DEFAULT_HOST, &error))
    }

    /// Whether an image is there, by name or id.
    ///
    /// # Errors
    /// An engine that does not answer.
    pub async fn has_image(&self, name: &str) -> Result<bool, SandboxError> {
        match self.docker().inspect_image(name).await {
            Ok(_) => Ok(true),
            Err(error) if absent(&error) => Ok(false),
            Err(error) => Err(classify("look for an image", error)),
        }
    }

    pub(crate) fn docker(&self) -> &Docker {
        &self.shared.docker
    }
}

fn facts(docker: &Docker, info: SystemInfo) -> EngineFacts {
    let cgroup = match info.cgroup_version {
        Some(SystemInfoCgroupVersionEnum::_1) => Some(1),
        Some(SystemInfoCgroupVersionEnum::_2) => Some(2),
        _ => None,
    };
    let api = docker.client_version();
    EngineFacts {
        version: info.server_version.unwrap_or_default(),
        api: format!("{}.{}", api.major_version, api.minor_version),
        architecture: info.architecture.unwrap_or_default(),
        cgroup,
        cpus: info.ncpu.and_then(|n| u32::try_from(n).ok()).map_or(1.0, f64::from),
        memory_mb: info.mem_total.and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or(u64::MAX) >> 20,
        enforced: Enforced {
            cpus: info.cpu_cfs_quota != Some(false),
            memory: info.memory_limit != Some(false),
            pids: info.pids_limit != Some(false),
        },
        root_dir: info.docker_root_dir,
    }
}

impl Labels {
    fn to_map(&self) -> HashMap<String, String> {
        [
            (label::INSTANCE, self.instance.clone()),
            (label::EVALUATION, self.evaluation.to_string()),
            (label::TRIAL, self.trial.to_string()),
            (label::ATTEMPT, self.attempt.to_string()),
        ]
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value))
        .collect()
    }
}

#[async_trait]
impl Engine for DockerEngine {
    fn facts(&self) -> &EngineFacts {
        &self.shared.facts
    }

    async fn create(&self, spec: &SandboxSpec) -> Result<Created, SandboxError> {
        create::create(self, spec).await
    }

    async fn create_volume(&self, labels: &Labels) -> Result<VolumeName, SandboxError> {
        let request = VolumeCreateRequest { labels: Some(labels.to_map()), ..VolumeCreateRequest::default() };
        let volume = self.docker().create_volume(request).await.map_err(|error| classify("make a volume", error))?;
        Ok(VolumeName(volume.name))
    }

    async fn remove_volume(&self, volume: &VolumeName) -> Result<(), SandboxError> {
        let options = RemoveVolumeOptions { force: true };
        match self.docker().remove_volume(&volume.0, Some(options)).await {
            Err(error) if !absent(&error) => Err(classify("remove a volume", error)),
            _ => Ok(()),
        }
    }

    fn remove_volume_later(&self, volume: VolumeName) {
        remove::volume_in_background(self, volume);
    }

    async fn create_network(&self, name: &str, labels: &Labels) -> Result<(), SandboxError> {
        network::create(self, name, labels).await
    }

    async fn remove_network(&self, name: &str) -> Result<(), SandboxError> {
        network::remove(self, name).await
    }

    async fn reap(&self, instance: &str, live: &HashSet<AttemptId>) -> Result<Reaped, SandboxError> {
        reap::reap(self, instance, live).await
    }

    async fn settle(&self) {
        let tasks = &self.shared.tasks;
        tasks.close();
        tasks.wait().await;
        tasks.reopen();
    }
}
