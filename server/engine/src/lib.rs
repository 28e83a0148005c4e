//! Runs one trial: sandboxes, agents, verification, failure classes.

pub mod agent;
pub mod blobs;
pub mod image;
pub mod network;
pub mod sandbox;
pub mod trees;
pub mod trial;
