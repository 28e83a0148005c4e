//! Between the phases: from the container that the agent leaves to the one that the verifier works in (design §5.4).

use domain::order::TrialOrder;

use super::Executor;
use super::fault::Fault;
use super::networks::{Joined, enter_verifier};
use super::place::Place;
use super::workspace::Workspace;
use crate::network::TrialNetwork;
use crate::sandbox::{Sandbox, SandboxSpec};

/// What the verifier works in.
pub(super) struct Court {
    pub(super) sandbox: Box<dyn Sandbox>,
    way: Option<TrialNetwork>,
    workspace: Option<Workspace>,
    pub(super) workdir: String,
}

impl Court {
    /// Removes everything, in the order that it must be.
    pub(super) async fn leave(self) -> Result<(), Fault> {
        self.sandbox.remove().await?;
        if let Some(way) = self.way {
            way.close().await?;
        }
        match self.workspace {
            Some(workspace) => workspace.remove().await,
            None => Ok(()),
        }
    }
}

impl Executor {
    /// Makes the verifier's place of the agent's, whose processes have ended. A workspace is judged in a fresh container of the same
    /// image, made once the agent's is gone: what the agent did elsewhere is gone with it. Otherwise the container stays, with the verifier's network.
    pub(super) async fn court(&self, order: &TrialOrder, place: Place) -> Result<Court, Fault> {
        let Place { sandbox, mut way, workspace, workdir, image, networks, .. } = place;
        let Some(workspace) = workspace else {
            enter_verifier(&networks, way.as_mut(), sandbox.as_ref()).await?;
            return Ok(Court { sandbox, way, workspace: None, workdir });
        };
        sandbox.remove().await?;
        if let Some(way) = way {
            way.close().await?;
        }
        let Joined { network, mut way } = self.verifiers_network(order, &networks).await?;
        let spec = SandboxSpec { mounts: workspace.mount().into_iter().collect(), ..self.spec(order, &image, network) };
        let sandbox = self.engine.create(&spec).await?.sandbox;
        if let Some(way) = &mut way {
            way.enter(&networks.verifier, sandbox.as_ref()).await?;
        }
        Ok(Court { sandbox, way, workspace: Some(workspace), workdir })
    }
}
