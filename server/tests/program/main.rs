//! The whole program, run as a person runs it: its own binary, the real container engine, a real data folder. One program, so that it is
//! linked once.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod approved;
mod audit;
mod cases;
mod check;
mod common;
mod comparison;
mod disk;
mod evals;
mod evaluation;
mod evaluations;
mod example;
mod flood;
mod help;
mod hostile;
mod input;
mod leaderboard;
mod live;
mod own_container;
mod pairing;
mod patch;
mod provider;
mod records;
mod recovery;
mod secrets;
mod upload;
mod verdicts;
mod web;
