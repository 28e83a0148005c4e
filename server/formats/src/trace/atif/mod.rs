//! The Agent Trajectory Interchange Format: v1.0 to v1.8 in, v1.8 out; and the bare list that its first agent still writes in its place.

mod episodes;
mod input;
mod output;

pub(super) use self::episodes::{fill as fill_episodes, is_episodes};
pub(super) use self::input::fill;
pub use self::output::{Actor, to_atif};
