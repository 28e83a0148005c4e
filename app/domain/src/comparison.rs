//! What is compared with what. The arms of a pair stay `no-skill` (the baseline's) and `with-skill` (the treatment's) in rows and JSON; the
//! comparison says what each held, and what lay beside it in both.

use serde::{Deserialize, Serialize};

use crate::condition::Pair;
use crate::plan::{SkillRef, Treatment};

/// What the baseline arm gets.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Baseline {
    /// No skill.
    #[default]
    NoSkill,
    /// Earlier versions of the treatment's skills: old against new.
    PreviousVersion {
        /// At least one.
        versions: Vec<SkillRef>,
    },
    /// Skills that have nothing to do with the tasks: tells what the treatment says from that anything is said at all.
    Control {
        /// At least one.
        versions: Vec<SkillRef>,
    },
    /// The same as the other arm (A/A): whatever differs is noise.
    Same,
}

/// What is compared with the treatment, and what lies beside both.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Comparison {
    /// What the baseline arm gets.
    pub baseline: Baseline,
    /// Skills that are present in both arms.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub distractors: Vec<SkillRef>,
}

/// The kinds of comparison, as words go by them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Compared {
    /// With the skill against without.
    #[default]
    NoSkill,
    /// A new version against an old one.
    PreviousVersion,
    /// The skill against one that has nothing to do with the tasks.
    Control,
    /// Two arms that are the same.
    #[serde(rename = "a-a")]
    Same,
}

impl Compared {
    /// The word in JSON, URLs and tables.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::NoSkill => "no-skill",
            Self::PreviousVersion => "previous-version",
            Self::Control => "control",
            Self::Same => "a-a",
        }
    }

    /// What the arms are called.
    #[must_use]
    pub const fn arms(self) -> Pair<&'static str> {
        match self {
            Self::NoSkill => Pair { without: "no-skill", with: "with-skill" },
            Self::PreviousVersion => Pair { without: "previous-version", with: "new-version" },
            Self::Control => Pair { without: "control", with: "with-skill" },
            Self::Same => Pair { without: "arm-a", with: "arm-b" },
        }
    }

    /// Whether a difference says something about a skill.
    #[must_use]
    pub const fn is_of_a_skill(self) -> bool {
        !matches!(self, Self::Same)
    }
}

impl Comparison {
    /// Its kind.
    #[must_use]
    pub const fn kind(&self) -> Compared {
        match &self.baseline {
            Baseline::NoSkill => Compared::NoSkill,
            Baseline::PreviousVersion { .. } => Compared::PreviousVersion,
            Baseline::Control { .. } => Compared::Control,
            Baseline::Same => Compared::Same,
        }
    }

    /// Skill against no skill and nothing beside: what leaderboards rank.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }

    /// Skill versions that it names beside the treatment's.
    pub fn versions(&self) -> impl Iterator<Item = &SkillRef> {
        let baseline = match &self.baseline {
            Baseline::PreviousVersion { versions } | Baseline::Control { versions } => versions.as_slice(),
            Baseline::NoSkill | Baseline::Same => &[],
        };
        baseline.iter().chain(&self.distractors)
    }

    /// The first thing that makes no sense together with `treatment`.
    #[must_use]
    pub fn fault(&self, treatment: &Treatment) -> Option<&'static str> {
        match (&self.baseline, treatment) {
            (Baseline::PreviousVersion { versions } | Baseline::Control { versions }, _) if versions.is_empty() => {
                Some("its baseline has no skill")
            }
            (Baseline::PreviousVersion { .. }, Treatment::TasksOwn) => {
                Some("tasks bring their skills in one version; a previous version needs a chosen skill")
            }
            (Baseline::NoSkill | Baseline::PreviousVersion { .. } | Baseline::Control { .. }, Treatment::Nothing) => {
                Some("without a treatment both arms must be the same")
            }
            _ => None,
        }
    }
}
