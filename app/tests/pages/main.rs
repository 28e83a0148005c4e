//! Pages and forms as a browser without JavaScript meets them: real operations, a real store, whole answers.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod beside;
mod forms;
mod leaderboard;
mod lists;
mod result;
mod support;
