//! ATIF v1.8 out. Its objects allow no unknown fields, but each has an `extra`.

use domain::trace::{Source, ToolCall, Trace, TraceStep};
use domain::usage::TokenUsage;
use serde_json::{Map, Value, json};

/// Who acted, for the trajectory's head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Actor {
    /// The agent.
    pub agent: String,
    /// Its version.
    pub version: String,
    /// The model.
    pub model: Option<String>,
    /// An id for the run.
    pub session: Option<String>,
}

/// A trace as an ATIF v1.8 trajectory. `None` for a trace without steps, which the format does not have. `total` = tokens of the whole run,
/// where they are known better than by summing the steps.
#[must_use]
pub fn to_atif(trace: &Trace, actor: &Actor, total: Option<&TokenUsage>) -> Option<Value> {
    if trace.steps.is_empty() {
        return None;
    }
    let steps: Vec<Value> = trace.steps.iter().zip(1_u64..).map(|(trace, number)| step(trace, number)).collect();
    let mut agent = Map::new();
    agent.insert("name".to_owned(), json!(actor.agent));
    agent.insert("version".to_owned(), json!(actor.version));
    put(&mut agent, "model_name", actor.model.as_ref().map(|model| json!(model)));
    let mut file = Map::new();
    file.insert("schema_version".to_owned(), json!("ATIF-v1.8"));
    put(&mut file, "session_id", actor.session.as_ref().map(|session| json!(session)));
    file.insert("agent".to_owned(), Value::Object(agent));
    file.insert("steps".to_owned(), Value::Array(steps));
    let mut totals = Map::new();
    if let Some(total) = total {
        metrics(&mut totals, total, ["total_prompt_tokens", "total_completion_tokens", "total_cached_tokens"]);
    }
    totals.insert("total_steps".to_owned(), json!(trace.steps.len()));
    file.insert("final_metrics".to_owned(), Value::Object(totals));
    Some(Value::Object(file))
}

fn step(step: &TraceStep, number: u64) -> Value {
    let mut fields = Map::new();
    fields.insert("step_id".to_owned(), json!(number));
    put(&mut fields, "timestamp", step.at.map(|at| json!(at.rfc3339())));
    let source = match step.source {
        Source::System => "system",
        Source::User => "user",
        Source::Agent => "agent",
    };
    fields.insert("source".to_owned(), json!(source));
    fields.insert("message".to_owned(), json!(step.text));
    if step.source == Source::Agent {
        put(&mut fields, "reasoning_content", step.reasoning.as_ref().map(|text| json!(text)));
        let calls: Vec<Value> = step.calls.iter().zip(1_u64..).map(|(call, at)| tool_call(call, number, at)).collect();
        put(&mut fields, "tool_calls", (!calls.is_empty()).then_some(Value::Array(calls)));
        put(&mut fields, "observation", observation(step, number));
        if let Some(usage) = &step.usage {
            let mut told = Map::new();
            metrics(&mut told, usage, ["prompt_tokens", "completion_tokens", "cached_tokens"]);
            put(&mut fields, "metrics", (!told.is_empty()).then_some(Value::Object(told)));
        }
    }
    let mut extra = Map::new();
    put(&mut extra, "parent_call_id", step.parent.as_ref().map(|id| json!(id)));
    put(&mut extra, "aside", step.aside.then_some(Value::Bool(true)));
    put(&mut fields, "extra", (!extra.is_empty()).then_some(Value::Object(extra)));
    Value::Object(fields)
}

fn tool_call(call: &ToolCall, step: u64, at: u64) -> Value {
    let arguments = match &call.arguments {
        arguments @ Value::Object(_) => arguments.clone(),
        other => json!({ "value": other }),
    };
    json!({
        "tool_call_id": id(call, step, at),
        "function_name": call.name,
        "arguments": arguments,
        "extra": {"tool": call.tool},
    })
}

/// Calls are told apart by id within a step, so one without an id gets one.
fn id(call: &ToolCall, step: u64, at: u64) -> String {
    if call.id.is_empty() { format!("call-{step}-{at}") } else { call.id.clone() }
}

fn observation(step: &TraceStep, number: u64) -> Option<Value> {
    let results: Vec<Value> = step
        .calls
        .iter()
        .zip(1_u64..)
        .filter_map(|(call, at)| {
            let result = call.result.as_ref()?;
            let mut extra = Map::new();
            extra.insert("is_error".to_owned(), json!(result.is_error));
            put(&mut extra, "exit_code", result.exit_code.map(|code| json!(code)));
            put(&mut extra, "duration_ms", result.duration_ms.map(|ms| json!(ms)));
            Some(json!({"source_call_id": id(call, number, at), "content": result.text, "extra": extra}))
        })
        .collect();
    (!results.is_empty()).then(|| json!({ "results": results }))
}

/// The prompt's count contains what the cache served and wrote, so it is known only where all three are.
fn metrics(fields: &mut Map<String, Value>, usage: &TokenUsage, [prompt, completion, cached]: [&str; 3]) {
    let whole = TokenUsage { output: Some(0), ..*usage }.total();
    put(fields, prompt, whole.map(|tokens| json!(tokens)));
    put(fields, completion, usage.output.map(|tokens| json!(tokens)));
    put(fields, cached, usage.cache_read.map(|tokens| json!(tokens)));
    put(fields, "extra", usage.cache_write.map(|tokens| json!({ "cache_write_tokens": tokens })));
}

fn put(fields: &mut Map<String, Value>, name: &str, value: Option<Value>) {
    if let Some(value) = value {
        fields.insert(name.to_owned(), value);
    }
}
