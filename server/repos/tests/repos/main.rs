//! Fetching from repositories that the tests make themselves, with the real program git.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod hostile;
mod prune;
mod snapshot;
mod support;
