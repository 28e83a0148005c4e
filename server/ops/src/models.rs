//! Which model an evaluation asks, and of whom: refused here where it cannot be asked, or not under the caps that were set.

use std::fmt;
use std::sync::Arc;

use domain::listing::{AgentChoice, PlanRequest};
use domain::plan::ModelRef;
use domain::spending::SpendingCaps;

use crate::{Ops, OpsError, Result};

/// Says of a model's name whether its price is known.
#[derive(Clone)]
pub struct Priced(Arc<dyn Fn(&str) -> bool + Send + Sync>);

impl Priced {
    /// With this way to look a price up.
    #[must_use]
    pub fn new(knows: Arc<dyn Fn(&str) -> bool + Send + Sync>) -> Self {
        Self(knows)
    }
}

impl Default for Priced {
    /// No price is known.
    fn default() -> Self {
        Self(Arc::new(|_| false))
    }
}

impl fmt::Debug for Priced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Priced")
    }
}

impl Ops {
    pub(crate) fn model(&self, agent: &AgentChoice, request: &PlanRequest) -> Result<Option<ModelRef>> {
        if !agent.needs_model {
            return Ok(None);
        }
        let known = self.config.models.iter().find(|model| {
            (request.upstream.is_empty() || model.upstream == request.upstream)
                && (request.model.is_empty() || model.name == request.model)
        });
        if let Some(model) = known {
            return Ok(Some(model.clone()));
        }
        // A model that the settings do not list may still be asked of an upstream by name.
        match self.config.upstreams.iter().find(|upstream| upstream.name == request.upstream) {
            Some(upstream) if !request.model.is_empty() => Ok(Some(ModelRef {
                name: request.model.clone(),
                upstream: upstream.name.clone(),
                scripted: upstream.scripted,
            })),
            Some(upstream) => {
                Err(OpsError::field("model", format!("name a model that the upstream '{}' serves", upstream.name)))
            }
            None => Err(OpsError::field("model", self.no_upstream(&agent.agent.name, &request.upstream))),
        }
    }

    fn no_upstream(&self, agent: &str, asked: &str) -> String {
        let unusable = &self.config.unusable_upstreams;
        if let Some((name, missing)) = unusable.iter().find(|(name, _)| name == asked) {
            return format!("the upstream '{name}' cannot be asked: {missing}; mend that and start the program again");
        }
        let names: Vec<&str> = self.config.upstreams.iter().map(|upstream| upstream.name.as_str()).collect();
        let there_are =
            if names.is_empty() { "there is none".to_owned() } else { format!("there are: {}", names.join(", ")) };
        let what = match asked {
            "" => format!("the agent '{agent}' needs a model: name an upstream and a model"),
            asked => format!("there is no upstream '{asked}'"),
        };
        let unusable: String =
            unusable.iter().map(|(name, missing)| format!(", and '{name}' cannot be asked: {missing}")).collect();
        format!(
            "{what}; {there_are}{unusable}. One comes with the provider's key in the environment (ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY), with \
             [upstreams.NAME] in skilldelta.toml, or, as 'scripted', with a file of answers (--scripted-model FILE)"
        )
    }

    /// A cap on money is kept by counting what calls cost, so a model without a price cannot be held to one.
    pub(crate) fn money_counts(&self, model: Option<&ModelRef>, caps: &SpendingCaps) -> Result<()> {
        let capped = caps.trial_money.or(caps.evaluation_money).is_some();
        match model {
            Some(model) if capped && !(self.config.priced.0)(&model.name) => Err(OpsError::field(
                "money",
                format!(
                    "the price of the model '{}' is not known, so a cap on money cannot be kept; cap the tokens instead, or name a price table \
                     that has it by `prices` in skilldelta.toml",
                    model.name
                ),
            )),
            Some(_) | None => Ok(()),
        }
    }
}
