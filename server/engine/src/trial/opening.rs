//! Who solves a trial, the way to its model, and whether the skill on trial was put before it.

use std::sync::Arc;

use gateway::{TrialGateway, TrialTicket};

use super::fault::Fault;
use super::{Attempt, networks, replay, spending};
use crate::agent::Agent;

impl Attempt<'_> {
    pub(super) fn agent(&self) -> Result<Arc<dyn Agent>, Fault> {
        let wanted = &self.order.agent;
        let is_wanted = |agent: &&Arc<dyn Agent>| agent.name() == wanted.name && agent.version() == wanted.version;
        let agent = self.executor.agents.iter().find(is_wanted).cloned().ok_or_else(|| {
            let (name, version) = (&wanted.name, &wanted.version);
            Fault::Order(format!(
                "the agent '{name}' in version {version} is not known here; install or configure it and restart"
            ))
        })?;
        match agent.skill_obstacle() {
            Some(why) if wanted.skills.is_discovered() && self.order.has_skills() => Err(Fault::Order(why.to_owned())),
            _ => Ok(agent),
        }
    }

    /// A skill that lay in its place and was never put before the model was not on trial: both arms would be the same run.
    pub(super) fn is_skill_available(&self) -> Result<(), Fault> {
        if !self.order.on_trial().is_empty() && self.result.activation.is_unavailable() {
            let looked_in = self.result.audit.as_ref().map(|audit| audit.looked_in.join(", ")).unwrap_or_default();
            return Err(Fault::Audit(format!(
                "the skill was not available: it lay where the agent looks ({looked_in}), and no request told the model of it"
            )));
        }
        Ok(())
    }

    pub(super) async fn gateway(&self, agent: &dyn Agent) -> Result<Option<TrialGateway>, Fault> {
        if !agent.needs_model() {
            return Ok(None);
        }
        let model = self.order.model.as_ref();
        let model = model.ok_or_else(|| Fault::Order(format!("the agent '{}' needs a model", agent.name())))?;
        let order = self.order;
        let watch = self.executor.watch(order.watched()).await?;
        let ticket = TrialTicket {
            caps: spending::caps(order),
            budget: self.executor.budgets.of(order),
            lane: replay::lane(order),
            watch: order.watched().iter().map(|skill| skill.manifest.description.clone()).collect(),
            watch_anywhere: watch.lines,
            measure: watch.texts,
            provider_tools: networks::PhaseNetworks::of(order)?.provider_tools(),
            retry: self.executor.gateway.retry(),
            ..TrialTicket::new(order.attempt, &model.name, &model.upstream)
        };
        self.executor.gateway.open(ticket).map(Some).map_err(|error| Fault::Order(error.to_string()))
    }
}
