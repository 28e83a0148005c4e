//! Messages by id: each counted once, whatever number of lines it came in.

use std::collections::HashMap;

use domain::trace::{ToolCall, ToolKind, TraceStep};
use domain::usage::TokenUsage;
use serde_json::Value;

use super::result::Outcome;
use crate::trace::draft::{Draft, StepKey};
use crate::trace::reading::{CallReport, SelfReport, SkillsSeen, SubAgents};
use crate::trace::text::word;
use crate::trace::usage::{apart, count, sum};

/// Everything that was said and counted.
#[derive(Debug, Default)]
pub(super) struct Messages {
    /// In order of their first lines.
    all: Vec<Message>,
    by_id: HashMap<String, usize>,
    /// Final output counts from partial-message events.
    finals: HashMap<String, u64>,
    /// The message that partial events belong to.
    streaming: Option<String>,
    /// Skill calls that have no result yet: call id and skill.
    pending_skills: HashMap<String, String>,
    /// Tokens that summaries of sub-agents tell.
    roll_up: Option<u64>,
}

#[derive(Debug)]
struct Message {
    id: String,
    /// Output: as the lines have it, a placeholder in the stream.
    usage: Option<TokenUsage>,
    by_sub_agent: bool,
    step: StepKey,
}

impl Messages {
    /// Takes a line of a message.
    pub(super) fn block(
        &mut self,
        message: &Value,
        step: TraceStep,
        by_sub_agent: bool,
        is_final: bool,
        draft: &mut Draft,
    ) {
        let usage = message.get("usage").and_then(apart);
        let told = usage.map(|usage| if is_final { usage } else { TokenUsage { output: None, ..usage } });
        let id = word(message, "id").unwrap_or_default();
        let known = self.by_id.get(id).copied().and_then(|index| self.all.get_mut(index));
        let Some(known) = known.filter(|_| !id.is_empty()) else {
            let step = draft.add(TraceStep { usage: told, ..step });
            self.by_id.insert(id.to_owned(), self.all.len());
            self.all.push(Message { id: id.to_owned(), usage, by_sub_agent, step });
            return;
        };
        known.usage = match (known.usage, usage) {
            (Some(old), Some(new)) => Some(TokenUsage { output: old.output.max(new.output), ..new }),
            (old, new) => new.or(old),
        };
        // A step that was given out already has counted its tokens.
        let again = draft.step(known.step).is_none();
        known.step = draft.extend(known.step, TraceStep { usage: told.filter(|_| !again), ..step });
    }

    /// Takes an event of a message under way.
    pub(super) fn partial(&mut self, event: &Value) {
        let Some(event) = event.get("event") else { return };
        match word(event, "type").unwrap_or_default() {
            "message_start" => self.streaming = event.pointer("/message/id").and_then(Value::as_str).map(str::to_owned),
            "message_delta" => {
                let output = event.get("usage").and_then(|usage| count(usage, &["output_tokens"]));
                if let Some((id, output)) = self.streaming.clone().zip(output) {
                    self.finals.insert(id, output);
                }
            }
            _ => {}
        }
    }

    /// A call was made.
    pub(super) fn called(&mut self, call: &ToolCall) {
        if call.tool == ToolKind::Skill
            && let Some(skill) = word(&call.arguments, "skill").or_else(|| word(&call.arguments, "command"))
        {
            self.pending_skills.insert(call.id.clone(), skill.to_owned());
        }
    }

    /// A call was answered without an error.
    pub(super) fn succeeded(&mut self, id: &str, skills: &mut SkillsSeen) {
        if let Some(skill) = self.pending_skills.remove(id) {
            skills.open(&skill);
        }
    }

    /// A call was answered with an error: it opened nothing.
    pub(super) fn failed(&mut self, id: &str) {
        self.pending_skills.remove(id);
    }

    /// A summary of a sub-agent came.
    pub(super) fn rolled_up(&mut self, total: u64) {
        self.roll_up = Some(self.roll_up.unwrap_or(0).saturating_add(total));
    }

    /// Sums it up.
    pub(super) fn end(&mut self, outcome: &Outcome, is_session: bool, draft: &mut Draft) {
        let reading = &mut draft.reading;
        // The record may end between a call and its answer: the model has asked for the skill all the same.
        let mut unanswered: Vec<(String, String)> = self.pending_skills.drain().collect();
        unanswered.sort();
        unanswered.iter().for_each(|(_, skill)| reading.skills.open(skill));
        reading.calls = self.all.iter().filter_map(|message| self.report(message, is_session)).collect();
        let none = outcome.tokens == Some(TokenUsage::ZERO);
        reading.model_calls = (none || !self.all.is_empty()).then_some(self.all.len() as u64);
        let own = sum(reading.calls.iter().filter(|call| !call.by_sub_agent).map(|call| call.usage));
        let tokens = outcome.tokens.unwrap_or(own);
        let sub_agents = self.sub_agents();
        let total = match sub_agents {
            None => tokens.total(),
            Some(sub) => tokens.total().zip(sub.total).map(|(own, sub)| own.saturating_add(sub)),
        };
        let at_least = outcome.tokens.is_none() && !is_session && !reading.calls.is_empty();
        let reasoning = outcome.reasoning;
        reading.usage = SelfReport { tokens, sub_agents, total, reasoning, at_least, cost_usd: outcome.cost_usd };
        if let Some(told) = outcome.tokens {
            compare(own, told, draft);
        }
    }

    fn report(&self, message: &Message, is_session: bool) -> Option<CallReport> {
        let usage = message.usage?;
        let output = if is_session { usage.output } else { self.finals.get(&message.id).copied() };
        let usage = TokenUsage { output, ..usage };
        Some(CallReport { id: message.id.clone(), usage, by_sub_agent: message.by_sub_agent })
    }

    /// Sub-agents: by their lines and by the roll-up, which tell the same tokens. The placeholders in the lines make their sum too small,
    /// and a roll-up may leave calls out: the larger one is nearer.
    fn sub_agents(&self) -> Option<SubAgents> {
        let lines = || self.all.iter().filter(|message| message.by_sub_agent);
        let seen = lines().next().is_some();
        if !seen && self.roll_up.is_none() {
            return None;
        }
        let counted = sum(lines().filter_map(|message| message.usage));
        let counted_total = counted.total().filter(|_| seen);
        let total = counted_total.max(self.roll_up);
        let tokens = match (counted_total, self.roll_up) {
            (Some(counted_total), Some(rolled)) if counted_total == rolled => counted,
            (Some(_), _) => TokenUsage { output: None, ..counted },
            (None, _) => TokenUsage::UNKNOWN,
        };
        Some(SubAgents { tokens, total, from_roll_up: !seen })
    }
}

/// Two views of one number: a difference is worth knowing.
fn compare(counted: TokenUsage, told: TokenUsage, draft: &mut Draft) {
    for (what, counted, told) in [
        ("input", counted.input, told.input),
        ("cache read", counted.cache_read, told.cache_read),
        ("cache write", counted.cache_write, told.cache_write),
        ("output", counted.output, told.output),
    ] {
        if let (Some(counted), Some(told)) = (counted, told)
            && counted != told
        {
            draft.note(format!("the messages tell {counted} {what} tokens, the result line {told}"));
        }
    }
}
