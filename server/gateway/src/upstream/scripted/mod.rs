//! A model that answers from a file: for tests and for a first run without a key. Everything made with it is marked as scripted.
//!
//! The file is JSON ([`Script`]): a list of rules, of which the first whose conditions all hold gives the turns; the turn is chosen by the
//! number of assistant messages in the request, so the model keeps no state and a replay gives the same answers. `examples/model.json`
//! shows one. It answers in the language that it is asked in, so one script drives any agent.

mod asked;
mod matching;
mod places;
mod render;
mod script;
mod tools;

pub use matching::SKILL_LIST_MARK;
pub use script::{
    NamedTool, Rule, SCHEMA, Script, ScriptError, ScriptedError, ScriptedFault, ScriptedUsage, ToolUse, Turn, When,
};

use ::http::{Request, Response, StatusCode};
use async_trait::async_trait;
use bytes::Bytes;
use domain::hash::ContentHash;
use futures::{StreamExt, stream};

use self::asked::Asked;
use super::{ByteStream, Upstream, UpstreamError};
use crate::protocol::error::spelled;
use crate::protocol::{Action, Protocol, Refusal, Route, likely_protocol};

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

    fn answer(&self, request: &Request<Bytes>) -> Result<Response<ByteStream>, UpstreamError> {
        let (uri, body) = (request.uri(), request.body());
        let Some(route) = Route::of(request.method(), uri.path()) else {
            let asked = format!("{} {}", request.method(), uri.path());
            return Ok(Refusal::NoSuchEndpoint { asked }.response(likely_protocol(uri.path(), request.headers())));
        };
        let place = uri.path_and_query().map_or("/", |place| place.as_str());
        let asked = match Asked::read(&route, place, body) {
            Ok(asked) => asked,
            Err(reason) => {
                let reason = format!("scripted model: {reason}");
                return Ok(Refusal::Unreadable { reason }.response(route.protocol));
            }
        };
        match route.action {
            Action::CountTokens => Ok(render::count(route.protocol, body.len())),
            Action::Generate => self.generate(route.protocol, &asked, body),
        }
    }

    fn generate(&self, protocol: Protocol, asked: &Asked, body: &[u8]) -> Result<Response<ByteStream>, UpstreamError> {
        let Some(turn) = self.turn(asked) else {
            let message = format!(
                "scripted model: no rule of its file of answers matches the task '{}'; add one",
                beginning(&asked.user)
            );
            let kind = if protocol == Protocol::Gemini { "NOT_FOUND" } else { "not_found_error" };
            return Ok(spelled(protocol, StatusCode::NOT_FOUND, kind, None, &message, false));
        };
        if let Some(error) = &turn.error {
            let status = StatusCode::from_u16(error.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            return Ok(spelled(protocol, status, &error.kind, None, &error.message, status.is_server_error()));
        }
        let answer = || render::answer(protocol, asked, &places::filled(turn, body), body.len());
        match turn.fault {
            None => Ok(answer()),
            Some(ScriptedFault::Unreachable) => Err(UpstreamError::Unreachable { reason: "by its script".to_owned() }),
            Some(ScriptedFault::Hang) => Ok(answer().map(|_| stream::pending().boxed())),
            Some(ScriptedFault::Cut) => Ok(answer().map(render::cut)),
        }
    }

    fn turn(&self, asked: &Asked) -> Option<&Turn> {
        let rule = self.script.rules.iter().find(|rule| matching::holds(&rule.when, asked))?;
        rule.turns.get(asked.turns_taken).or_else(|| rule.turns.last())
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
        self.answer(&request)
    }
}
