//! A container beside a trial's own, of an image that holds one program: no shell to keep it alive, and its output is listened to.

use std::pin::Pin;
use std::sync::Arc;

use bollard::container::LogOutput;
use bollard::errors::Error;
use bollard::models::ContainerCreateBody;
use bollard::query_parameters::{AttachContainerOptions, CreateContainerOptions, StartContainerOptions};
use futures::Stream;

use super::DockerEngine;
use super::errors::classify;
use super::operate::{Container, DockerSandbox};
use crate::sandbox::{Labels, Sandbox, SandboxError};

/// What the program says, piece by piece.
pub(crate) type Output = Pin<Box<dyn Stream<Item = Result<LogOutput, Error>> + Send>>;

/// A running sidecar. Dropping it removes the container in the background.
pub(crate) struct Sidecar(DockerSandbox);

impl Sidecar {
    /// Makes it, listens, and starts it. A caller who goes away meanwhile leaves nothing behind.
    pub(crate) async fn start(
        engine: &DockerEngine,
        labels: &Labels,
        body: ContainerCreateBody,
    ) -> Result<(Self, Output), SandboxError> {
        let body = ContainerCreateBody { labels: Some(labels.to_map()), ..body };
        engine.outliving(make(engine.clone(), body)).await
    }

    pub(crate) fn id(&self) -> &str {
        self.0.id()
    }

    pub(crate) async fn open_network(&self, open: bool) -> Result<(), SandboxError> {
        self.0.open_network(open).await
    }

    pub(crate) async fn remove(&self) -> Result<(), SandboxError> {
        self.0.remove().await
    }
}

async fn make(engine: DockerEngine, body: ContainerCreateBody) -> Result<(Sidecar, Output), SandboxError> {
    let docker = engine.docker().clone();
    let made = docker.create_container(None::<CreateContainerOptions>, body).await;
    let id = made.map_err(|error| classify("make a sidecar", error))?.id;
    let sidecar = Sidecar(DockerSandbox(Arc::new(Container::new(engine, id, 0))));
    let listening =
        AttachContainerOptions { stream: true, stdout: true, stderr: true, ..AttachContainerOptions::default() };
    let attached = docker.attach_container(sidecar.id(), Some(listening)).await;
    let output = attached.map_err(|error| classify("listen to a sidecar", error))?.output;
    let started = docker.start_container(sidecar.id(), None::<StartContainerOptions>).await;
    started.map_err(|error| classify("start a sidecar", error))?;
    Ok((sidecar, output))
}
