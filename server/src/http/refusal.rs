//! What could not be done, as an HTTP answer for programs.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use ops::OpsError;
use serde::Serialize;

/// An operation that failed.
pub struct Refused(OpsError);

#[derive(Serialize)]
struct Body {
    error: String,
    findings: Vec<domain::finding::Finding>,
}

impl From<OpsError> for Refused {
    fn from(error: OpsError) -> Self {
        Self(error)
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let status = match &self.0 {
            OpsError::NotFound { .. } => StatusCode::NOT_FOUND,
            OpsError::Invalid { .. } => StatusCode::UNPROCESSABLE_ENTITY,
            OpsError::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            OpsError::Store(store::StoreError::Busy) => StatusCode::SERVICE_UNAVAILABLE,
            OpsError::Store(_) | OpsError::Internal { .. } => StatusCode::INTERNAL_SERVER_ERROR,
        };
        let error = match &self.0 {
            OpsError::Store(source) => format!("{}: {source}", self.0),
            other => other.to_string(),
        };
        let findings = match self.0 {
            OpsError::Invalid { findings, .. } => findings,
            OpsError::NotFound { .. } | OpsError::TooLarge { .. } | OpsError::Store(_) | OpsError::Internal { .. } => {
                Vec::new()
            }
        };
        (status, Json(Body { error, findings })).into_response()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_tells_whose_fault_it_is() {
        for (error, status) in [
            (OpsError::NotFound { what: "task", id: "9".to_owned() }, 404),
            (OpsError::invalid("name a task"), 422),
            (OpsError::TooLarge { limit_mb: 1 }, 413),
            (OpsError::Store(store::StoreError::Busy), 503),
            (OpsError::Store(store::StoreError::Closed), 500),
            (OpsError::Internal { message: "the rows could not be written".to_owned() }, 500),
        ] {
            assert_eq!(Refused::from(error).into_response().status().as_u16(), status);
        }
    }
}
