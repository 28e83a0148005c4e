//! The store at its boundary, on real files. One program, so that it is linked once.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod blobs;
mod broken;
mod claims;
mod evaluations;
mod events;
mod fixtures;
mod imported;
mod kill;
mod leaderboard;
mod load;
mod migrations;
mod skills;
mod states;
mod tasks;
