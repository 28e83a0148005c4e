//! The boundary to containers, in two halves: placement ([`Engine`]: which engine gets the container) and operation ([`Sandbox`]: what
//! is done with one). Nothing outside this folder and `image` knows which engine it is.

mod capped;
mod disk;
pub mod docker;
mod download;
mod error;
mod limits;
mod redact;
mod sink;
mod spec;
mod text;
mod upload;

use std::collections::HashSet;

use async_trait::async_trait;
use domain::finding::Finding;
use domain::id::AttemptId;
use domain::tamper::ChangeKind;

pub use capped::{CappedLog, KeptLog};
pub use disk::{FreeSpace, free_space};
pub use download::{Caps, Download, Skipped};
pub use error::SandboxError;
pub use limits::{Enforced, EngineFacts};
pub use redact::{Redacting, Redactor};
pub use sink::{Collect, Discard, Sink, StdStream};
pub use spec::{
    ExecEnd, ExecSpec, Exit, Labels, Limits, Mount, MountSource, Network, Owner, SandboxSpec, Usage, VolumeName,
};
pub use text::{TextDecoder, plain_text};
pub use upload::Upload;

/// A started sandbox, and what of its specification was changed to fit the engine.
pub struct Created {
    /// Started, idle, empty of our files.
    pub sandbox: Box<dyn Sandbox>,
    /// Limits that were clamped or are not enforced.
    pub findings: Vec<Finding>,
}

/// What [`Engine::reap`] removed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reaped {
    /// Container ids.
    pub containers: Vec<String>,
    /// Network names.
    pub networks: Vec<String>,
    /// Volume names.
    pub volumes: Vec<String>,
}

impl Reaped {
    /// Whether nothing had been left behind.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.containers.is_empty() && self.networks.is_empty() && self.volumes.is_empty()
    }
}

/// Placement: an engine that containers, volumes and networks can be made on.
#[async_trait]
pub trait Engine: Send + Sync {
    /// What the engine has, as asked when it was connected.
    fn facts(&self) -> &EngineFacts;

    /// Makes and starts a container. Limits above what the engine has are clamped, with a finding. Dropping the future leaves nothing
    /// behind: a container that came into being all the same is removed in the background.
    ///
    /// # Errors
    /// Any [`SandboxError`]; nothing is left behind.
    async fn create(&self, spec: &SandboxSpec) -> Result<Created, SandboxError>;

    /// Makes an empty volume that outlives its containers (a workspace handed from the agent's container to the verifier's).
    ///
    /// # Errors
    /// Any [`SandboxError`].
    async fn create_volume(&self, labels: &Labels) -> Result<VolumeName, SandboxError>;

    /// Removes a volume; one that is not there is fine.
    ///
    /// # Errors
    /// Any [`SandboxError`]; a volume in use is [`SandboxError::Other`].
    async fn remove_volume(&self, volume: &VolumeName) -> Result<(), SandboxError>;

    /// Removes a volume in the background, once the containers that use it are gone.
    fn remove_volume_later(&self, volume: VolumeName);

    /// Makes a network that is closed to the outside. When the engine's address pool is used up, stale networks of this instance are
    /// removed and it is tried once more.
    ///
    /// # Errors
    /// [`SandboxError::NoNetwork`] when the pool stays used up; others as they come.
    async fn create_network(&self, name: &str, labels: &Labels) -> Result<(), SandboxError>;

    /// Removes a network; one that is not there is fine.
    ///
    /// # Errors
    /// Any [`SandboxError`].
    async fn remove_network(&self, name: &str) -> Result<(), SandboxError>;

    /// Removes every container, network and volume labelled with `instance` whose attempt is not in `live`. Never touches anything
    /// without that label. Images stay.
    ///
    /// # Errors
    /// The first error, after everything was tried.
    async fn reap(&self, instance: &str, live: &HashSet<AttemptId>) -> Result<Reaped, SandboxError>;

    /// Waits until every removal that runs in the background has ended.
    async fn settle(&self);
}

/// Operation: one container, with a PID 1 that survives [`Sandbox::kill_all`]. Dropping it removes the container in the background.
#[async_trait]
pub trait Sandbox: Send + Sync {
    /// The engine's id of the container.
    fn id(&self) -> &str;

    /// Runs a command and streams its output to `sink`, as raw bytes. At the limit every process in the container is killed, not just
    /// the command. Dropping the future leaves the command running: remove the sandbox then.
    ///
    /// # Errors
    /// [`SandboxError::Lost`] when the container ended meanwhile; others as they come. A command that fails is no error.
    async fn exec(&self, spec: &ExecSpec, sink: &mut dyn Sink) -> Result<ExecEnd, SandboxError>;

    /// Puts files in, all of them in one call.
    ///
    /// # Errors
    /// Any [`SandboxError`].
    async fn upload(&self, upload: Upload) -> Result<(), SandboxError>;

    /// Takes a file or folder out, never following links. `None` = there is nothing at `path` (absolute).
    ///
    /// # Errors
    /// Any [`SandboxError`].
    async fn download(&self, path: &str, caps: Caps) -> Result<Option<Download>, SandboxError>;

    /// Memory kills and peak so far.
    ///
    /// # Errors
    /// Any [`SandboxError`].
    async fn usage(&self) -> Result<Usage, SandboxError>;

    /// Paths that were added, changed or deleted since the image, in no order; nothing of what lies in volumes. Slow: the engine walks
    /// the image (0.3 s for one of 117 MB, seconds for a large one).
    ///
    /// # Errors
    /// Any [`SandboxError`].
    async fn changes(&self) -> Result<Vec<(ChangeKind, String)>, SandboxError>;

    /// Gives it the engine's shared network ([`Network::Public`]), or takes that away ([`Network::None`]). Only for one that was made
    /// with the other of the two.
    ///
    /// # Errors
    /// Any [`SandboxError`].
    async fn open_network(&self, open: bool) -> Result<(), SandboxError>;

    /// Stops all processes where they are, PID 1 included, until [`Sandbox::thaw`].
    ///
    /// # Errors
    /// Any [`SandboxError`].
    async fn freeze(&self) -> Result<(), SandboxError>;

    /// Undoes [`Sandbox::freeze`].
    ///
    /// # Errors
    /// Any [`SandboxError`].
    async fn thaw(&self) -> Result<(), SandboxError>;

    /// Kills every process but PID 1 and its sleeper, whatever they ignore or have detached from, and makes sure of it from outside
    /// the container. The container runs on.
    ///
    /// # Errors
    /// Any [`SandboxError`]; then the container must not be used further.
    async fn kill_all(&self) -> Result<(), SandboxError>;

    /// Kills the container and removes it, with its anonymous volumes. Calling it again is fine.
    ///
    /// # Errors
    /// Any [`SandboxError`]; removal goes on in the background then.
    async fn remove(&self) -> Result<(), SandboxError>;
}
