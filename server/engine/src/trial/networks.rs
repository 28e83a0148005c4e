//! What each phase of a trial reaches: as its task says, unless the plan chooses otherwise.

use domain::network::{AllowList, NetworkWordError};
use domain::order::TrialOrder;
use domain::task::NetworkPolicy;
use gateway::{ProviderTools, TrialGateway};

use super::Executor;
use super::fault::Fault;
use crate::network::{Reach, TrialNetwork};
use crate::sandbox::{Network, Sandbox};

/// Both phases.
pub(super) struct PhaseNetworks {
    pub(super) agent: Reach,
    pub(super) verifier: Reach,
    /// Whether one container has both.
    shared: bool,
}

impl PhaseNetworks {
    pub(super) fn of(order: &TrialOrder) -> Result<Self, Fault> {
        let (task, chosen) = (&order.task, &order.settings.network);
        let reach = |policy: &NetworkPolicy| {
            reach(policy).map_err(|error| Fault::Order(format!("task {}: {error}", task.name)))
        };
        Ok(Self {
            agent: reach(chosen.agent.as_ref().unwrap_or(task.agent_network()))?,
            verifier: reach(chosen.verifier.as_ref().unwrap_or(task.verifier_network()))?,
            shared: !task.result_place.is_fresh(),
        })
    }

    /// What the agent's container goes through.
    fn in_turn(&self) -> Vec<&Reach> {
        std::iter::once(&self.agent).chain(self.shared.then_some(&self.verifier)).collect()
    }

    /// A closed container cannot be opened by the provider's own tools.
    pub(super) fn provider_tools(&self) -> ProviderTools {
        match self.agent {
            Reach::Public => ProviderTools::Allowed,
            Reach::ModelOnly | Reach::Hosts(_) => ProviderTools::Refused,
        }
    }
}

fn reach(policy: &NetworkPolicy) -> Result<Reach, NetworkWordError> {
    Ok(match policy {
        NetworkPolicy::Public => Reach::Public,
        NetworkPolicy::None | NetworkPolicy::ModelOnly => Reach::ModelOnly,
        NetworkPolicy::Allowlist { hosts } => Reach::Hosts(AllowList::of(hosts)?),
    })
}

/// A container's network and, where that is not the engine's own, its owner.
pub(super) struct Joined {
    pub(super) network: Network,
    pub(super) way: Option<TrialNetwork>,
}

impl Executor {
    /// The network of the agent's container. `gateway` = the one that the agent calls from inside.
    pub(super) async fn agents_network(
        &self,
        order: &TrialOrder,
        phases: &PhaseNetworks,
        gateway: Option<&TrialGateway>,
    ) -> Result<Joined, Fault> {
        self.join(order, gateway, &phases.in_turn()).await
    }

    /// The network of the verifier's own container.
    pub(super) async fn verifiers_network(&self, order: &TrialOrder, phases: &PhaseNetworks) -> Result<Joined, Fault> {
        self.join(order, None, &[&phases.verifier]).await
    }

    async fn join(
        &self,
        order: &TrialOrder,
        gateway: Option<&TrialGateway>,
        in_turn: &[&Reach],
    ) -> Result<Joined, Fault> {
        if gateway.is_none() && !in_turn.iter().any(|reach| matches!(reach, Reach::Hosts(_))) {
            let open = in_turn.first().is_some_and(|first| **first == Reach::Public);
            return Ok(Joined { network: if open { Network::Public } else { Network::None }, way: None });
        }
        let way = self.networks.open(&self.labels(order), gateway, in_turn).await?;
        Ok(Joined { network: way.join(), way: Some(way) })
    }
}

/// Begins the verifier's phase in the container that the agent had.
pub(super) async fn enter_verifier(
    phases: &PhaseNetworks,
    way: Option<&mut TrialNetwork>,
    sandbox: &dyn Sandbox,
) -> Result<(), Fault> {
    match way {
        Some(way) => way.enter(&phases.verifier, sandbox).await?,
        None if phases.agent != phases.verifier => sandbox.open_network(phases.verifier == Reach::Public).await?,
        None => {}
    }
    Ok(())
}
