//! The two arms: always the same two colours, always the same order, always named by what they held.

use domain::condition::{Condition, Pair};
use leptos::prelude::*;

/// What the arms on this page are called.
#[derive(Clone, Copy)]
struct Names(Pair<&'static str>);

/// Has the arms on this page called by these names. Without it they are `no-skill` and `with-skill`.
pub fn call_arms(names: Pair<&'static str>) {
    provide_context(Names(names));
}

/// What an arm is called here.
#[must_use]
pub fn name(condition: Condition) -> &'static str {
    use_context::<Names>().map_or(condition.word(), |names| *names.0.get(condition))
}

/// Class that gives an arm its colour.
#[must_use]
pub const fn class(condition: Condition) -> &'static str {
    match condition {
        Condition::NoSkill => "arm arm-without",
        Condition::WithSkill => "arm arm-with",
    }
}

/// The name of an arm with its mark: a hollow square for the baseline, a filled one for the treatment.
#[component]
pub fn ArmName(condition: Condition) -> impl IntoView {
    view! { <span class=class(condition)><span class="arm-mark" aria-hidden="true"></span>{name(condition)}</span> }
}
