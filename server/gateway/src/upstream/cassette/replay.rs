//! Gives recorded answers again.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ::http::header::CONTENT_TYPE;
use ::http::{HeaderValue, Request, Response, StatusCode};
use async_trait::async_trait;
use bytes::Bytes;
use futures::{StreamExt, stream};

use super::{CassetteError, Entry, RequestKey, SCHEMA, lane_folder};
use crate::upstream::{ByteStream, CallOf, Upstream, UpstreamError};

/// Differences that are named at most.
const NAMED: usize = 4;

/// An upstream that answers from a recording. Everything made with it is marked: as scripted, since its answers come from a file, and as
/// replayed.
pub struct Replay {
    name: String,
    folder: PathBuf,
    lanes: Mutex<HashMap<PathBuf, Arc<Vec<Entry>>>>,
    /// How often each attempt has asked for each answer.
    asked: Mutex<HashMap<(CallOfAttempt, String), usize>>,
}

type CallOfAttempt = (String, i64);

impl Replay {
    /// Answers from `folder`.
    ///
    /// # Errors
    /// [`CassetteError::Unreadable`] where there is no such folder.
    pub fn open(name: &str, folder: impl Into<PathBuf>) -> Result<Self, CassetteError> {
        let folder = folder.into();
        std::fs::read_dir(&folder).map_err(|source| CassetteError::Unreadable { path: folder.clone(), source })?;
        Ok(Self { name: name.to_owned(), folder, lanes: Mutex::default(), asked: Mutex::default() })
    }

    fn answer(&self, call: &CallOf, key: &RequestKey) -> Result<Entry, String> {
        let entries = self.lane(&call.lane)?;
        let time = {
            let mut asked = lock(&self.asked);
            let count = asked.entry(((call.lane.clone(), call.attempt.0), key.key.clone())).or_default();
            *count += 1;
            *count
        };
        let same = entries.iter().filter(|entry| entry.key == key.key);
        same.clone().nth(time - 1).cloned().ok_or_else(|| match same.count() {
            0 => unlike(&entries, key),
            count => format!("trial '{}' asks this for time {time}, and {count} answers are recorded", call.lane),
        })
    }

    fn lane(&self, lane: &str) -> Result<Arc<Vec<Entry>>, String> {
        let folder = lane_folder(&self.folder, lane);
        if let Some(known) = lock(&self.lanes).get(&folder) {
            return Ok(Arc::clone(known));
        }
        let file = last_attempt(&folder).ok_or_else(|| format!("nothing is recorded of trial '{lane}'"))?;
        let text = std::fs::read_to_string(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        let entries: Result<Vec<Entry>, _> = text.lines().map(serde_json::from_str).collect();
        let entries = entries.map_err(|error| format!("{}: {error}", file.display()))?;
        if let Some(other) = entries.iter().find(|entry| entry.schema != SCHEMA) {
            return Err(format!("{} is of the form '{}', not '{SCHEMA}'", file.display(), other.schema));
        }
        let entries = Arc::new(entries);
        lock(&self.lanes).insert(folder, Arc::clone(&entries));
        Ok(entries)
    }
}

/// How a request differs from the recorded one that is most like it.
fn unlike(entries: &[Entry], key: &RequestKey) -> String {
    let nearest = entries.iter().map(|entry| key.differences(&entry.parts)).min_by_key(Vec::len);
    let Some(names) = nearest else { return "nothing is recorded".to_owned() };
    let more = names.len().saturating_sub(NAMED);
    let named = names.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("the nearest recorded request differs in {named}{more}")
}

fn last_attempt(folder: &Path) -> Option<PathBuf> {
    let number = |path: &PathBuf| path.file_stem().and_then(|stem| stem.to_str()?.parse::<i64>().ok());
    let files = std::fs::read_dir(folder).ok()?.filter_map(|entry| Some(entry.ok()?.path()));
    files.filter(|path| path.extension().is_some_and(|end| end == "jsonl")).max_by_key(number)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[async_trait]
impl Upstream for Replay {
    fn name(&self) -> &str {
        &self.name
    }

    fn is_scripted(&self) -> bool {
        true
    }

    fn is_replayed(&self) -> bool {
        true
    }

    async fn send(&self, request: Request<Bytes>) -> Result<Response<ByteStream>, UpstreamError> {
        let call = request.extensions().get::<CallOf>().cloned();
        let call = call.ok_or_else(|| UpstreamError::NotRecorded { reason: "the call is of no trial".to_owned() })?;
        let entry =
            self.answer(&call, &RequestKey::of(&request)).map_err(|reason| UpstreamError::NotRecorded { reason })?;
        let body = Bytes::from(entry.body);
        let mut response = Response::new(stream::once(async move { Ok(body) }).boxed());
        *response.status_mut() = StatusCode::from_u16(entry.status).unwrap_or(StatusCode::OK);
        if let Ok(kind) = HeaderValue::from_str(&entry.content_type) {
            response.headers_mut().insert(CONTENT_TYPE, kind);
        }
        Ok(response)
    }
}
