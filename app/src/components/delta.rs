//! Δ as a number and as a bar from the zero line.

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

/// The number alone.
#[component]
pub fn Delta(delta: Option<f64>) -> impl IntoView {
    view! { <span class=class(delta)>{points(delta)}</span> }
}

/// A bar from the middle (0) to the left or right; the whole width is −100 to +100 pp, the same wherever it stands.
#[component]
pub fn DeltaBar(delta: Option<f64>) -> impl IntoView {
    let value = delta.unwrap_or(0.0).clamp(-1.0, 1.0) * 48.0;
    let (x, width) = if value < 0.0 { (50.0 + value, -value) } else { (50.0, value) };
    view! {
        <svg class=format!("delta-bar {}", class(delta)) viewBox="0 0 100 12" preserveAspectRatio="none" aria-hidden="true" focusable="false">
            <line class="bar-base" x1="2" x2="98" y1="6" y2="6"></line>
            <rect class="bar-value" x=format!("{x:.1}") width=format!("{width:.1}") y="3" height="6"></rect>
            <line class="bar-zero" x1="50" x2="50" y1="0" y2="12"></line>
        </svg>
    }
}
