//! Domain values drawn as SVG, one file per chart. Colours are CSS variables, so one drawing serves both themes; foreign text is escaped.

mod badge;
mod canvas;
mod dumbbell;
mod tokens_by_step;

pub use badge::badge;
pub use dumbbell::{Width, dumbbell};
pub use tokens_by_step::tokens_by_step;
