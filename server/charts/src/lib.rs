//! Domain values drawn as SVG, one file per chart. Colours are CSS variables, so one drawing serves both themes; foreign text is escaped.

mod canvas;
mod dumbbell;

pub use dumbbell::{Width, dumbbell};
