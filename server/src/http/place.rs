//! The parts of an address. One that is no number is no other answer than one that nothing has.

use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use ops::OpsError;
use serde::de::DeserializeOwned;

use super::refusal::Refused;

/// What a route's placeholders stand for.
pub struct Place<T>(pub T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Place<T> {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refused> {
        match Path::from_request_parts(parts, state).await {
            Ok(Path(place)) => Ok(Self(place)),
            Err(_) => Err(OpsError::NotFound { what: "the page", id: parts.uri.path().to_owned() }.into()),
        }
    }
}
