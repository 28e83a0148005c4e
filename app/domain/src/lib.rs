//! The pure nouns and rules of Skilldelta: no I/O, no clock, no randomness of its own. Compiles to native code and to wasm.

pub mod condition;
pub mod finding;
pub mod hash;
pub mod id;
pub mod path;
pub mod skill;
pub mod skill_audit;
pub mod stats;
pub mod task;
pub mod test_case;
pub mod time;
pub mod trace;
pub mod tree;
pub mod usage;
pub mod verdict;
