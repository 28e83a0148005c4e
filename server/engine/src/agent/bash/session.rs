//! The conversation: ask, run what the model wants run, tell it what came out, until it is done.

use std::time::Duration;

use domain::trace::{Source, ToolCall, ToolKind, ToolResult, TraceStep};
use gateway::TrialGateway;
use gateway::protocol::anthropic::Reply;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::model::{self, NoAnswer};
use super::shell::Shell;
use super::{BashConfig, prompt};
use crate::agent::AgentEnd;
use crate::agent::recorder::Recorder;

/// Told to a model whose answer met its length limit.
const GO_ON: &str = "Your answer was cut at its length limit. Go on.";

/// One run.
pub(super) struct Session<'a, 'r> {
    config: BashConfig,
    gateway: &'a TrialGateway,
    shell: Shell<'a>,
    recorder: &'a mut Recorder<'r>,
    limit: Duration,
    deadline: Instant,
    messages: Vec<Value>,
}

/// What follows an answer.
enum Next {
    /// The model is to speak again.
    Ask,
    End(AgentEnd),
}

impl<'a, 'r> Session<'a, 'r> {
    /// `time` = the limit of the run, and the instant at which it is reached.
    pub(super) fn new(
        config: BashConfig,
        gateway: &'a TrialGateway,
        shell: Shell<'a>,
        recorder: &'a mut Recorder<'r>,
        time: (Duration, Instant),
    ) -> Self {
        let (limit, deadline) = time;
        Self { config, gateway, shell, recorder, limit, deadline, messages: Vec::new() }
    }

    pub(super) async fn run(mut self, system: String, instruction: &str) -> AgentEnd {
        self.recorder.system(&system);
        self.recorder.user(instruction);
        self.say(vec![json!({"type": "text", "text": instruction})]);
        for _ in 0..self.config.max_turns {
            let reply = match model::ask(self.gateway, &self.request(&system), self.deadline).await {
                Ok(reply) => reply,
                Err(NoAnswer::Deadline) => return AgentEnd::TimedOut { limit: self.limit },
                Err(NoAnswer::End(end)) => return end,
            };
            match self.take(reply).await {
                Next::Ask => {}
                Next::End(end) => return end,
            }
        }
        AgentEnd::BudgetExceeded { cap: format!("{} turns", self.config.max_turns) }
    }

    /// The request so far. Both ends of what stays the same are marked for the provider's cache.
    fn request(&self, system: &str) -> Value {
        let mut messages = self.messages.clone();
        let last = messages
            .last_mut()
            .and_then(|message| message.get_mut("content")?.as_array_mut()?.last_mut()?.as_object_mut());
        if let Some(block) = last {
            block.insert("cache_control".to_owned(), json!({"type": "ephemeral"}));
        }
        json!({
            "model": self.gateway.model(),
            "max_tokens": self.config.max_tokens,
            "stream": true,
            "system": [{"type": "text", "text": system, "cache_control": {"type": "ephemeral"}}],
            "tools": [prompt::tool()],
            "messages": messages,
        })
    }

    fn say(&mut self, content: Vec<Value>) {
        self.messages.push(json!({"role": "user", "content": content}));
    }

    async fn take(&mut self, reply: Reply) -> Next {
        let mut step = TraceStep {
            reasoning: reply.reasoning(),
            calls: reply.content.iter().filter_map(tool_call).collect(),
            usage: Some(reply.usage),
            ..TraceStep::said(Source::Agent, reply.text())
        };
        if !reply.content.is_empty() {
            self.messages.push(json!({"role": "assistant", "content": reply.content}));
        }
        let next = if step.calls.is_empty() {
            self.without_tools(reply.stop_reason.as_deref(), &step.text)
        } else {
            self.with_tools(&mut step.calls).await
        };
        self.recorder.record(step);
        next
    }

    fn without_tools(&mut self, stop_reason: Option<&str>, text: &str) -> Next {
        match stop_reason {
            Some("max_tokens") => {
                self.say(vec![json!({"type": "text", "text": GO_ON})]);
                Next::Ask
            }
            Some("pause_turn") => Next::Ask,
            Some("refusal") => Next::End(AgentEnd::Refused),
            Some("model_context_window_exceeded") => Next::End(AgentEnd::Crashed {
                message: "the conversation no longer fits the model's context".to_owned(),
            }),
            _ => {
                self.recorder.note(text);
                Next::End(AgentEnd::Completed)
            }
        }
    }

    /// Runs the calls in order; at an end the rest stay without a result.
    async fn with_tools(&mut self, calls: &mut [ToolCall]) -> Next {
        let mut results = Vec::new();
        for call in calls {
            let result = match command(call) {
                Ok(command) => match self.shell.run(&command, self.deadline).await {
                    Ok(ran) => {
                        self.recorder.used(&ran.end);
                        if ran.at_deadline {
                            call.result = Some(ran.result);
                            return Next::End(AgentEnd::TimedOut { limit: self.limit });
                        }
                        ran.result
                    }
                    Err(error) => return Next::End(AgentEnd::SandboxFailed(error)),
                },
                Err(text) => ToolResult { text, exit_code: None, is_error: true, duration_ms: None },
            };
            results.push(json!({
                "type": "tool_result",
                "tool_use_id": call.id,
                "content": result.text,
                "is_error": result.is_error,
            }));
            call.result = Some(result);
        }
        self.say(results);
        Next::Ask
    }
}

fn tool_call(block: &Value) -> Option<ToolCall> {
    let word = |name: &str| block.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    (word("type") == "tool_use").then(|| ToolCall {
        id: word("id"),
        tool: if word("name") == prompt::TOOL { ToolKind::Shell } else { ToolKind::Other },
        name: word("name"),
        arguments: block.get("input").cloned().unwrap_or_default(),
        result: None,
    })
}

/// The command line of a call, or what to tell the model.
fn command(call: &ToolCall) -> Result<String, String> {
    if call.tool != ToolKind::Shell {
        return Err(format!("there is no tool '{}'; use '{}'", call.name, prompt::TOOL));
    }
    let command = call.arguments.get("command").and_then(Value::as_str);
    match command.filter(|command| !command.trim().is_empty()) {
        Some(command) if command.contains('\0') => Err("a command cannot hold a NUL character".to_owned()),
        Some(command) => Ok(command.to_owned()),
        None => Err(format!("'{}' needs an input {{\"command\": \"…\"}}", prompt::TOOL)),
    }
}
