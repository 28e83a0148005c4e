//! What is done with a running container.

use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use async_trait::async_trait;
use bollard::models::ChangeType;
use bollard::query_parameters::{DownloadFromContainerOptions, UploadToContainerOptions};
use domain::tamper::ChangeKind;
use futures::{StreamExt, TryStreamExt};

use super::counters::Counters;
use super::errors::{absent, classify};
use super::{DockerEngine, exec, kill, network, reading, remove};
use crate::sandbox::download::read_archive;
use crate::sandbox::{Caps, Download, ExecEnd, ExecSpec, Sandbox, SandboxError, Sink, Upload, Usage};

/// Bytes of one archive that are read at most, whatever is taken out of it.
const LONGEST_ARCHIVE: u64 = 2 << 30;

/// One container of ours.
pub(super) struct Container {
    pub engine: DockerEngine,
    pub id: String,
    pub memory_mb: u64,
    pub counters: Counters,
    /// Whether nothing has been run since everything was last killed.
    pub killed: AtomicBool,
    pub removed: AtomicBool,
    commands: AtomicU64,
}

impl Container {
    pub fn new(engine: DockerEngine, id: String, memory_mb: u64) -> Self {
        Self {
            engine,
            id,
            memory_mb,
            counters: Counters::default(),
            killed: AtomicBool::new(false),
            removed: AtomicBool::new(false),
            commands: AtomicU64::new(0),
        }
    }

    /// Something that output does not hold by chance.
    pub fn token(&self) -> String {
        let number = self.commands.fetch_add(1, Ordering::Relaxed);
        let id: String = self.id.chars().rev().take(16).collect();
        format!("{id}.{number}")
    }
}

/// A container of a Docker engine. Dropping it removes the container in the background.
pub(super) struct DockerSandbox(pub Arc<Container>);

impl Drop for DockerSandbox {
    fn drop(&mut self) {
        if !self.0.removed.load(Ordering::Acquire) {
            remove::in_background(&self.0);
        }
    }
}

impl DockerSandbox {
    /// Tells a path that is not there from a container that is not there.
    fn nothing_there(&self, error: bollard::errors::Error) -> Result<Option<Download>, SandboxError> {
        match classify("download files", error) {
            lost @ SandboxError::Lost { .. } => Err(lost),
            _ => Ok(None),
        }
    }
}

const fn kind(kind: ChangeType) -> ChangeKind {
    match kind {
        ChangeType::_0 => ChangeKind::Changed,
        ChangeType::_1 => ChangeKind::Added,
        ChangeType::_2 => ChangeKind::Deleted,
    }
}

#[async_trait]
impl Sandbox for DockerSandbox {
    fn id(&self) -> &str {
        &self.0.id
    }

    async fn exec(&self, spec: &ExecSpec, sink: &mut dyn Sink) -> Result<ExecEnd, SandboxError> {
        exec::exec(&self.0, spec, sink).await
    }

    async fn upload(&self, upload: Upload) -> Result<(), SandboxError> {
        if upload.is_empty() {
            return Ok(());
        }
        let tar = upload.into_tar()?;
        let options = UploadToContainerOptions { path: "/".to_owned(), ..UploadToContainerOptions::default() };
        let done = self.0.engine.docker().upload_to_container(&self.0.id, Some(options), bollard::body_full(tar)).await;
        done.map_err(|error| classify("upload files", error))
    }

    async fn download(&self, path: &str, caps: Caps) -> Result<Option<Download>, SandboxError> {
        let options = DownloadFromContainerOptions { path: path.to_owned() };
        // The stream borrows the client it comes from, and must outlive this call to be read elsewhere.
        let (docker, id) = (self.0.engine.docker().clone(), self.0.id.clone());
        let (mut received, sending) = reading::started(|chunks| async move {
            let mut stream = std::pin::pin!(docker.download_from_container(&id, Some(options)));
            while let Some(chunk) = stream.next().await {
                if chunks.send(chunk).await.is_err() {
                    return;
                }
            }
        });
        let first = match received.try_next().await {
            Ok(first) => first.unwrap_or_default(),
            Err(error) if absent(&error) => return self.nothing_there(error),
            Err(error) => return Err(classify("download files", error)),
        };
        let all = futures::stream::iter([Ok(first)]).chain(received).map_err(std::io::Error::other);
        let read = reading::read(all, sending, move |sent| read_archive(sent.take(LONGEST_ARCHIVE), caps)).await;
        read.map_err(|error| SandboxError::other("download files", error))?.map(Some)
    }

    async fn usage(&self) -> Result<Usage, SandboxError> {
        exec::read_counters(&self.0).await?;
        Ok(self.0.counters.usage())
    }

    async fn changes(&self) -> Result<Vec<(ChangeKind, String)>, SandboxError> {
        let changes = self.0.engine.docker().container_changes(&self.0.id).await;
        let changes = changes.map_err(|error| classify("list changed files", error))?.unwrap_or_default();
        Ok(changes.into_iter().map(|change| (kind(change.kind), change.path)).collect())
    }

    async fn open_network(&self, open: bool) -> Result<(), SandboxError> {
        network::open(&self.0.engine, &self.0.id, open).await
    }

    async fn freeze(&self) -> Result<(), SandboxError> {
        let done = self.0.engine.docker().pause_container(&self.0.id).await;
        done.map_err(|error| classify("freeze a container", error))
    }

    async fn thaw(&self) -> Result<(), SandboxError> {
        let done = self.0.engine.docker().unpause_container(&self.0.id).await;
        done.map_err(|error| classify("thaw a container", error))
    }

    async fn kill_all(&self) -> Result<(), SandboxError> {
        kill::kill_all(&self.0).await
    }

    async fn remove(&self) -> Result<(), SandboxError> {
        remove::now(&self.0).await
    }
}
