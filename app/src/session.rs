//! What the request tells about the person: colour theme and form token.

/// The token that every form sends back in its hidden field `csrf`. The server puts it into the extensions of each request; in the
/// browser it is read from the page's head.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Csrf(pub String);

/// Colour theme as chosen by the person.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Theme {
    /// As the operating system says.
    #[default]
    System,
    /// Always light.
    Light,
    /// Always dark.
    Dark,
}

impl Theme {
    /// Value of the cookie, and of `data-theme`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    /// The theme of that name; `System` for any other.
    pub fn from_word(word: &str) -> Self {
        match word {
            "light" => Self::Light,
            "dark" => Self::Dark,
            _ => Self::System,
        }
    }
}

/// Name of the theme's cookie.
pub const THEME_COOKIE: &str = "theme";

/// The form token of this request.
#[cfg(feature = "ssr")]
pub fn csrf() -> String {
    use leptos::prelude::use_context;
    use_context::<Csrf>()
        .or_else(|| use_context::<axum::http::request::Parts>()?.extensions.get::<Csrf>().cloned())
        .unwrap_or_default()
        .0
}

/// The theme that the request's cookie asks for.
#[cfg(feature = "ssr")]
pub fn theme() -> Theme {
    let parts = leptos::prelude::use_context::<axum::http::request::Parts>();
    let word = parts.as_ref().and_then(|parts| cookie(&parts.headers, THEME_COOKIE));
    word.map_or(Theme::System, Theme::from_word)
}

/// The value of a cookie.
#[cfg(feature = "ssr")]
fn cookie<'a>(headers: &'a axum::http::HeaderMap, name: &str) -> Option<&'a str> {
    headers
        .get_all(axum::http::header::COOKIE)
        .iter()
        .filter_map(|header| header.to_str().ok())
        .flat_map(|header| header.split(';'))
        .find_map(|pair| pair.trim().strip_prefix(name)?.strip_prefix('='))
}

/// The form token, from the page's head.
#[cfg(not(feature = "ssr"))]
pub fn csrf() -> String {
    meta("csrf").unwrap_or_default()
}

/// The build that this page came from, from its head.
pub fn build() -> Option<String> {
    meta("build")
}

/// The theme that the page was rendered with.
#[cfg(not(feature = "ssr"))]
pub fn theme() -> Theme {
    let root = document().and_then(|document| document.document_element());
    root.and_then(|root| root.get_attribute("data-theme")).map_or(Theme::System, |word| Theme::from_word(&word))
}

/// Changes the theme of the open page and remembers it, without loading anything.
pub fn choose_theme(theme: Theme) -> Option<()> {
    use wasm_bindgen::JsCast;
    let document = document()?;
    document.document_element()?.set_attribute("data-theme", theme.word()).ok()?;
    let cookie = format!("{THEME_COOKIE}={}; Path=/; Max-Age=31536000; SameSite=Lax", theme.word());
    document.dyn_ref::<web_sys::HtmlDocument>()?.set_cookie(&cookie).ok()
}

fn meta(name: &str) -> Option<String> {
    document()?.query_selector(&format!("meta[name={name}]")).ok()??.get_attribute("content")
}

fn document() -> Option<web_sys::Document> {
    web_sys::window()?.document()
}
