//! Runs one trial: sandboxes, agents, verification, failure classes.
