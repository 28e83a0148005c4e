//! The `trajectory.json` of terminus-2: no ATIF but a bare list of episodes, each with what the model was sent and what it answered.

use domain::trace::{Source, TraceStep};
use serde::Deserialize;

use crate::trace::draft::Draft;
use crate::trace::reading::ReportedEnd;

#[derive(Deserialize)]
struct Episode {
    prompt: String,
    response: String,
}

/// Whether the bytes are such a list. An empty one is a record of nothing.
pub(in crate::trace) fn is_episodes(bytes: &[u8]) -> bool {
    bytes.first() == Some(&b'[') && serde_json::from_slice::<Vec<Episode>>(bytes).is_ok()
}

/// Reads the list. There are no tokens in it.
pub(in crate::trace) fn fill(bytes: &[u8], draft: &mut Draft) {
    let episodes: Vec<Episode> = serde_json::from_slice(bytes).unwrap_or_default();
    for Episode { prompt, response } in &episodes {
        draft.add(TraceStep::said(Source::User, prompt.as_str()));
        draft.add(TraceStep::said(Source::Agent, response.as_str()));
    }
    if !episodes.is_empty() {
        draft.reading.end = ReportedEnd::NotTold;
    }
}
