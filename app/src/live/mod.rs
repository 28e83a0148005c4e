//! Live updates of an evaluation or an audit: what an event changes (pure), and how events come in (browser only).

mod follow;
mod followed;
mod state;

pub use follow::{Link, follow};
pub use state::{LogLine, log_lines};
