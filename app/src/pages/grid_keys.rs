//! Arrow keys in a table of links: right and left within a cell's row, up and down to the same place of the next row. Tab goes on as everywhere.

use leptos::ev::KeyboardEvent;
use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement};

/// What arrow keys go to.
const MARKS: &str = "a.flip-link";

/// Moves the focus from the mark that has it.
pub fn move_focus(event: KeyboardEvent) {
    let Some(mark) = document().active_element().filter(|element| element.matches(MARKS).unwrap_or(false)) else {
        return;
    };
    let next = match event.key().as_str() {
        "ArrowRight" => mark.next_element_sibling(),
        "ArrowLeft" => mark.previous_element_sibling(),
        "ArrowDown" => in_row(&mark, Element::next_element_sibling),
        "ArrowUp" => in_row(&mark, Element::previous_element_sibling),
        _ => return,
    };
    event.prevent_default();
    if let Some(next) = next.and_then(|next| next.dyn_into::<HtmlElement>().ok()) {
        // Fails only where the element is not in the page any more.
        let _ = next.focus();
    }
}

/// The mark at the same place of the nearest row that has marks, by `step`; the row's last one where it has fewer.
fn in_row(mark: &Element, step: fn(&Element) -> Option<Element>) -> Option<Element> {
    let mut place = 1;
    let mut before = mark.previous_element_sibling();
    while let Some(element) = before {
        place += 1;
        before = element.previous_element_sibling();
    }
    let mut row = step(&mark.closest("tr").ok()??);
    while let Some(next) = row {
        let at = |selector: &str| next.query_selector(selector).ok().flatten();
        let found = at(&format!("{MARKS}:nth-of-type({place})")).or_else(|| at(&format!("{MARKS}:last-of-type")));
        if found.is_some() {
            return found;
        }
        row = step(&next);
    }
    None
}
