//! Long foreign text: shown as text, its beginning at once, all of it on demand. Nothing is cut without a way to the whole.

use leptos::prelude::*;

use crate::format::count;

/// Text up to this many characters is shown at once.
const SHORT_CHARS: usize = 1_200;
/// Text up to this many lines is shown at once.
const SHORT_LINES: usize = 16;

/// The beginning of `text`, where it is too long to be shown at once.
fn preview(text: &str) -> Option<String> {
    if text.chars().count() <= SHORT_CHARS && text.lines().count() <= SHORT_LINES {
        return None;
    }
    let lines = text.lines().take(SHORT_LINES / 2).collect::<Vec<_>>().join("\n");
    Some(lines.chars().take(SHORT_CHARS / 2).collect())
}

/// A block of plain text.
#[component]
pub fn LongText(text: String) -> impl IntoView {
    match preview(&text) {
        None => view! { <pre class="text">{text}</pre> }.into_any(),
        Some(beginning) => {
            let size = format!(
                "show all {} lines, {} characters",
                count(text.lines().count() as u64),
                count(text.chars().count() as u64)
            );
            view! {
                <details class="fold">
                    <summary>
                        <pre class="text fold-preview">{beginning}</pre>
                        <span class="fold-more">{size}</span>
                        <span class="fold-less">"show less"</span>
                    </summary>
                    <pre class="text">{text}</pre>
                </details>
            }
            .into_any()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_long_text_has_a_preview() {
        assert_eq!(preview("short\ntext"), None);
        assert_eq!(preview(&"line\n".repeat(40)).map(|text| text.lines().count()), Some(SHORT_LINES / 2));
        assert_eq!(preview(&"é".repeat(5_000)).map(|text| text.chars().count()), Some(SHORT_CHARS / 2));
    }
}
