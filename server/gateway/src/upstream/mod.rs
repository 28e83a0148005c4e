//! Where model calls go: one file per kind of upstream, behind one trait.

pub mod cassette;
pub mod http;
pub mod scripted;

use std::time::Duration;

use ::http::{Request, Response};
use async_trait::async_trait;
use bytes::Bytes;
use domain::id::AttemptId;
use futures::stream::BoxStream;

use crate::protocol::Protocol;

/// The bytes of an answer as they come. Dropping it ends the call upstream.
pub type ByteStream = BoxStream<'static, Result<Bytes, UpstreamError>>;

/// A call that did not get through, or not to its end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UpstreamError {
    /// No connection could be made.
    #[error("cannot be reached: {reason}")]
    Unreachable {
        /// Why.
        reason: String,
    },
    /// Nothing came for too long.
    #[error("sent nothing for {} s", after.as_secs())]
    TimedOut {
        /// The limit.
        after: Duration,
    },
    /// The connection ended too early.
    #[error("cut off: {reason}")]
    Cut {
        /// Why.
        reason: String,
    },
    /// A replay has no answer for this call.
    #[error("not recorded: {reason}")]
    NotRecorded {
        /// What differs.
        reason: String,
    },
}

/// Whose call it is: put into a request's extensions, so that a recording can tell equal calls of different trials apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallOf {
    /// What the trial is, alike in each run of the same plan.
    pub lane: String,
    /// The try at it.
    pub attempt: AttemptId,
    /// The call's language.
    pub protocol: Protocol,
}

/// Somebody who answers model calls.
#[async_trait]
pub trait Upstream: Send + Sync {
    /// The name it is configured by.
    fn name(&self) -> &str;

    /// Whether its answers come from a file. Such results are marked everywhere and never ranked.
    fn is_scripted(&self) -> bool;

    /// Whether its answers were recorded earlier.
    fn is_replayed(&self) -> bool {
        false
    }

    /// The languages that it speaks.
    fn speaks(&self) -> &[Protocol] {
        &Protocol::ALL
    }

    /// An error answer without this upstream's own key, should it repeat that.
    fn redact(&self, answer: Bytes) -> Bytes {
        answer
    }

    /// Sends one call. `request` has a path and headers without credentials; the upstream adds its own. Any HTTP status is an answer.
    ///
    /// # Errors
    /// [`UpstreamError`] where no answer came.
    async fn send(&self, request: Request<Bytes>) -> Result<Response<ByteStream>, UpstreamError>;
}
