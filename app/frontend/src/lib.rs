//! The browser program: takes over the pages which the server rendered.

use wasm_bindgen::prelude::wasm_bindgen;

/// Called once by the page's starter module, after the program was loaded.
#[wasm_bindgen]
pub fn hydrate() {
    console_error_panic_hook::set_once();
    leptos::mount::hydrate_body(app::App);
}
