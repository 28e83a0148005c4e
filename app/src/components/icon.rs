//! Small signs that stand beside a word, never in its place. Drawn on a 16 × 16 grid in the text's colour.

use leptos::prelude::*;

/// A sign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// Triangle up: only the with-skill trial passed.
    Rescued,
    /// Triangle down: only the no-skill trial passed.
    Broken,
    /// Filled disc: both passed.
    Both,
    /// Ring: neither passed.
    Neither,
    /// Hatched square: no score.
    NotScored,
    /// Check mark.
    Pass,
    /// Cross.
    Fail,
    /// Clock: a limit of time.
    TimedOut,
    /// Chip: a limit of memory.
    OutOfMemory,
    /// Barred disc: declined, cancelled.
    Barred,
    /// Coins: a cap.
    Budget,
    /// Dotted ring: waits.
    Queued,
    /// A quarter done.
    Quarter,
    /// Half done.
    Half,
    /// Three quarters done.
    ThreeQuarters,
    /// Triangle with a mark.
    Warning,
    /// Octagon with a mark.
    Error,
    /// Circle with an i.
    Note,
    /// Arrow to the right.
    Next,
    /// Arrow to the left.
    Previous,
    /// Two arrows that cross.
    Moved,
    /// Plus.
    Add,
}

impl Sign {
    /// Filled outline, stroked lines.
    const fn paths(self) -> (&'static str, &'static str) {
        match self {
            Self::Rescued => ("M8 2.5 14.5 13.5H1.5Z", ""),
            Self::Broken => ("M8 13.5 1.5 2.5H14.5Z", ""),
            Self::Both => ("M8 2.5a5.5 5.5 0 1 0 0 11a5.5 5.5 0 0 0 0-11Z", ""),
            Self::Neither => ("", "M8 3a5 5 0 1 0 0 10a5 5 0 0 0 0-10Z"),
            Self::NotScored => ("", "M2.5 2.5h11v11h-11ZM2.5 8 8 2.5M2.5 13.5l11-11M8 13.5l5.5-5.5"),
            Self::Pass => ("", "M2.5 8.5 6.5 12.5 13.5 4"),
            Self::Fail => ("", "M3.5 3.5l9 9M12.5 3.5l-9 9"),
            Self::TimedOut => ("", "M8 2a6 6 0 1 0 0 12a6 6 0 0 0 0-12ZM8 4.5V8l2.5 2"),
            Self::OutOfMemory => {
                ("M6 6h4v4H6Z", "M4 4h8v8H4ZM6 1.5V4M10 1.5V4M6 12v2.5M10 12v2.5M1.5 6H4M1.5 10H4M12 6h2.5M12 10h2.5")
            }
            Self::Barred => ("", "M8 2a6 6 0 1 0 0 12a6 6 0 0 0 0-12ZM3.8 3.8l8.4 8.4"),
            Self::Budget => (
                "",
                "M2.5 4.5a5.5 2 0 1 0 11 0a5.5 2 0 1 0-11 0ZM2.5 4.5v7c0 1.1 2.5 2 5.5 2s5.5-.9 5.5-2v-7M2.5 8c0 1.1 2.5 2 5.5 2s5.5-.9 5.5-2",
            ),
            Self::Queued => (
                "M7 1.5h2v2H7ZM7 12.5h2v2H7ZM1.5 7h2v2h-2ZM12.5 7h2v2h-2ZM3 3h2v2H3ZM11 3h2v2h-2ZM3 11h2v2H3ZM11 11h2v2h-2Z",
                "",
            ),
            Self::Quarter => ("M8 8V3a5 5 0 0 1 5 5Z", "M8 2.5a5.5 5.5 0 1 0 0 11a5.5 5.5 0 0 0 0-11Z"),
            Self::Half => ("M8 3a5 5 0 0 1 0 10Z", "M8 2.5a5.5 5.5 0 1 0 0 11a5.5 5.5 0 0 0 0-11Z"),
            Self::ThreeQuarters => ("M8 8V3a5 5 0 1 1-5 5Z", "M8 2.5a5.5 5.5 0 1 0 0 11a5.5 5.5 0 0 0 0-11Z"),
            Self::Warning => ("M7.2 11h1.6v1.6H7.2ZM7.2 6h1.6v4H7.2Z", "M8 2 14.5 14h-13Z"),
            Self::Error => {
                ("M7.2 10.2h1.6v1.6H7.2ZM7.2 4.2h1.6v5H7.2Z", "M5.2 1.5h5.6l3.7 3.7v5.6l-3.7 3.7H5.2l-3.7-3.7V5.2Z")
            }
            Self::Note => {
                ("M7.2 4.2h1.6v1.6H7.2ZM7.2 7h1.6v5H7.2Z", "M8 1.8a6.2 6.2 0 1 0 0 12.4a6.2 6.2 0 0 0 0-12.4Z")
            }
            Self::Next => ("", "M6 3l5 5-5 5"),
            Self::Previous => ("", "M10 3 5 8l5 5"),
            Self::Moved => ("", "M2 4.5h4l4 7h4M12 9.5l2 2-2 2M2 11.5h4l4-7h4M12 2.5l2 2-2 2"),
            Self::Add => ("", "M8 3v10M3 8h10"),
        }
    }
}

/// Draws a sign; hidden from screen readers, which get the word beside it.
#[component]
pub fn Icon(sign: Sign) -> impl IntoView {
    let (fill, stroke) = sign.paths();
    view! {
        <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
            <path class="icon-fill" d=fill></path>
            <path class="icon-line" d=stroke></path>
        </svg>
    }
}
