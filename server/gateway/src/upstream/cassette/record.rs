//! Records the answers of another upstream as they pass.

use std::io::Write;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use ::http::header::CONTENT_TYPE;
use ::http::{Request, Response, StatusCode};
use async_trait::async_trait;
use bytes::Bytes;
use futures::{StreamExt, stream};

use super::{CassetteError, Entry, RequestKey, SCHEMA, lane_folder};
use crate::protocol::Protocol;
use crate::trouble::ProviderTrouble;
use crate::upstream::{ByteStream, CallOf, Upstream, UpstreamError};
use crate::usage::UsageReader;

/// Longest answer that is recorded, in bytes.
const MAX_BODY: usize = 32 << 20;

/// An upstream whose proper answers are kept. Answers that were cut, failed or left by the agent are not.
pub struct Recording {
    inner: Arc<dyn Upstream>,
    folder: PathBuf,
    writing: Arc<Mutex<()>>,
}

impl Recording {
    /// Records what `inner` answers below `folder`, which is made.
    ///
    /// # Errors
    /// [`CassetteError::Unreadable`] where it cannot be made.
    pub fn new(inner: Arc<dyn Upstream>, folder: impl Into<PathBuf>) -> Result<Self, CassetteError> {
        let folder = folder.into();
        std::fs::create_dir_all(&folder)
            .map_err(|source| CassetteError::Unreadable { path: folder.clone(), source })?;
        Ok(Self { inner, folder, writing: Arc::default() })
    }
}

#[async_trait]
impl Upstream for Recording {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn is_scripted(&self) -> bool {
        self.inner.is_scripted()
    }

    fn is_replayed(&self) -> bool {
        self.inner.is_replayed()
    }

    fn speaks(&self) -> &[Protocol] {
        self.inner.speaks()
    }

    fn redact(&self, answer: Bytes) -> Bytes {
        self.inner.redact(answer)
    }

    async fn send(&self, request: Request<Bytes>) -> Result<Response<ByteStream>, UpstreamError> {
        let call = request.extensions().get::<CallOf>().cloned();
        let key = RequestKey::of(&request);
        let response = self.inner.send(request).await?;
        let Some(call) = call else { return Ok(response) };
        let (parts, rest) = response.into_parts();
        let kind = parts.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
        let entry = Entry {
            schema: SCHEMA.to_owned(),
            lane: call.lane.clone(),
            key: key.key,
            question: key.question,
            parts: key.parts,
            last: key.last,
            status: parts.status.as_u16(),
            content_type: kind.to_owned(),
            body: String::new(),
        };
        let file = lane_folder(&self.folder, &call.lane).join(format!("{}.jsonl", call.attempt));
        let reader = UsageReader::new(call.protocol, kind);
        let tape = Tape {
            entry,
            body: Vec::new(),
            reader,
            status: parts.status,
            file,
            writing: Arc::clone(&self.writing),
            inner: Arc::clone(&self.inner),
        };
        Ok(Response::from_parts(parts, tape.around(rest)))
    }
}

/// An answer that is being kept.
struct Tape {
    entry: Entry,
    body: Vec<u8>,
    reader: UsageReader,
    status: StatusCode,
    file: PathBuf,
    writing: Arc<Mutex<()>>,
    inner: Arc<dyn Upstream>,
}

impl Tape {
    fn around(self, rest: ByteStream) -> ByteStream {
        stream::unfold((Some(self), rest), |(tape, mut rest)| async move {
            let next = rest.next().await;
            match (next, tape) {
                (Some(Ok(bytes)), mut tape) => {
                    if let Some(tape) = &mut tape {
                        tape.push(&bytes);
                    }
                    Some((Ok(bytes), (tape, rest)))
                }
                (Some(Err(error)), _) => Some((Err(error), (None, rest))),
                (None, Some(tape)) => {
                    tape.keep().await;
                    None
                }
                (None, None) => None,
            }
        })
        .boxed()
    }

    fn push(&mut self, bytes: &Bytes) {
        if self.body.len() <= MAX_BODY {
            self.body.extend_from_slice(bytes);
        }
        self.reader.push(bytes);
    }

    fn is_worth_keeping(&self) -> bool {
        let reading = self.reader.reading(true);
        let proper = if self.status.is_success() {
            reading.error.is_none() && (reading.complete || !self.entry.content_type.starts_with("text/event-stream"))
        } else {
            ProviderTrouble::from_status(self.status, &self.body).is_none()
        };
        proper && self.body.len() <= MAX_BODY
    }

    async fn keep(mut self) {
        if !self.is_worth_keeping() {
            return;
        }
        let body = Vec::from(self.inner.redact(Bytes::from(std::mem::take(&mut self.body))));
        let Ok(body) = String::from_utf8(body) else { return };
        self.entry.body = body;
        let last = self.inner.redact(Bytes::from(std::mem::take(&mut self.entry.last)));
        self.entry.last = String::from_utf8_lossy(&last).into_owned();
        let written = tokio::task::spawn_blocking(move || append(&self)).await;
        if let Ok(Err(error)) = written {
            tracing::warn!(%error, "an answer could not be recorded; a replay will miss it");
        }
    }
}

fn append(tape: &Tape) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(&tape.entry)?;
    line.push(b'\n');
    let _one_at_a_time = tape.writing.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(folder) = tape.file.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::OpenOptions::new().create(true).append(true).open(&tape.file)?.write_all(&line)
}
