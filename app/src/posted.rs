//! What a form that was just posted led to, handed to the page that answers it.

use domain::listing::{SkillIntake, TaskIntake};
use serde::{Deserialize, Serialize};

use crate::error::AppError;

/// The outcome of a post that is answered by a page of its own rather than by a redirect.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Posted {
    /// An upload of skills.
    Skills(SkillIntake),
    /// A folder of tasks.
    Tasks {
        /// As it was asked for.
        path: String,
        /// What became of it.
        intake: TaskIntake,
    },
    /// It was not done.
    Failed(AppError),
}
