//! The two arms: always the same two colours, always the same order, always named.

use domain::condition::Condition;
use leptos::prelude::*;

/// Class that gives an arm its colour.
#[must_use]
pub const fn class(condition: Condition) -> &'static str {
    match condition {
        Condition::NoSkill => "arm arm-without",
        Condition::WithSkill => "arm arm-with",
    }
}

/// The name of an arm with its mark: a hollow square for no-skill, a filled one for with-skill.
#[component]
pub fn ArmName(condition: Condition) -> impl IntoView {
    view! { <span class=class(condition)><span class="arm-mark" aria-hidden="true"></span>{condition.word()}</span> }
}
