//! Δ as a number and as a bar from the zero line.

use domain::stats::interval::Interval;
use leptos::prelude::*;

use crate::format::points;

/// Direction of a Δ, for its colour: 0 and unknown have none.
#[must_use]
pub fn class(delta: Option<f64>) -> &'static str {
    match delta {
        Some(delta) if delta > 0.0005 => "delta delta-up",
        Some(delta) if delta < -0.0005 => "delta delta-down",
        _ => "delta delta-flat",
    }
}

/// The class without a direction, where the number alone must not look like a gain or a loss.
const NEUTRAL: &str = "delta";

/// The number alone.
#[component]
pub fn Delta(
    delta: Option<f64>,
    /// Without colour: what it says is not settled, or not known here.
    #[prop(optional)]
    neutral: bool,
) -> impl IntoView {
    view! { <span class=if neutral { NEUTRAL } else { class(delta) }>{points(delta)}</span> }
}

/// A bar from the middle (0) to the left or right; the whole width is −100 to +100 pp, the same wherever it stands.
#[component]
pub fn DeltaBar(
    delta: Option<f64>,
    /// Without colour.
    #[prop(optional)]
    neutral: bool,
) -> impl IntoView {
    let colour = if neutral { NEUTRAL } else { class(delta) };
    let value = delta.unwrap_or(0.0).clamp(-1.0, 1.0) * 48.0;
    let (x, width) = if value < 0.0 { (50.0 + value, -value) } else { (50.0, value) };
    view! {
        <svg class=format!("delta-bar {colour}") viewBox="0 0 100 12" preserveAspectRatio="none" aria-hidden="true" focusable="false">
            <line class="bar-base" x1="2" x2="98" y1="6" y2="6"></line>
            <rect class="bar-value" x=format!("{x:.1}") width=format!("{width:.1}") y="3" height="6"></rect>
            <line class="bar-zero" x1="50" x2="50" y1="0" y2="12"></line>
        </svg>
    }
}

/// A Δ with its interval on the scale from −100 to +100 pp; the mark is hollow while the interval leaves open which way it goes.
#[component]
pub fn IntervalBar(
    /// The estimate.
    delta: f64,
    /// Its interval.
    interval: Interval,
    /// Whether the verdict is settled.
    settled: bool,
    /// How far chance alone moves Δ, where that was measured.
    #[prop(optional_no_strip)]
    noise: Option<f64>,
) -> impl IntoView {
    let x = |share: f64| format!("{:.1}", 160.0 + share.clamp(-1.0, 1.0) * 150.0);
    let colour = if settled { class(Some(delta)) } else { NEUTRAL };
    let mark = if settled { "interval-mark" } else { "interval-mark interval-open" };
    let (low, high) = (x(interval.low), x(interval.high));
    let noise = noise.map(|noise| {
        let width = format!("{:.1}", noise.min(1.0) * 300.0);
        view! { <rect class="bar-noise" x=x(-noise) width=width y="2" height="24"></rect> }
    });
    let label = |share: f64, words: &'static str| view! { <text x=x(share) y="38" text-anchor="middle">{words}</text> };
    view! {
        <svg class=format!("interval-bar {colour}") viewBox="0 0 320 42" aria-hidden="true" focusable="false">
            {noise}
            <line class="bar-base" x1=x(-1.0) x2=x(1.0) y1="14" y2="14"></line>
            <line class="bar-zero" x1=x(0.0) x2=x(0.0) y1="2" y2="26"></line>
            <line class="interval-line" x1=low.clone() x2=high.clone() y1="14" y2="14"></line>
            <line class="interval-line" x1=low.clone() x2=low y1="9" y2="19"></line>
            <line class="interval-line" x1=high.clone() x2=high y1="9" y2="19"></line>
            <circle class=mark cx=x(delta) cy="14" r="5"></circle>
            {label(-0.94, "−100")}
            {label(0.0, "0")}
            {label(0.9, "+100 pp")}
        </svg>
    }
}
