//! One side of a row of two traces: who speaks, what is said, the call and its answer.

use domain::condition::Condition;
use domain::listing::StepPart;
use domain::trace::{Source, ToolCall, ToolKind, ToolResult};
use leptos::prelude::*;

use super::arms;
use super::fold::LongText;
use crate::format::{duration, tokens};

/// Longest summary, in characters.
const SUMMARY_CHARS: usize = 120;

/// A step in a line: the tool and the beginning of what it was given, or the beginning of what was said.
#[must_use]
pub fn summary(part: &StepPart) -> String {
    let (what, text) = match &part.call {
        Some(call) => (tool_word(call.tool), call.arguments_text()),
        None => (source_word(part.source), part.text.clone()),
    };
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let cut: String = line.chars().take(SUMMARY_CHARS).collect();
    let more = if cut.len() < line.len() { "…" } else { "" };
    format!("{what}: {cut}{more}")
}

/// One arm's part of a row, or the gap where it has none.
#[component]
pub fn Side(condition: Condition, part: Option<StepPart>) -> impl IntoView {
    let class = format!("trace-side {}", arms::class(condition));
    let Some(part) = part else {
        return view! { <div class=format!("{class} trace-gap")><span class="visually-hidden">"no step here"</span></div> }.into_any();
    };
    let arm = match condition {
        Condition::NoSkill => "no",
        Condition::WithSkill => "with",
    };
    let call_number = part.call_number.filter(|number| *number > 1).map(|number| format!(".{number}"));
    let number = format!("{}{}", part.step, call_number.unwrap_or_default());
    let usage =
        part.usage.and_then(|usage| usage.total()).map(|total| format!("{} tokens", tokens(Some(total as f64))));
    let who = match (part.aside, part.sub_agent) {
        (true, _) => "beside the conversation",
        (false, true) => "sub-agent",
        (false, false) => source_word(part.source),
    };
    let anchor = format!("{arm}-{number}");
    view! {
        <div class=class id=anchor>
            <p class="step-head">
                <span class="step-number">{number}</span>
                <span class="step-source">{who}</span>
                {usage.map(|usage| view! { <span class="quiet step-usage">{usage}</span> })}
            </p>
            {part.reasoning.map(|text| {
                view! { <details class="reasoning"><summary>"reasoning"</summary><LongText text=text/></details> }
            })}
            {(!part.text.is_empty()).then(|| view! { <LongText text=part.text/> })}
            {part.call.map(call)}
        </div>
    }
    .into_any()
}

const fn source_word(source: Source) -> &'static str {
    match source {
        Source::System => "instructions",
        Source::User => "task",
        Source::Agent => "agent",
    }
}

const fn tool_word(tool: ToolKind) -> &'static str {
    match tool {
        ToolKind::Shell => "shell",
        ToolKind::Read => "read",
        ToolKind::Edit => "edit",
        ToolKind::Write => "write",
        ToolKind::Search => "search",
        ToolKind::Skill => "skill",
        ToolKind::Other => "tool",
    }
}

fn call(call: ToolCall) -> AnyView {
    let class = if call.tool == ToolKind::Skill { "call call-skill" } else { "call" };
    view! {
        <div class=class>
            <p class="call-head"><span class="tool">{tool_word(call.tool)}</span><code>{call.name.clone()}</code></p>
            <LongText text=call.arguments_text()/>
            {call.result.map_or_else(
                || view! { <p class="quiet">"No result: the run ended before it came."</p> }.into_any(),
                result,
            )}
        </div>
    }
    .into_any()
}

fn result(result: ToolResult) -> AnyView {
    let exit = result.exit_code.map(|code| {
        let class = if code == 0 { "exit exit-ok" } else { "exit exit-bad" };
        view! { <span class=class>{format!("exit {code}")}</span> }
    });
    let time = result.duration_ms.map(|ms| duration(Some(ms)));
    let told = result.is_error.then(|| view! { <span class="exit exit-bad">"error"</span> });
    let empty = result.text.is_empty();
    view! {
        <div class="call-result">
            <p class="call-head"><span class="quiet">"result"</span>{exit}{told}{time.map(|time| view! { <span class="quiet">{time}</span> })}</p>
            {if empty {
                view! { <p class="quiet">"no output"</p> }.into_any()
            } else {
                view! { <LongText text=result.text/> }.into_any()
            }}
        </div>
    }
    .into_any()
}
