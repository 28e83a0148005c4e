//! Variables of this machine for verifiers, read when they are needed. Which of them may be given is for a person to approve.

use std::sync::Arc;

use domain::approval::{HostLookup, SHORTEST_VALUE, Withheld};

use crate::config::{Config, variable};

/// The look-up. The keys of the upstreams are never answered.
#[must_use]
pub fn look_up(config: &Config) -> HostLookup {
    let keys: Vec<String> = config.upstream_keys().map(str::to_owned).collect();
    Arc::new(move |name| {
        let value = variable(name).ok_or(Withheld::NotSet)?;
        if keys.contains(&value) {
            return Err(Withheld::UpstreamKey);
        }
        if value.len() < SHORTEST_VALUE { Err(Withheld::TooShort) } else { Ok(value) }
    })
}
