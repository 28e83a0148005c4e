//! Values of this machine that the verifier of one attempt gets: those that a person approved for this version of the task, and no others. They go into
//! the environment of the verifier's program alone, and out of everything that the attempt leaves behind.

use domain::approval::{Approval, HostLookup, Obstacle, decide};
use domain::finding::Finding;
use domain::order::TrialOrder;

use super::fault::Fault;

/// What one attempt's verifier gets of this machine.
#[derive(Default)]
pub(super) struct HostValues {
    /// By the names that the verifier's program sees. Whoever keeps something takes the values out of it.
    pub(super) env: Vec<(String, String)>,
    names: Vec<String>,
}

impl HostValues {
    /// What was approved for the task of an order.
    pub(super) fn of(order: &TrialOrder, look_up: &HostLookup) -> Result<Self, Fault> {
        let (version, verifier) = (order.task.version(), &order.task.verifier);
        let mut values = Self::default();
        for (variable, name) in &verifier.env_from_host {
            let is_approved = order.settings.approved.contains(&Approval { task: version, name: name.clone() });
            match decide(verifier.env.contains_key(variable), is_approved, || look_up(name)) {
                Ok(None) => {}
                Ok(Some(value)) => {
                    values.env.push((variable.clone(), value));
                    values.names.push(name.clone());
                }
                Err(Obstacle::NotApproved) => {
                    let message = "which nobody approved; approve it on the task's page and start the evaluation again";
                    return Err(Fault::Order(format!("the verifier asks for {name} of this machine, {message}")));
                }
                Err(Obstacle::Withheld(why)) => {
                    let why = why.in_words(name);
                    return Err(Fault::Order(format!("the verifier asks for {name} of this machine: {why}")));
                }
            }
        }
        values.names.sort();
        values.names.dedup();
        Ok(values)
    }

    /// That they were given, for whoever reads the result.
    pub(super) fn told(&self) -> Option<Finding> {
        let names = self.names.join(", ");
        (!self.names.is_empty()).then(|| {
            let message = format!("the verifier was given {names} of this machine, as a person approved");
            Finding::note("variable_given", "verifier.env", message)
        })
    }
}
