//! The two arms of a pair.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One arm of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Condition {
    /// The baseline: no skill where the agent looks.
    NoSkill,
    /// The same, and exactly the treatment's skills where the agent looks.
    WithSkill,
}

impl Condition {
    /// Both arms, baseline first.
    pub const BOTH: [Self; 2] = [Self::NoSkill, Self::WithSkill];

    /// The word used in tables, URLs and JSON.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::NoSkill => "no-skill",
            Self::WithSkill => "with-skill",
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// One value for each arm. The pair is in the type: never a loose list of two.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pair<T> {
    /// The baseline's.
    pub without: T,
    /// The treatment's.
    pub with: T,
}

impl<T> Pair<T> {
    /// The value of one arm.
    pub const fn get(&self, condition: Condition) -> &T {
        match condition {
            Condition::NoSkill => &self.without,
            Condition::WithSkill => &self.with,
        }
    }

    /// The value of one arm, to change.
    pub const fn get_mut(&mut self, condition: Condition) -> &mut T {
        match condition {
            Condition::NoSkill => &mut self.without,
            Condition::WithSkill => &mut self.with,
        }
    }

    /// A pair made from a look at a pair.
    pub fn map_ref<'a, U>(&'a self, mut f: impl FnMut(&'a T) -> U) -> Pair<U> {
        Pair { without: f(&self.without), with: f(&self.with) }
    }

    /// A pair made from a pair.
    pub fn map<U>(self, mut f: impl FnMut(T) -> U) -> Pair<U> {
        Pair { without: f(self.without), with: f(self.with) }
    }
}

/// What a complete pair says about the skill.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Flip {
    /// Only the with-skill trial passed.
    Rescued,
    /// Only the no-skill trial passed.
    Broken,
    /// Both passed.
    Both,
    /// Neither passed.
    Neither,
}

impl Flip {
    /// Compares the two arms' passes.
    #[must_use]
    pub const fn of(passed: Pair<bool>) -> Self {
        match (passed.without, passed.with) {
            (false, true) => Self::Rescued,
            (true, false) => Self::Broken,
            (true, true) => Self::Both,
            (false, false) => Self::Neither,
        }
    }

    /// The word used in tables and JSON.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Rescued => "rescued",
            Self::Broken => "broken",
            Self::Both => "both",
            Self::Neither => "neither",
        }
    }
}
