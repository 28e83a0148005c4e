//! Claude Code: `stream-json` on standard output, and the session file, which has the same messages with their final counts.
//!
//! One line per content block, each with the whole message's usage, whose output count is a placeholder in the stream. So messages are
//! counted by id, and output is known from the result line, from partial-message events, or from the session file.

mod blocks;
mod messages;
mod result;

use domain::time::Timestamp;
use domain::trace::{Source, TraceStep};
use serde_json::Value;

pub(super) use self::blocks::{agent_step, tool_results, user_text};
use self::messages::Messages;
use self::result::Outcome;
use super::draft::Draft;
use super::reader::Events;
use super::text::{names, word};
use super::usage::count;

/// Reads either record.
pub(super) struct Claude {
    /// Whether output counts in message lines are final.
    is_session: bool,
    messages: Messages,
    outcome: Outcome,
}

impl Claude {
    pub(super) fn stream() -> Self {
        Self { is_session: false, messages: Messages::default(), outcome: Outcome::default() }
    }

    pub(super) fn session() -> Self {
        Self { is_session: true, ..Self::stream() }
    }

    fn assistant(&mut self, event: &Value, draft: &mut Draft) {
        let Some(message) = event.get("message") else { return };
        let parent = word(event, "parent_tool_use_id");
        let mut step = agent_step(message, blocks::kind);
        step.at = time(event);
        step.parent = parent.map(str::to_owned);
        for call in &step.calls {
            self.messages.called(call);
        }
        if word(message, "model") == Some("<synthetic>") {
            draft.add(TraceStep { aside: true, ..step });
            return;
        }
        if draft.reading.model.is_none() {
            draft.reading.model = word(message, "model").map(str::to_owned);
        }
        let by_sub_agent = parent.is_some() || event.get("isSidechain").and_then(Value::as_bool) == Some(true);
        self.messages.block(message, step, by_sub_agent, self.is_session, draft);
    }

    fn user(&mut self, event: &Value, draft: &mut Draft) {
        let Some(content) = event.pointer("/message/content") else { return };
        let detail = event.get("tool_use_result").or_else(|| event.get("toolUseResult"));
        for (id, result) in tool_results(content) {
            if result.is_error {
                self.messages.failed(&id);
            } else {
                self.messages.succeeded(&id, &mut draft.reading.skills);
            }
            draft.result(&id, result);
        }
        if let Some(total) = detail.and_then(|detail| count(detail, &["totalTokens"])) {
            self.messages.rolled_up(total);
        }
        let text = user_text(content);
        if !text.is_empty() {
            let own = [event.get("isSynthetic"), event.get("isMeta")].into_iter().flatten();
            let is_own = own.filter_map(Value::as_bool).any(|own| own);
            let source = if is_own { Source::System } else { Source::User };
            let parent = word(event, "parent_tool_use_id").map(str::to_owned);
            draft.add(TraceStep { at: time(event), parent, ..TraceStep::said(source, text) });
        }
    }

    fn system(&mut self, event: &Value, draft: &mut Draft) {
        let at = time(event);
        match word(event, "subtype").unwrap_or_default() {
            "init" => {
                draft.reading.version = word(event, "claude_code_version").map(str::to_owned);
                draft.reading.model = word(event, "model").map(str::to_owned);
                draft.reading.skills.listed = event.get("skills").and_then(names);
            }
            "api_retry" => {
                let field = |name: &str| event.get(name).map(Value::to_string).unwrap_or_else(|| "?".to_owned());
                let (attempt, delay, status) = (field("attempt"), field("retry_delay_ms"), field("error_status"));
                draft.aside(at, &format!("model call failed (status {status}); retry {attempt} in {delay} ms"));
            }
            "permission_denied" => {
                let tool = word(event, "tool_name").unwrap_or("a tool");
                draft.aside(at, &format!("the agent program denied {tool} to its model"));
            }
            "compact_boundary" => draft.aside(at, "the agent program shortened the conversation"),
            _ => {}
        }
    }
}

impl Events for Claude {
    fn event(&mut self, event: &Value, draft: &mut Draft) {
        if let Some(session) = word(event, "session_id").or_else(|| word(event, "sessionId")) {
            draft.reading.session.get_or_insert_with(|| session.to_owned());
        }
        if let Some(version) = word(event, "version") {
            draft.reading.version.get_or_insert_with(|| version.to_owned());
        }
        match word(event, "type").unwrap_or_default() {
            "assistant" => self.assistant(event, draft),
            "user" => self.user(event, draft),
            "system" => self.system(event, draft),
            "stream_event" => self.messages.partial(event),
            "result" => self.outcome.take(event, draft),
            // `--output-format json` prints the result object alone; older versions did not name its type.
            "" if event.get("usage").is_some() => self.outcome.take(event, draft),
            _ => {}
        }
    }

    fn end(&mut self, draft: &mut Draft) {
        self.messages.end(&self.outcome, self.is_session, draft);
    }
}

fn time(event: &Value) -> Option<Timestamp> {
    word(event, "timestamp").and_then(Timestamp::from_rfc3339)
}
