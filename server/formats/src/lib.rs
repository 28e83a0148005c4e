//! Bytes to domain values and back: skills, task layouts, verifier results, traces, reports. Pure.

pub mod export;
pub mod import;
pub mod patch;
pub mod results;
pub mod skill;
pub mod snapshot;
pub mod task;
pub mod test_settings;
pub mod trace;
pub mod verdict;
