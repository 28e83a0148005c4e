//! The one place where pages and forms meet the operations.

pub use ops::{Ops, OpsError, Upload};
