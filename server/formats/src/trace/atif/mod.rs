//! The Agent Trajectory Interchange Format: v1.2 to v1.8 in, v1.8 out.

mod input;
mod output;

pub(super) use self::input::fill;
pub use self::output::{Actor, to_atif};
