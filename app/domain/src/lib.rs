//! The pure nouns and rules of Skilldelta: no I/O, no clock, no randomness of its own. Compiles to native code and to wasm.

pub mod analysis;
pub mod attempt;
pub mod condition;
pub mod draw;
pub mod finding;
pub mod hash;
pub mod history;
pub mod id;
pub mod imported;
pub mod listing;
pub mod order;
pub mod path;
pub mod plan;
pub mod published;
pub mod report;
pub mod skill;
pub mod skill_audit;
pub mod stats;
pub mod task;
pub mod test_case;
pub mod time;
pub mod trace;
pub mod tree;
pub mod trial;
pub mod usage;
pub mod verdict;
