//! Proof that the skill was there, or was not, and whether the agent saw and opened it (design §5.1).

use serde::{Deserialize, Serialize};

/// One skill that was found in a container.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct FoundSkill {
    /// Path of its `SKILL.md` in the container.
    pub path: String,
    /// Folder name.
    pub name: String,
}

/// What was found where the agent looks for skills, before it started.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillAudit {
    /// The folders that this agent looks in.
    pub looked_in: Vec<String>,
    /// Skills found in them.
    pub found: Vec<FoundSkill>,
    /// Skills that came with the image or repository and were removed in both arms.
    pub removed: Vec<String>,
}

/// What the trace proves about the use of the skill. `None` = cannot be told for this agent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Activation {
    /// The agent offered the skill to its model.
    pub listed: Option<bool>,
    /// The agent opened the skill.
    pub opened: Option<bool>,
    /// Files of the skill that were read.
    pub files_read: Vec<String>,
}
