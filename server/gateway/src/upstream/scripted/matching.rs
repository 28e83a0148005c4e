//! Which rule of a script a request meets.

use super::asked::Asked;
use super::script::{Listed, When};

/// How our own agent opens its list of skills in the system prompt; without a skill it writes no list.
pub const SKILL_LIST_MARK: &str = "<available_skills>";

pub(super) fn holds(when: &When, asked: &Asked) -> bool {
    let listed = match &when.skill_listed {
        None => true,
        Some(Listed::Any(wanted)) => asked.system.contains(SKILL_LIST_MARK) == *wanted,
        Some(Listed::Described(texts)) => contains_all(&asked.told(), texts.as_slice()),
    };
    listed
        && contains_all(&asked.user, when.task_contains.as_slice())
        && contains_all(&asked.system, when.system_contains.as_slice())
}

fn contains_all(text: &str, wanted: &[String]) -> bool {
    let text = one_blank(text);
    wanted.iter().all(|wanted| text.contains(&one_blank(wanted)))
}

fn one_blank(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
