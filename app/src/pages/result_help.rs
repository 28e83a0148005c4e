//! How to read a result, for somebody who has never seen one.

use leptos::prelude::*;

/// A word and what it means here.
type Word = (&'static str, &'static str);

const WORDS: [Word; 10] = [
    (
        "Pair",
        "One task, tried twice by the same agent with the same model: once without the skill (no-skill), once with it (with-skill). Nothing else differs. The task's own tests decide whether a trial passed.",
    ),
    (
        "Rescued, broken",
        "Rescued: failed without the skill, passed with it. Broken: the other way round. Only these pairs tell something about the skill; where both passed or neither did, it made no difference.",
    ),
    (
        "Δ (delta)",
        "Pass rate with the skill minus pass rate without. From 40 % to 55 % is Δ = +15 pp (percentage points). Above 0 more tasks pass with the skill.",
    ),
    (
        "95 % interval",
        "Agents do not do the same thing twice, and there are only so many tasks: the true Δ lies somewhere in this range. Where it crosses 0, a gain and a loss are both still possible.",
    ),
    (
        "ρ (rho)",
        "How many more tokens a trial takes with the skill: +22 % means 122 for every 100. Tokens are what a model reads and writes, and what it is paid by.",
    ),
    (
        "Improves, Harms",
        "The difference is larger than chance explains: p is at most 5 %, and the interval does not reach 0.",
    ),
    (
        "No effect",
        "The interval is so narrow, and so close to 0, that a difference that matters has been ruled out. That is a result.",
    ),
    (
        "Inconclusive",
        "Not enough to tell. It does not mean that the skill does nothing: a larger evaluation may show a gain or a loss.",
    ),
    (
        "Noise floor",
        "How far Δ moves where nothing differs: measured by an A/A evaluation, whose two arms are the same. A Δ no larger than that may be nothing but chance.",
    ),
    (
        "Cannot be resolved",
        "With so few tasks no outcome whatever could have been told from chance (fewer than 6 tasks). Only more tasks help.",
    ),
];

/// The fold.
#[component]
pub fn HowToRead() -> impl IntoView {
    let words = WORDS.map(|(word, meaning)| view! { <div><dt>{word}</dt><dd>{meaning}</dd></div> });
    view! {
        <details class="how-to-read">
            <summary>"How to read this page"</summary>
            <dl>{words.into_iter().collect_view()}</dl>
        </details>
    }
}
