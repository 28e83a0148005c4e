//! A verdict as a word, a sign and a colour together; and a Δ with its interval on one scale for a whole table.

use domain::leaderboard::{LeaderboardRow, Says};
use domain::listing::ShortHeadline;
use domain::stats::interval::Interval;
use leptos::prelude::*;

use super::delta::class;
use super::icon::{Icon, Sign};
use crate::format::{points, points_interval};

/// Without a colour of gain or loss.
const OPEN: &str = "says says-open";

/// Sign and colour of a verdict.
const fn look(says: Says) -> (Sign, &'static str) {
    match says {
        Says::Improves => (Sign::Rescued, "says says-up"),
        Says::Harms => (Sign::Broken, "says says-down"),
        Says::NoEffect => (Sign::Both, "says says-flat"),
        Says::NoResult => (Sign::NotScored, OPEN),
        Says::Inconclusive | Says::CannotBeResolved => (Sign::Neither, OPEN),
    }
}

/// The word with its sign. Without colour where the row has no place.
#[component]
pub fn Verdict(
    says: Says,
    /// Whether the row has a place.
    ranked: bool,
) -> impl IntoView {
    let (sign, colour) = look(says);
    let colour = if ranked || !says.is_settled() { colour } else { OPEN };
    view! { <span class=colour><Icon sign=sign/>{says.to_string()}</span> }
}

/// The word of a result's headline with its sign, in a list.
#[component]
pub fn HeadlineWord(
    headline: ShortHeadline,
    /// Whether it may have a colour.
    settled: bool,
) -> impl IntoView {
    let says = Says::from_word(&headline.class);
    let (sign, colour) = says.map_or((Sign::Neither, OPEN), look);
    let colour = if settled || !says.is_some_and(Says::is_settled) { colour } else { OPEN };
    view! { <span class=colour><Icon sign=sign/>{headline.word}</span> }
}

/// Δ, its interval as a bar and in numbers, and the flips behind it.
#[component]
pub fn DeltaCell(row: LeaderboardRow) -> impl IntoView {
    let settled = row.is_settled();
    let measured = row.record.measured;
    let tint = if settled { class(measured.delta) } else { "delta" };
    let bar = measured
        .delta
        .zip(measured.delta_ci())
        .map(|(delta, ci)| view! { <IntervalStrip delta=delta interval=ci settled=settled/> });
    let words = measured.delta_ci().map(points_interval);
    let flips = measured.estimate.map(|estimate| {
        let counts = estimate.counts;
        view! {
            <span class="flips" title=format!("{} pairs rescued, {} broken", counts.rescued, counts.broken)>
                <Icon sign=Sign::Rescued/>{counts.rescued}" "<Icon sign=Sign::Broken/>{counts.broken}
            </span>
        }
    });
    view! {
        <span class="delta-line"><span class=tint>{points(measured.delta)}</span>{bar}</span>
        {words.map(|words| view! { <span class="quiet block">{words}" "{flips}</span> })}
    }
}

/// An interval on the scale from −100 to +100 pp, without labels: the head of the column bears them.
#[component]
fn IntervalStrip(delta: f64, interval: Interval, settled: bool) -> impl IntoView {
    let x = |share: f64| format!("{:.1}", 60.0 + share.clamp(-1.0, 1.0) * 56.0);
    let colour = if settled { class(Some(delta)) } else { "delta" };
    let mark = if settled { "interval-mark" } else { "interval-mark interval-open" };
    view! {
        <svg class=format!("interval-strip {colour}") viewBox="0 0 120 14" aria-hidden="true" focusable="false">
            <line class="bar-base" x1="4" x2="116" y1="7" y2="7"></line>
            <line class="bar-zero" x1="60" x2="60" y1="1" y2="13"></line>
            <line class="interval-line" x1=x(interval.low) x2=x(interval.high) y1="7" y2="7"></line>
            <circle class=mark cx=x(delta) cy="7" r="3.5"></circle>
        </svg>
    }
}
