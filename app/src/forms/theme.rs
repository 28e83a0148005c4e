//! The choice of the colour theme: a cookie for a year.

use axum::body::Body;
use axum::extract::State;
use axum::http::request::Parts;
use axum::http::{HeaderValue, Request, header};
use axum::response::Response;

use super::{Forms, answer, body};
use crate::error::AppError;
use crate::posted::Posted;
use crate::session::{THEME_COOKIE, Theme};

/// Sets the cookie and goes back to where the form was.
pub async fn choose(State(forms): State<Forms>, request: Request<Body>) -> Response {
    let (parts, fields) = body::fields(request).await;
    let fields = match fields {
        Ok(fields) => fields,
        // A page from before a restart has a token that is no longer ours. Nothing is lost: the page comes again, with one that is.
        Err(AppError::Forbidden) => return answer::redirect(&referring(&parts)),
        Err(error) => return answer::page(&forms, parts, Posted::Failed(error)).await,
    };
    let theme = Theme::from_word(&fields.get("theme").unwrap_or_default());
    let mut response = answer::redirect(&own_place(&fields.get("back").unwrap_or_default()));
    let cookie = format!("{THEME_COOKIE}={}; Path=/; Max-Age=31536000; SameSite=Lax", theme.word());
    if let Ok(value) = HeaderValue::from_str(&cookie) {
        response.headers_mut().append(header::SET_COOKIE, value);
    }
    response
}

/// The page that the request says it comes from, on this site.
fn referring(parts: &Parts) -> String {
    let from = parts.headers.get(header::REFERER).and_then(|from| from.to_str().ok()).unwrap_or_default();
    let path = from.split_once("://").and_then(|(_, rest)| rest.find('/').and_then(|at| rest.get(at..)));
    own_place(path.unwrap_or_default())
}

/// `back`, as long as it is a page of ours: never another host, never a page that answers a post.
fn own_place(back: &str) -> String {
    let ours = back.starts_with('/') && !back.starts_with("//") && !back.contains(['\\', '\r', '\n']);
    if ours { back.to_owned() } else { "/".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::own_place;

    #[test]
    fn the_way_back_never_leaves_the_site() {
        for (back, want) in [
            ("/skills?q=1", "/skills?q=1"),
            ("//evil.example", "/"),
            ("/\\evil.example", "/"),
            ("https://evil.example", "/"),
            ("/a\r\nSet-Cookie: x", "/"),
            ("", "/"),
        ] {
            assert_eq!(own_place(back), want);
        }
    }
}
