//! Downloads of an evaluation: `/evaluations/{id}/export/{format}`, one file each, folders as zip archives; and
//! `/evaluations/{id}/trials/{trial}/patch`, what one agent changed.

use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use domain::id::{EvaluationId, TrialId};
use formats::export::ExportFormat;
use ops::{Export, Ops, OpsError};

use super::place::Place;
use super::refusal::Refused;

/// Answers the file as an attachment: a browser never shows it as a page of this site.
pub async fn download(
    State(ops): State<Ops>,
    Place((id, word)): Place<(EvaluationId, String)>,
) -> Result<Response, Refused> {
    let known = || ExportFormat::ALL.map(ExportFormat::word).join(", ");
    let format = ExportFormat::from_word(&word)
        .ok_or_else(|| OpsError::invalid(format!("there is no export format '{word}'; there are: {}", known())))?;
    exported(ops.export(id, format).await?)
}

/// Any export as an attachment.
pub fn exported(export: Export) -> Result<Response, Refused> {
    let media_type = export.media_type;
    let (name, bytes) = export.into_download()?;
    Ok(attachment(media_type, &name, bytes))
}

/// Answers the patch as an attachment.
pub async fn patch(
    State(ops): State<Ops>,
    Place((id, trial)): Place<(EvaluationId, TrialId)>,
) -> Result<Response, Refused> {
    let bytes = ops.patch(id, trial).await?;
    Ok(attachment("text/x-diff; charset=utf-8", &format!("evaluation-{id}-trial-{trial}.patch"), bytes))
}

fn attachment(media_type: &'static str, name: &str, bytes: Vec<u8>) -> Response {
    let mut response = bytes.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    // Names are made of our own words and a number; one that a header cannot hold does not occur.
    let disposition = HeaderValue::from_str(&format!("attachment; filename=\"{name}\""));
    headers.insert(header::CONTENT_DISPOSITION, disposition.unwrap_or(HeaderValue::from_static("attachment")));
    response
}
