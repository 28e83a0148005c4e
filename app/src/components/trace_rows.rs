//! Two traces side by side, row by row. Which step stands beside which is decided elsewhere: this draws aligned rows.

use domain::condition::{Condition, Pair};
use domain::trace::{Source, ToolCall, ToolKind, ToolResult, Trace, TraceStep};
use leptos::prelude::*;

use super::arms;
use super::fold::LongText;
use crate::format::{count, duration, tokens};

/// A step with its number within its own trace, from 1.
#[derive(Debug, Clone, PartialEq)]
pub struct NumberedStep {
    /// From 1.
    pub number: usize,
    /// The step.
    pub step: TraceStep,
}

/// Steps that stand beside one another; at least one is there.
pub type AlignedRow = Pair<Option<NumberedStep>>;

/// Puts steps with the same number side by side.
#[must_use]
pub fn by_number(traces: Pair<Option<Trace>>) -> Vec<AlignedRow> {
    let Pair { without, with } = traces.map(|trace| trace.map(|trace| trace.steps).unwrap_or_default());
    let rows = without.len().max(with.len());
    let mut steps = Pair { without: without.into_iter(), with: with.into_iter() };
    (1..=rows)
        .map(|number| {
            let numbered = |step| NumberedStep { number, step };
            Pair { without: steps.without.next().map(numbered), with: steps.with.next().map(numbered) }
        })
        .collect()
}

/// The rows.
#[component]
pub fn TraceRows(rows: Vec<AlignedRow>) -> impl IntoView {
    view! {
        <ol class="trace">
            {rows
                .into_iter()
                .map(|row| {
                    let Pair { without, with } = row;
                    view! {
                        <li class="trace-row">
                            {side(Condition::NoSkill, without)}
                            {side(Condition::WithSkill, with)}
                        </li>
                    }
                })
                .collect_view()}
        </ol>
    }
}

/// One arm's step, or the gap where it has none.
fn side(condition: Condition, step: Option<NumberedStep>) -> AnyView {
    let class = format!("trace-side {}", arms::class(condition));
    let Some(NumberedStep { number, step }) = step else {
        return view! { <div class=format!("{class} trace-gap")><span class="visually-hidden">"no step here"</span></div> }.into_any();
    };
    let anchor = match condition {
        Condition::NoSkill => format!("no-{number}"),
        Condition::WithSkill => format!("with-{number}"),
    };
    let usage =
        step.usage.and_then(|usage| usage.total()).map(|total| format!("{} tokens", tokens(Some(total as f64))));
    view! {
        <div class=class id=anchor>
            <p class="step-head">
                <span class="step-number">{number}</span>
                <span class="step-source">{source_word(step.source)}</span>
                {usage.map(|usage| view! { <span class="quiet step-usage">{usage}</span> })}
            </p>
            {step.reasoning.clone().map(|text| {
                view! { <details class="reasoning"><summary>"reasoning"</summary><LongText text=text/></details> }
            })}
            {(!step.text.is_empty()).then(|| view! { <LongText text=step.text.clone()/> })}
            {step.calls.into_iter().map(call).collect_view()}
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
            <LongText text=arguments(&call.arguments)/>
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

/// A single text argument is shown as it is, anything else as indented JSON.
fn arguments(arguments: &serde_json::Value) -> String {
    let single =
        arguments.as_object().filter(|object| object.len() == 1).and_then(|object| object.values().next()?.as_str());
    match (single, arguments) {
        (Some(text), _) => text.to_owned(),
        (None, serde_json::Value::String(text)) => text.clone(),
        (None, other) => serde_json::to_string_pretty(other).unwrap_or_default(),
    }
}

/// Number of turns and calls, in words.
#[must_use]
pub fn trace_size(trace: Option<&Trace>) -> (String, String) {
    let unknown = || crate::format::UNKNOWN.to_owned();
    trace
        .map_or_else(|| (unknown(), unknown()), |trace| (count(trace.turns() as u64), count(trace.tool_calls() as u64)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(texts: &[&str]) -> Trace {
        let step = |text: &&str| TraceStep::said(Source::Agent, *text);
        Trace { steps: texts.iter().map(step).collect() }
    }

    #[test]
    fn the_longer_trace_decides_the_rows() {
        let rows = by_number(Pair { without: Some(trace(&["a"])), with: Some(trace(&["b", "c"])) });
        assert_eq!(rows.len(), 2);
        assert_eq!(rows[1].without, None);
        assert_eq!(rows[1].with.as_ref().map(|step| (step.number, step.step.text.as_str())), Some((2, "c")));
        assert!(by_number(Pair { without: None, with: None }).is_empty());
    }

    #[test]
    fn a_single_text_argument_is_shown_as_it_is() {
        assert_eq!(arguments(&serde_json::json!({"command": "ls -l"})), "ls -l");
        assert_eq!(arguments(&serde_json::json!({"a": 1, "b": "c"})), "{\n  \"a\": 1,\n  \"b\": \"c\"\n}");
    }

    /// The texts of case R06 and some of our own: each tries to leave its place as a page would.
    #[cfg(feature = "ssr")]
    #[test]
    fn hostile_text_stays_text() {
        let own = "</pre></script><script>document.title=\"X1\"</script><img src=x onerror=alert(1)>\" onclick=\"x";
        let case = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/cases/R06/trace.jsonl");
        let recorded = std::fs::read_to_string(case).unwrap_or_else(|_| {
            println!("case R06 is not here: only our own texts are tried");
            String::new()
        });
        let call = ToolCall {
            id: own.to_owned(),
            tool: ToolKind::Other,
            name: own.to_owned(),
            arguments: serde_json::json!({ "a": own, own: 1 }),
            result: Some(ToolResult { text: own.repeat(40), exit_code: None, is_error: true, duration_ms: None }),
        };
        let mut hostile = trace(&[own, &recorded]);
        hostile.steps.iter_mut().for_each(|step| step.calls.push(call.clone()));
        let rows = by_number(Pair { without: Some(hostile.clone()), with: Some(hostile) });
        let html = Owner::new().with(|| view! { <TraceRows rows=rows/> }.to_html());
        for mark in ["<script", "<img", "<iframe", "<svg", "</body"] {
            assert!(!html.contains(mark), "{mark} got through");
        }
        assert!(html.contains("&lt;script&gt;"));
    }
}
