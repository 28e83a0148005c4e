//! The network of a trial that calls a model from inside, or reaches named hosts only: closed but for these, or open beside the model.
//!
//! A sidecar owns the network; the trial's container joins it. In it the forwarder (`server/forward`, carried in this program) listens on
//! loopback and passes everything on to the trial's own sockets: of the gateway, and of the way out ([`egress`]). Closed, the sidecar has
//! no interface but loopback, and all other names do not exist (at once: resolvers that get no answer wait for seconds). The trial sees
//! neither the forwarder nor the sockets.

mod address;
mod egress;
mod image;
mod listen;
mod sidecar;
mod turn;

use std::path::PathBuf;
use std::sync::Arc;

use domain::network::{AllowList, GATEWAY_PORT};
use gateway::TrialGateway;
use gateway::serve::{self, Served, TrialToken};
use tokio::sync::OnceCell;

pub use self::address::is_public;
use self::egress::Egress;
pub use self::egress::{Addresses, Outside};
use self::listen::Heard;
use self::sidecar::{Names, Wiring};
use crate::sandbox::docker::{DockerEngine, Sidecar};
use crate::sandbox::{Labels, Network, SandboxError};

/// What a phase of a trial reaches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// The model gateway, where there is one.
    ModelOnly,
    /// These hosts besides.
    Hosts(AllowList),
    /// Everything that the engine's default network reaches.
    Public,
}

/// Opens networks for trials. Cheap to clone.
#[derive(Clone)]
pub struct Networks {
    engine: DockerEngine,
    folder: PathBuf,
    outside: Outside,
    image: Arc<OnceCell<String>>,
}

impl Networks {
    /// Networks on this engine. `folder` is for the trials' sockets and must be this server's alone: what an earlier life left in it is
    /// removed. The engine must see the same files under the same path, so it must run on this machine.
    #[must_use]
    pub fn new(engine: DockerEngine, folder: impl Into<PathBuf>) -> Self {
        Self::with_outside(engine, folder, Outside::INTERNET)
    }

    /// As [`Networks::new`], with another idea of what lies outside: for tests, which have no internet.
    #[must_use]
    pub fn with_outside(engine: DockerEngine, folder: impl Into<PathBuf>, outside: Outside) -> Self {
        let folder = folder.into();
        serve::clear(&folder);
        Self { engine, folder, outside, image: Arc::default() }
    }

    /// Opens one attempt's network, to its gateway if it has one, for phases that reach this in turn. [`TrialNetwork::enter`] begins each
    /// of them. Takes about 0.2 s.
    ///
    /// # Errors
    /// Any [`SandboxError`]; nothing is left behind.
    pub async fn open(
        &self,
        labels: &Labels,
        gateway: Option<&TrialGateway>,
        phases: &[&Reach],
    ) -> Result<TrialNetwork, SandboxError> {
        let failed = |error: std::io::Error| SandboxError::other("open a trial's network", error);
        let image = self.image.get_or_try_init(|| image::ensure(&self.engine)).await?;
        let model = match gateway {
            Some(gateway) => {
                let token = TrialToken::random().map_err(failed)?;
                Some(Model::new(serve::serve(gateway.clone(), token, &self.folder).map_err(failed)?))
            }
            None => None,
        };
        let hosts = phases.iter().fold(AllowList::default(), |all, phase| match phase {
            Reach::Hosts(hosts) => all.with(hosts.clone()),
            Reach::ModelOnly | Reach::Public => all,
        });
        let egress = match hosts.is_empty() {
            true => None,
            false => {
                let (listener, socket) =
                    serve::listen(&self.folder, &format!("{}-out", labels.attempt)).map_err(failed)?;
                Some(Egress::open(listener, socket, self.outside))
            }
        };
        let open = phases.first().is_some_and(|phase| **phase == Reach::Public);
        let open_phases = phases.iter().filter(|phase| ***phase == Reach::Public).count();
        let names = match open_phases {
            0 => Names::Forwarder,
            all if all == phases.len() => Names::Engine,
            _ => Names::ByTurns,
        };
        let socket = |path: &std::path::Path| std::path::absolute(path).map_err(failed);
        let wiring = Wiring {
            gateway: model
                .as_ref()
                .and_then(|model| model.served.as_ref())
                .map(|served| socket(served.socket()))
                .transpose()?
                .map(|socket| (GATEWAY_PORT, socket)),
            egress: egress.as_ref().map(|egress| socket(egress.socket())).transpose()?.map(|socket| (socket, hosts)),
            open,
            names,
        };
        let (sidecar, output) = Sidecar::start(&self.engine, labels, sidecar::body(image, &wiring)).await?;
        let heard = Heard::once_ready(output).await?;
        Ok(TrialNetwork { model, egress, sidecar, heard, open, names, resolvers: None })
    }
}

/// The way to the model.
struct Model {
    /// `None` once it is shut.
    served: Option<Served>,
    token: String,
    base_url: String,
}

impl Model {
    fn new(served: Served) -> Self {
        let token = served.token().expose().to_owned();
        Self { served: Some(served), token, base_url: format!("http://127.0.0.1:{GATEWAY_PORT}") }
    }
}

/// How the model is reached, in the container.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access<'a> {
    /// Scheme, host and port, without a path.
    pub base_url: &'a str,
    /// The key that the agent is given. Worth nothing outside this trial.
    pub token: &'a str,
}

/// A trial's network. Remove the containers that joined it first, then [`TrialNetwork::close`] it; dropping it closes it in the background.
pub struct TrialNetwork {
    model: Option<Model>,
    egress: Option<Egress>,
    sidecar: Sidecar,
    heard: Heard,
    /// Whether it has the engine's shared network just now.
    open: bool,
    names: Names,
    /// The container's own `resolv.conf`, where it is told by turns.
    resolvers: Option<String>,
}

impl TrialNetwork {
    /// What the trial's container is made with.
    #[must_use]
    pub fn join(&self) -> Network {
        Network::Join(self.sidecar.id().to_owned())
    }

    /// How the model is reached; `None` for a network without a gateway.
    #[must_use]
    pub fn access(&self) -> Option<Access<'_>> {
        self.model.as_ref().map(|model| Access { base_url: &model.base_url, token: &model.token })
    }

    /// Ends the way to the model, calls under way included, and leaves the network as it is: what runs in it from now on reaches no model.
    pub fn shut(&mut self) {
        if let Some(model) = &mut self.model {
            model.served = None;
        }
    }

    /// Names that the trial asked for in vain, each once, in order. Empty for an open network.
    #[must_use]
    pub fn names_wanted(&self) -> Vec<String> {
        self.heard.names()
    }

    /// Hosts that are on the list and could not be reached, with the reason.
    #[must_use]
    pub fn hosts_refused(&self) -> Vec<String> {
        self.egress.as_ref().map(Egress::refused).unwrap_or_default()
    }

    /// Closes it: calls under way are ended, the sidecar is removed.
    ///
    /// # Errors
    /// Any [`SandboxError`]; removal goes on in the background then.
    pub async fn close(self) -> Result<(), SandboxError> {
        drop((self.model, self.egress));
        self.sidecar.remove().await
    }
}
