//! A model that answers from a file: for tests and for a first run without a key. Everything made with it is marked as scripted.
//!
//! The file is JSON ([`Script`]): a list of rules, of which the first whose conditions all hold gives the turns; the turn is chosen by the
//! number of assistant messages in the request, so the model keeps no state and a replay gives the same answers. `examples/model.json`
//! shows one.

mod matching;
mod render;
mod script;

pub use matching::SKILL_LIST_MARK;
pub use script::{Rule, SCHEMA, Script, ScriptError, ScriptedError, ScriptedUsage, ToolUse, Turn, When};

use async_trait::async_trait;
use bytes::Bytes;
use domain::hash::ContentHash;
use http::{Request, Response, StatusCode};

use super::{ByteStream, Upstream, UpstreamError};
use crate::protocol::anthropic::{RequestView, error_response};

/// The upstream that answers from a [`Script`].
#[derive(Debug, Clone)]
pub struct ScriptedUpstream {
    name: String,
    script: Script,
    hash: ContentHash,
}

impl ScriptedUpstream {
    /// Reads a script. `file` is only named in errors.
    ///
    /// # Errors
    /// [`ScriptError`] with the place.
    pub fn parse(name: &str, file: &str, bytes: &[u8]) -> Result<Self, ScriptError> {
        Ok(Self { name: name.to_owned(), script: Script::parse(file, bytes)?, hash: ContentHash::of(bytes) })
    }

    /// Names the exact script, as a model's version would.
    #[must_use]
    pub fn hash(&self) -> ContentHash {
        self.hash
    }

    fn answer(&self, body: &[u8]) -> Response<ByteStream> {
        let request: RequestView = match serde_json::from_slice(body) {
            Ok(request) => request,
            Err(error) => {
                let message = format!("scripted model: not a Messages request: {error}");
                return error_response(StatusCode::BAD_REQUEST, "invalid_request_error", &message, false);
            }
        };
        let Some(turn) = self.turn(&request) else {
            let message = format!("scripted model: no rule matches the task '{}'", beginning(&request.task()));
            return error_response(StatusCode::NOT_FOUND, "not_found_error", &message, false);
        };
        match &turn.error {
            Some(error) => {
                let status = StatusCode::from_u16(error.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
                error_response(status, &error.kind, &error.message, status.is_server_error())
            }
            None => render::answer(&request, turn, body.len()),
        }
    }

    fn turn(&self, request: &RequestView) -> Option<&Turn> {
        let rule = self.script.rules.iter().find(|rule| matching::holds(&rule.when, request))?;
        rule.turns.get(request.turns_taken()).or_else(|| rule.turns.last())
    }
}

fn beginning(task: &str) -> String {
    let words: String = task.split_whitespace().collect::<Vec<_>>().join(" ");
    words.chars().take(200).collect()
}

#[async_trait]
impl Upstream for ScriptedUpstream {
    fn name(&self) -> &str {
        &self.name
    }

    fn is_scripted(&self) -> bool {
        true
    }

    async fn send(&self, request: Request<Bytes>) -> Result<Response<ByteStream>, UpstreamError> {
        Ok(self.answer(request.body()))
    }
}
