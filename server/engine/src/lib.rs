//! Runs one trial: sandboxes, agents, verification, failure classes.
pub mod sandbox;
