//! The pure nouns and rules of Skilldelta: no I/O, no clock, no randomness of its own. Compiles to native code and to wasm.

pub mod finding;
pub mod hash;
pub mod path;
pub mod skill;
pub mod stats;
pub mod tree;
