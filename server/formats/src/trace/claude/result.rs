//! The result line. Its `subtype` is `success` even where the API failed; `is_error` and `terminal_reason` tell.

use domain::usage::TokenUsage;
use serde_json::Value;

use crate::trace::draft::Draft;
use crate::trace::reading::ReportedEnd;
use crate::trace::text::{filled, word};
use crate::trace::usage::{count, report};

/// What it tells.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// The sum over the calls of the agent itself, sub-agents left out.
    pub(super) tokens: Option<TokenUsage>,
    pub(super) reasoning: Option<u64>,
    pub(super) cost_usd: Option<f64>,
}

impl Outcome {
    pub(super) fn take(&mut self, event: &Value, draft: &mut Draft) {
        let told = report(event);
        self.tokens = Some(told.tokens).filter(|tokens| *tokens != TokenUsage::UNKNOWN);
        self.cost_usd = told.cost_usd;
        self.reasoning =
            event.pointer("/usage/output_tokens_details").and_then(|details| count(details, &["thinking_tokens"]));
        let denials = event.get("permission_denials").and_then(Value::as_array).into_iter().flatten();
        draft.reading.denials = denials.filter_map(|denial| word(denial, "tool_name")).map(str::to_owned).collect();
        draft.reading.end = end(event);
    }
}

fn end(event: &Value) -> ReportedEnd {
    let errors = event.get("errors").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let errors: Vec<&str> = errors.collect();
    let said = filled(&errors.join("; ")).or_else(|| word(event, "result").and_then(filled));
    let subtype = word(event, "subtype").unwrap_or_default();
    let message = said.unwrap_or_else(|| subtype.to_owned());
    let is_error = event.get("is_error").and_then(Value::as_bool).unwrap_or(false);
    let status = event.get("api_error_status").and_then(Value::as_u64).and_then(|status| u16::try_from(status).ok());
    match (subtype, word(event, "terminal_reason").unwrap_or_default()) {
        ("error_max_turns" | "error_max_budget_usd", _) | (_, "max_turns" | "budget_exhausted") => {
            ReportedEnd::Limit { what: message }
        }
        (_, "prompt_too_long") => ReportedEnd::ContextFull { message },
        (_, "api_error") => ReportedEnd::Provider { status, message },
        _ if is_error && status.is_some() => ReportedEnd::Provider { status, message },
        _ if is_error || subtype.starts_with("error") => ReportedEnd::Failed { message },
        _ if word(event, "stop_reason") == Some("refusal") => ReportedEnd::Refused,
        _ => ReportedEnd::Completed,
    }
}
