//! The network of a trial whose agent calls a model: closed to all but the model gateway, or open beside it.
//!
//! A sidecar owns the network; the trial's container joins it. In it the forwarder (`server/forward`, carried in this program) listens on
//! loopback and passes everything on to the trial's own socket of the gateway. Closed, the sidecar has no interface but loopback, and
//! names do not exist (at once: resolvers that get no answer wait for seconds). The trial sees neither the forwarder nor the socket.

mod image;
mod listen;
mod sidecar;

use std::path::PathBuf;
use std::sync::Arc;

use gateway::TrialGateway;
use gateway::serve::{self, Served, TrialToken};
use tokio::sync::OnceCell;

use self::listen::Heard;
use crate::sandbox::docker::{DockerEngine, Sidecar};
use crate::sandbox::{Labels, Network, SandboxError};

/// Where the gateway is, in the container.
const PORT: u16 = 8420;

/// What a trial reaches beside the model gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Nothing.
    ModelOnly,
    /// Everything that the engine's default network reaches.
    Public,
}

/// Opens networks for trials. Cheap to clone.
#[derive(Clone)]
pub struct Networks {
    engine: DockerEngine,
    folder: PathBuf,
    image: Arc<OnceCell<String>>,
}

impl Networks {
    /// Networks on this engine. `folder` is for the gateway's sockets and must be this server's alone: what an earlier life left in it is
    /// removed. The engine must see the same files under the same path, so it must run on this machine.
    #[must_use]
    pub fn new(engine: DockerEngine, folder: impl Into<PathBuf>) -> Self {
        let folder = folder.into();
        serve::clear(&folder);
        Self { engine, folder, image: Arc::default() }
    }

    /// Opens one attempt's network to its gateway. Takes about 0.2 s.
    ///
    /// # Errors
    /// Any [`SandboxError`]; nothing is left behind.
    pub async fn open(
        &self,
        labels: &Labels,
        gateway: &TrialGateway,
        reach: Reach,
    ) -> Result<TrialNetwork, SandboxError> {
        let failed = |error: std::io::Error| SandboxError::other("open a trial's way to its model", error);
        let image = self.image.get_or_try_init(|| image::ensure(&self.engine)).await?;
        let token = TrialToken::random().map_err(failed)?;
        let served = serve::serve(gateway.clone(), token, &self.folder).map_err(failed)?;
        let socket = std::path::absolute(served.socket()).map_err(failed)?;
        let body = sidecar::body(image, &socket, PORT, reach);
        let (sidecar, output) = Sidecar::start(&self.engine, labels, body).await?;
        let heard = Heard::once_ready(output).await?;
        let token = served.token().expose().to_owned();
        Ok(TrialNetwork { served: Some(served), token, sidecar, heard, base_url: format!("http://127.0.0.1:{PORT}") })
    }
}

/// A trial's network. Remove the containers that joined it first, then [`TrialNetwork::close`] it; dropping it closes it in the background.
pub struct TrialNetwork {
    /// `None` once it is shut.
    served: Option<Served>,
    token: String,
    sidecar: Sidecar,
    heard: Heard,
    base_url: String,
}

impl TrialNetwork {
    /// What the trial's container is made with.
    #[must_use]
    pub fn join(&self) -> Network {
        Network::Join(self.sidecar.id().to_owned())
    }

    /// Where the gateway is, in the container: scheme, host and port, without a path.
    #[must_use]
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// The key that the agent is given. Worth nothing outside this trial.
    #[must_use]
    pub fn token(&self) -> &str {
        &self.token
    }

    /// Ends the way to the model, calls under way included, and leaves the network as it is: what runs in it from now on reaches no model.
    pub fn shut(&mut self) {
        self.served = None;
    }

    /// Names that the trial asked for in vain, each once, in order. Empty for an open network.
    #[must_use]
    pub fn names_wanted(&self) -> Vec<String> {
        self.heard.names()
    }

    /// Closes it: calls under way are ended, the sidecar is removed.
    ///
    /// # Errors
    /// Any [`SandboxError`]; removal goes on in the background then.
    pub async fn close(self) -> Result<(), SandboxError> {
        drop(self.served);
        self.sidecar.remove().await
    }
}
