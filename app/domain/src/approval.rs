//! Values of this machine that a task's verifier asks for (`verifier.env` with `${NAME}`): the one secret that may enter a container, and only
//! where a person has approved that variable for that version of the task.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::hash::ContentHash;
use crate::task::Task;
use crate::time::Timestamp;

/// One variable, approved for one version of a task. Part of a plan: what was approved when it was started is what its verifiers get.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Approval {
    /// The task version's address.
    pub task: ContentHash,
    /// The variable of this machine.
    pub name: String,
}

/// Why a variable is not given to a verifier, approved or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Withheld {
    /// The server's environment has no value for it.
    NotSet,
    /// Its value is too short to be found again in what is kept.
    TooShort,
    /// It holds the key of an upstream: those never enter a container.
    UpstreamKey,
}

impl Withheld {
    /// Reason and remedy.
    #[must_use]
    pub fn in_words(self, name: &str) -> String {
        match self {
            Self::NotSet => format!("{name} is not set where the server runs; set it and start the server again"),
            Self::TooShort => format!(
                "the value of {name} is too short to be taken out of logs again; write it into the task, or use a longer one"
            ),
            Self::UpstreamKey => format!(
                "{name} holds the key of an upstream, which enters no container; give that upstream its key under another name \
                 (key_env, key_file), and {name} a key made for this purpose"
            ),
        }
    }
}

/// Looks up a variable of this machine; given by whoever may read its environment.
pub type HostLookup = Arc<dyn Fn(&str) -> Result<String, Withheld> + Send + Sync>;

/// A variable that a task's verifier asks for, and how it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AskedVariable {
    /// The variable of this machine.
    pub name: String,
    /// Whether the verifier does without, by a default of the task's own.
    pub has_default: bool,
    /// When a person approved it; `None` = nobody has.
    pub approved_at: Option<Timestamp>,
    /// Why it would not be given even so; `None` = nothing is in the way.
    pub withheld: Option<Withheld>,
    /// How many tasks that were read from the same folder ask for it, this one among them.
    pub tasks_in_folder: u64,
    /// Whether nothing is approved on this server, since others than its owner may reach it.
    pub is_closed: bool,
}

/// The variables of this machine that a task's verifier asks for, each with whether the task has a default for all that it is for.
#[must_use]
pub fn asked(task: &Task) -> Vec<(&str, bool)> {
    let names: BTreeSet<&str> = task.verifier.env_from_host.values().map(String::as_str).collect();
    let has_default = |name: &str| {
        let for_it = task.verifier.env_from_host.iter().filter(|(_, asked)| *asked == name);
        for_it.map(|(variable, _)| variable).all(|variable| task.verifier.env.contains_key(variable))
    };
    names.into_iter().map(|name| (name, has_default(name))).collect()
}

/// Least length of a value that may be given, in bytes: what is shorter stands in ordinary text too, and could not be taken out of it.
pub const SHORTEST_VALUE: usize = 8;

/// Why a verifier that asks for a variable cannot be run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Obstacle {
    /// Nobody approved it.
    NotApproved,
    /// It was approved, and cannot be given.
    Withheld(Withheld),
}

/// What a variable is filled with: the value of this machine, or (`None`) the task's own default. An approved value goes over a default; a
/// default stands in where nothing is approved or set.
///
/// # Errors
/// [`Obstacle`], where the verifier would judge something else without the value.
pub fn decide<T>(
    has_default: bool,
    is_approved: bool,
    value: impl FnOnce() -> Result<T, Withheld>,
) -> Result<Option<T>, Obstacle> {
    match (is_approved, has_default) {
        (false, true) => Ok(None),
        (false, false) => Err(Obstacle::NotApproved),
        (true, _) => match value() {
            Ok(value) => Ok(Some(value)),
            Err(Withheld::NotSet) if has_default => Ok(None),
            Err(why) => Err(Obstacle::Withheld(why)),
        },
    }
}

/// For which tasks an approval is given, or taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// This version of this task.
    Task,
    /// The tasks that were last read from the same folder and ask for the same variable, each in the version that was read.
    Folder,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_given_only_where_it_is_approved_and_can_be() {
        use Obstacle::{NotApproved, Withheld as Kept};
        for (has_default, is_approved, value, want) in [
            (false, false, Ok("v"), Err(NotApproved)),
            (true, false, Ok("v"), Ok(None)),
            (false, true, Ok("v"), Ok(Some("v"))),
            (true, true, Ok("v"), Ok(Some("v"))),
            (true, true, Err(Withheld::NotSet), Ok(None)),
            (false, true, Err(Withheld::NotSet), Err(Kept(Withheld::NotSet))),
            (true, true, Err(Withheld::UpstreamKey), Err(Kept(Withheld::UpstreamKey))),
            (true, true, Err(Withheld::TooShort), Err(Kept(Withheld::TooShort))),
        ] {
            assert_eq!(decide(has_default, is_approved, || value), want, "{has_default} {is_approved} {value:?}");
        }
    }
}
