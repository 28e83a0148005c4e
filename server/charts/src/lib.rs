//! Domain values drawn as SVG, one file per chart. Colours are CSS variables, so one drawing serves both themes; foreign text is escaped.

mod badge;
mod canvas;
mod dumbbell;
mod forest;
mod layout;
mod quadrant;
mod tokens;
mod tokens_by_step;

pub use badge::badge;
pub use dumbbell::{Links, dumbbell};
pub use forest::{Forest, ForestRow, forest};
pub use layout::Width;
pub use quadrant::{QuadrantPoint, quadrant};
pub use tokens::tokens;
pub use tokens_by_step::tokens_by_step;
