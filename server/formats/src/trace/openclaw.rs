//! `openclaw agent exec --json`: one envelope at the end. It names the tools that were used and not what they were used for, so neither
//! calls nor the use of a skill are in it.

use domain::trace::{Source, TraceStep};
use serde_json::Value;

use super::draft::Draft;
use super::reading::ReportedEnd;
use super::text::word;
use super::usage::{count, report};

/// Reads the envelope.
pub(super) fn read(envelope: &Value, draft: &mut Draft) {
    let reading = &mut draft.reading;
    reading.usage = report(envelope);
    // A cost of nothing is what it tells for a model whose price it does not know.
    reading.usage.cost_usd = reading.usage.cost_usd.filter(|cost| *cost > 0.0);
    reading.model_calls = count(envelope, &["assistantTurns"]);
    reading.model = word(envelope, "model").map(str::to_owned);
    reading.session = word(envelope, "sessionId").map(str::to_owned);
    let text = word(envelope, "final").unwrap_or_default();
    let error = envelope.pointer("/error/message").and_then(Value::as_str).or_else(|| word(envelope, "error"));
    reading.end = if envelope.get("ok").and_then(Value::as_bool) == Some(true) {
        ReportedEnd::Completed
    } else {
        ReportedEnd::Failed { message: error.unwrap_or("no reason told").to_owned() }
    };
    if let Some(summary) = envelope.get("toolSummary") {
        draft.aside(None, &format!("tools used: {summary}"));
    }
    if !text.is_empty() {
        draft.add(TraceStep::said(Source::Agent, text));
    }
}
