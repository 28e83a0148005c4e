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
    /// How much of the skill's own text came before the model; `None` where none of it was seen on the wire.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill_text: Option<SkillText>,
}

impl Activation {
    /// Whether the skill is known not to have been there for the model: no request told of it, and it was not opened all the same. Such a
    /// trial is the same run as one without the skill.
    #[must_use]
    pub fn is_unavailable(&self) -> bool {
        self.listed == Some(false) && self.opened != Some(true)
    }
}

/// The skill's own text in the requests of an attempt: its description as listed, and lines of its text files wherever they stand. What the
/// agent program adds around it, and text in a changed form, is not in it: the true amount is rather larger.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillText {
    /// Characters in the request that held most of it: what it takes of the context.
    pub characters: u64,
    /// Characters over all requests, since what stays in the context is sent again with each: what is paid for, mostly as cache reads.
    pub characters_sent: u64,
}

impl SkillText {
    /// Characters that are taken for one token of English prose or code. An estimate by rule: providers tell tokens of whole requests only,
    /// and each has a tokenizer of its own.
    pub const CHARACTERS_PER_TOKEN: u64 = 4;

    /// The same after one more request, which held so many characters.
    #[must_use]
    pub fn and(self, characters: u64) -> Self {
        Self {
            characters: self.characters.max(characters),
            characters_sent: self.characters_sent.saturating_add(characters),
        }
    }

    /// Estimated tokens of the context.
    #[must_use]
    pub const fn estimated_tokens(&self) -> u64 {
        self.characters.div_ceil(Self::CHARACTERS_PER_TOKEN)
    }

    /// Estimated tokens over all requests.
    #[must_use]
    pub const fn estimated_tokens_sent(&self) -> u64 {
        self.characters_sent.div_ceil(Self::CHARACTERS_PER_TOKEN)
    }
}

#[cfg(test)]
mod tests {
    use super::SkillText;

    #[test]
    fn the_fullest_request_and_the_sum_are_kept_and_tokens_are_rounded_up() {
        let text = [3, 9, 6, 0].into_iter().fold(SkillText::default(), SkillText::and);
        assert_eq!(text, SkillText { characters: 9, characters_sent: 18 });
        assert_eq!((text.estimated_tokens(), text.estimated_tokens_sent()), (3, 5));
    }
}
