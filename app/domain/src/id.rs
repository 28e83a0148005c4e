//! Row identities as distinct types, so that a trial's id cannot be given where an attempt's is wanted.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub i64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = std::num::ParseIntError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                text.parse().map(Self)
            }
        }
    )*};
}

ids! {
    /// A named skill of one owner.
    SkillId,
    /// The exact bytes of a skill.
    SkillVersionId,
    /// The exact bytes of a task.
    TaskId,
    /// A named list of tasks.
    TaskSetId,
    /// The leaderboard as it was published at an instant.
    SnapshotId,
    /// Several evaluations read together.
    CampaignId,
    /// A plan: treatment × tasks × agent × model × repeats × both conditions.
    EvaluationId,
    /// Task × condition × repeat within an evaluation.
    TrialId,
    /// One try at a trial.
    AttemptId,
    /// One thing that happened to an attempt; also its place in the live stream.
    EventId,
}
