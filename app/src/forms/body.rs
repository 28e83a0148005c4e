//! Reads posted forms and checks their token.

use axum::Form;
use axum::body::Body;
use axum::extract::multipart::{Multipart, MultipartError};
use axum::extract::{DefaultBodyLimit, FromRequest};
use axum::http::request::Parts;
use axum::http::{Request, StatusCode};
use leptos_router::params::ParamsMap;

use crate::error::AppError;
use crate::session::Csrf;

/// Room for the form around the files.
const OVERHEAD: usize = 1 << 20;
/// Most files of one upload, whatever their size.
const MAX_FILES: usize = 10_000;

/// Raises the limit of a route to `bytes` of files.
pub fn limit(bytes: usize) -> DefaultBodyLimit {
    DefaultBodyLimit::max(bytes.saturating_add(OVERHEAD))
}

/// Whether `token` is the one that this request's pages carry.
fn is_ours(parts: &Parts, token: &str) -> bool {
    parts.extensions.get::<Csrf>().is_some_and(|csrf| !csrf.0.is_empty() && same(csrf.0.as_bytes(), token.as_bytes()))
}

/// Compares in a time that does not depend on where the texts differ.
fn same(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |differ, (a, b)| differ | (a ^ b)) == 0
}

/// The fields of a plain form.
pub async fn fields(request: Request<Body>) -> (Parts, Result<ParamsMap, AppError>) {
    let (parts, body) = request.into_parts();
    let again = Request::from_parts(parts.clone(), body);
    let fields = match Form::<Vec<(String, String)>>::from_request(again, &()).await {
        Ok(Form(pairs)) => pairs.into_iter().fold(ParamsMap::new(), |mut fields, (name, value)| {
            fields.insert(name, value);
            fields
        }),
        Err(error) => return (parts, Err(AppError::invalid(error.to_string()))),
    };
    let token = fields.get("csrf").unwrap_or_default();
    let fields = if is_ours(&parts, &token) { Ok(fields) } else { Err(AppError::Forbidden) };
    (parts, fields)
}

/// A file of an upload: its name, with folders where a folder was chosen, and its bytes.
pub type UploadedFile = (String, Vec<u8>);

/// The files of a multipart form, in the fields named `file`. Nothing but the token is read before it was checked, which is why the token
/// is the form's first field.
pub async fn files(request: Request<Body>, limit_mb: u64) -> (Parts, Result<Vec<UploadedFile>, AppError>) {
    let (parts, body) = request.into_parts();
    let again = Request::from_parts(parts.clone(), body);
    let files = match Multipart::from_request(again, &()).await {
        Ok(form) => read_files(form, &parts, limit_mb).await,
        Err(error) => Err(AppError::invalid(error.to_string())),
    };
    (parts, files)
}

async fn read_files(mut form: Multipart, parts: &Parts, limit_mb: u64) -> Result<Vec<UploadedFile>, AppError> {
    let trouble = |error: MultipartError| match error.status() {
        StatusCode::PAYLOAD_TOO_LARGE => AppError::TooLarge {
            message: format!(
                "the upload is larger than {limit_mb} MB; remove what the skill does not need, or raise the limit of the server"
            ),
        },
        _ => AppError::invalid(format!("the upload broke off or is damaged ({error}); send it again")),
    };
    let mut files = Vec::new();
    let mut checked = false;
    while let Some(field) = form.next_field().await.map_err(trouble)? {
        let name = field.name().unwrap_or_default().to_owned();
        if name == "csrf" {
            checked = is_ours(parts, &field.text().await.map_err(trouble)?);
            continue;
        }
        if !checked {
            return Err(AppError::Forbidden);
        }
        let path = field.file_name().unwrap_or_default().to_owned();
        if name == "file" && !path.is_empty() {
            if files.len() == MAX_FILES {
                return Err(AppError::invalid(format!("more than {MAX_FILES} files; upload fewer at once, or a zip")));
            }
            files.push((path, field.bytes().await.map_err(trouble)?.to_vec()));
        }
    }
    match (checked, files.is_empty()) {
        (false, _) => Err(AppError::Forbidden),
        (true, true) => Err(AppError::invalid("no file was chosen; go back and choose a zip, a SKILL.md or a folder")),
        (true, false) => Ok(files),
    }
}
