//! What a pair says: rescued, broken, both, neither, or not scored.

use domain::condition::{Condition, Flip};
use domain::report::PairedTrials;
use leptos::prelude::*;

use super::arms::name;
use super::icon::{Icon, Sign};

/// Sign, class and word of what a pair says; `None` = not scored.
#[must_use]
pub const fn look(flip: Option<Flip>) -> (Sign, &'static str, &'static str) {
    match flip {
        Some(Flip::Rescued) => (Sign::Rescued, "flip flip-rescued", "rescued"),
        Some(Flip::Broken) => (Sign::Broken, "flip flip-broken", "broken"),
        Some(Flip::Both) => (Sign::Both, "flip flip-both", "both"),
        Some(Flip::Neither) => (Sign::Neither, "flip flip-neither", "neither"),
        None => (Sign::NotScored, "flip flip-none", "not scored"),
    }
}

/// What the word means, as a hint.
#[must_use]
pub fn meaning(flip: Option<Flip>) -> String {
    match flip {
        Some(Flip::Rescued) => format!("only the {} trial passed", name(Condition::WithSkill)),
        Some(Flip::Broken) => format!("only the {} trial passed", name(Condition::NoSkill)),
        Some(Flip::Both) => "both trials passed".to_owned(),
        Some(Flip::Neither) => "neither trial passed".to_owned(),
        None => "at least one trial has no score, so the pair is left out".to_owned(),
    }
}

/// Sign and word.
#[component]
pub fn FlipMark(flip: Option<Flip>) -> impl IntoView {
    let (sign, class, word) = look(flip);
    view! { <span class=class title=meaning(flip)><Icon sign=sign/><span>{word}</span></span> }
}

/// A pair of a matrix as a link to its page.
#[component]
pub fn FlipLink(
    /// The pair.
    pair: PairedTrials,
    /// Its page.
    href: String,
    /// It is not what was asked for, and stands here with the rest of its task.
    #[prop(optional)]
    other: bool,
) -> impl IntoView {
    let (sign, class, word) = look(pair.flip);
    let other = if other { " flip-other" } else { "" };
    let title = pair.void.clone().unwrap_or_else(|| meaning(pair.flip));
    view! {
        <a class=format!("{class} flip-link{other}") href=href title=title>
            <Icon sign=sign/>
            <span>{word}</span>
            <span class="visually-hidden">{format!(", repeat {}", pair.repeat)}</span>
        </a>
    }
}
