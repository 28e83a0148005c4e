//! What is looked for on the wire to prove the use of a skill: a line of its body, and how much of its text came before the model.

use domain::skill::SkillPackage;

use super::Executor;
use super::fault::Fault;
use crate::agent::evidence::telling_line;

/// Largest file of a skill whose text is measured, and bytes in all: beyond are data, not texts to read.
const FILE_BYTES: u64 = 256 << 10;
const ALL_BYTES: u64 = 4 << 20;

/// What the gateway is told of the treatment's skills.
#[derive(Default)]
pub(super) struct Watch {
    /// Lines by which the bodies of skills are known.
    pub(super) lines: Vec<String>,
    /// Their text files.
    pub(super) texts: Vec<String>,
}

impl Executor {
    pub(super) async fn watch(&self, skills: &[SkillPackage]) -> Result<Watch, Fault> {
        let mut watch = Watch::default();
        let mut left = ALL_BYTES;
        for skill in skills {
            watch.lines.extend(telling_line(&self.skill_text(skill).await?));
            for (_, entry) in skill.tree.iter().filter(|(_, entry)| entry.size <= FILE_BYTES) {
                if entry.size > left {
                    continue;
                }
                left -= entry.size;
                let bytes = self.blobs.get(entry.hash).await;
                let bytes = bytes.map_err(|source| Fault::Blobs { what: "a file of the skill", source })?;
                // What is no text comes before no model as it is.
                watch.texts.extend(String::from_utf8(bytes).ok());
            }
        }
        Ok(watch)
    }
}
