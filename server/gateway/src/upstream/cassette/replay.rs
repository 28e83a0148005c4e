//! Gives recorded answers again.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ::http::header::CONTENT_TYPE;
use ::http::{HeaderValue, Request, Response, StatusCode};
use async_trait::async_trait;
use bytes::Bytes;
use domain::id::AttemptId;
use futures::{StreamExt, stream};

use super::key::first_difference;
use super::{CassetteError, Drifted, Entry, RequestKey, SCHEMA, lane_folder};
use crate::upstream::{ByteStream, CallOf, Upstream, UpstreamError};

/// Differences that are named at most.
const NAMED: usize = 4;

/// An upstream that answers from a recording. Everything made with it is marked: as scripted, since its answers come from a file, and as
/// replayed.
pub struct Replay {
    name: String,
    folder: PathBuf,
    lanes: Mutex<HashMap<PathBuf, Arc<Vec<Entry>>>>,
    /// Which answers each attempt has had.
    given: Mutex<HashMap<(String, AttemptId), BTreeSet<usize>>>,
}

impl Replay {
    /// Answers from `folder`.
    ///
    /// # Errors
    /// [`CassetteError::Unreadable`] where there is no such folder.
    pub fn open(name: &str, folder: impl Into<PathBuf>) -> Result<Self, CassetteError> {
        let folder = folder.into();
        std::fs::read_dir(&folder).map_err(|source| CassetteError::Unreadable { path: folder.clone(), source })?;
        Ok(Self { name: name.to_owned(), folder, lanes: Mutex::default(), given: Mutex::default() })
    }

    /// The answer, and whether it is to a request that tools had answered otherwise. Each is given once in an attempt.
    fn answer(&self, call: &CallOf, key: &RequestKey) -> Result<(Entry, bool), String> {
        let entries = self.lane(&call.lane)?;
        let mut given = lock(&self.given);
        let given = given.entry((call.lane.clone(), call.attempt)).or_default();
        let alike = || entries.iter().enumerate().filter(|(_, entry)| entry.question == key.question);
        let left = || alike().filter(|(index, _)| !given.contains(index));
        let found = left().find(|(_, entry)| entry.key == key.key).or_else(|| left().next());
        let Some((index, entry)) = found else {
            return Err(match alike().count() {
                0 => unlike(&entries, key),
                count => {
                    format!("trial '{}' asks this for time {}, and {count} answers are recorded", call.lane, count + 1)
                }
            });
        };
        given.insert(index);
        Ok((entry.clone(), entry.key != key.key))
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
    let nearest =
        entries.iter().map(|entry| (key.differences(&entry.parts), entry)).min_by_key(|(names, _)| names.len());
    let Some((names, entry)) = nearest else { return "nothing is recorded".to_owned() };
    let more = names.len().saturating_sub(NAMED);
    let named = names.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let words = first_difference(&key.last, &entry.last).filter(|_| names.len() == 1);
    let words = words.map(|(ours, theirs)| format!(": '{ours}', recorded '{theirs}'")).unwrap_or_default();
    format!("the nearest recorded request differs in {named}{more}{words}")
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
        let (entry, drifted) =
            self.answer(&call, &RequestKey::of(&request)).map_err(|reason| UpstreamError::NotRecorded { reason })?;
        let body = Bytes::from(entry.body);
        let mut response = Response::new(stream::once(async move { Ok(body) }).boxed());
        *response.status_mut() = StatusCode::from_u16(entry.status).unwrap_or(StatusCode::OK);
        if drifted {
            response.extensions_mut().insert(Drifted);
        }
        if let Ok(kind) = HeaderValue::from_str(&entry.content_type) {
            response.headers_mut().insert(CONTENT_TYPE, kind);
        }
        Ok(response)
    }
}
