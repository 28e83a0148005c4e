//! Rows of two aligned traces: what stands side by side, how it differs, and the text of both. Which step stands beside which is decided
//! by `domain::trace_diff`.

use domain::condition::Condition;
use domain::listing::{DiffLine, LineSide, TraceRow};
use domain::trace_diff::RowClass;
use leptos::prelude::*;

use super::arms;
use super::icon::{Icon, Sign};
use super::step_part::{Side, summary};
use crate::format::{count, tokens};

/// So many equal rows and more, one after the other, are folded into one line.
const FOLDED: usize = 3;

/// Sign and words of a class.
#[must_use]
pub const fn look(class: RowClass) -> (Sign, &'static str) {
    match class {
        RowClass::Same => (Sign::Both, "same"),
        RowClass::WordsDiffer => (Sign::Neither, "other words"),
        RowClass::ResultDiffers => (Sign::Half, "other result"),
        RowClass::ArgumentsDiffer => (Sign::Quarter, "other arguments"),
        RowClass::Moved => (Sign::Moved, "at another time"),
        RowClass::OnlyWithout => (Sign::Previous, "only no-skill"),
        RowClass::OnlyWith => (Sign::Next, "only with-skill"),
    }
}

/// The rows. Stretches of equal ones are folded.
#[component]
pub fn TraceRows(rows: Vec<TraceRow>) -> impl IntoView {
    let mut shown = Vec::new();
    let mut rows = rows.into_iter().peekable();
    while let Some(row) = rows.next() {
        if row.class != RowClass::Same {
            shown.push(one(row));
            continue;
        }
        let mut same = vec![row];
        while let Some(row) = rows.next_if(|row| row.class == RowClass::Same) {
            same.push(row);
        }
        if same.len() < FOLDED {
            shown.extend(same.into_iter().map(one));
        } else {
            shown.push(stretch(same));
        }
    }
    view! { <ol class="trace">{shown}</ol> }
}

/// Equal rows in one line.
fn stretch(rows: Vec<TraceRow>) -> AnyView {
    let used: Vec<u64> = rows.iter().filter_map(|row| row.sides.with.as_ref()?.usage?.total()).collect();
    let used = (!used.is_empty())
        .then(|| format!(", {} tokens", tokens(Some(used.iter().map(|used| *used as f64).sum::<f64>()))));
    let words = format!("{} same steps{}", count(rows.len() as u64), used.unwrap_or_default());
    view! {
        <li class="trace-stretch">
            <details>
                <summary><Icon sign=Sign::Both/>{words}</summary>
                <ol class="trace">{rows.into_iter().map(one).collect_view()}</ol>
            </details>
        </li>
    }
    .into_any()
}

/// One row: closed where both sides are the same.
fn one(row: TraceRow) -> AnyView {
    let (sign, word) = look(row.class);
    let number = row.index + 1;
    let twin = row.twin.map(|twin| {
        view! { <a href=format!("#row-{}", twin + 1)>{format!("row {}", count(twin as u64 + 1))}</a> }
    });
    let approximate = row.approximate.then(|| view! { <span class="chip">"approximate"</span> });
    let open = row.class != RowClass::Same;
    let heads = Condition::BOTH.map(|condition| {
        let text = row.sides.get(condition).as_ref().map(summary).unwrap_or_default();
        view! { <span class=format!("row-summary {}", arms::class(condition))>{text}</span> }
    });
    let compared = [&row.words, &row.arguments, &row.results].iter().any(|lines| !lines.is_empty());
    let sides = view! {
        <div class="trace-row">
            <Side condition=Condition::NoSkill part=row.sides.without/>
            <Side condition=Condition::WithSkill part=row.sides.with/>
        </div>
    };
    view! {
        <li class=format!("row row-{}", row.class.word()) id=format!("row-{number}")>
            <details open=open>
                <summary class="row-head">
                    <span class="row-number">{count(number as u64)}</span>
                    <span class="row-class"><Icon sign=sign/>{word}</span>
                    {heads.into_iter().collect_view()}
                </summary>
                {twin.map(|twin| view! { <p class="quiet">"The other trial did the same in " {twin} "."</p> })}
                {approximate}
                <Lines title="Words" lines=row.words/>
                <Lines title="Arguments" lines=row.arguments/>
                <Lines title="Result" lines=row.results/>
                {if compared {
                    view! { <details class="in-full"><summary>"both in full"</summary>{sides}</details> }.into_any()
                } else {
                    sides.into_any()
                }}
            </details>
        </li>
    }
    .into_any()
}

/// Lines that differ, marked by sign as well as by colour.
#[component]
fn Lines(title: &'static str, lines: Vec<DiffLine>) -> impl IntoView {
    (!lines.is_empty()).then(|| {
        let line = |line: DiffLine| {
            let (class, sign, whose) = match line.side {
                LineSide::Both => ("line", " ", ""),
                LineSide::Without => ("line line-without", "−", "no-skill: "),
                LineSide::With => ("line line-with", "+", "with-skill: "),
                LineSide::Gap => ("line line-gap", "⋯", "equal lines left out"),
            };
            view! {
                <span class=class><span class="line-sign" aria-hidden="true">{sign}</span><span class="visually-hidden">{whose}</span>{line.text}"\n"</span>
            }
        };
        view! {
            <figure class="lines">
                <figcaption class="quiet">{title}</figcaption>
                <pre class="text">{lines.into_iter().map(line).collect_view()}</pre>
            </figure>
        }
    })
}

#[cfg(all(test, feature = "ssr"))]
mod tests {
    use domain::condition::Pair;
    use domain::listing::StepPart;
    use domain::trace::{Source, ToolCall, ToolKind, ToolResult};

    use super::*;

    fn part(text: &str) -> StepPart {
        let result = ToolResult { text: text.repeat(40), exit_code: None, is_error: true, duration_ms: None };
        StepPart {
            step: 1,
            call_number: Some(1),
            source: Source::Agent,
            aside: false,
            sub_agent: false,
            text: text.to_owned(),
            reasoning: Some(text.to_owned()),
            call: Some(ToolCall {
                id: text.to_owned(),
                tool: ToolKind::Other,
                name: text.to_owned(),
                arguments: serde_json::json!({ "a": text, text: 1 }),
                result: Some(result),
            }),
            usage: None,
        }
    }

    fn row(index: usize, class: RowClass, text: &str) -> TraceRow {
        let line = |side| DiffLine { side, text: text.to_owned() };
        TraceRow {
            index,
            class,
            twin: None,
            approximate: false,
            sides: Pair { without: Some(part(text)), with: Some(part(text)) },
            words: vec![line(LineSide::Both), line(LineSide::Gap)],
            arguments: vec![line(LineSide::Without), line(LineSide::With)],
            results: Vec::new(),
        }
    }

    fn html(rows: Vec<TraceRow>) -> String {
        Owner::new().with(|| view! { <TraceRows rows=rows/> }.to_html())
    }

    #[test]
    fn long_stretches_of_equal_rows_are_one_line() {
        let same = |n: usize| (0..n).map(|index| row(index, RowClass::Same, "x")).collect::<Vec<_>>();
        assert!(html(same(3)).contains("3 same steps"));
        assert!(!html(same(2)).contains("same steps"));
    }

    /// The texts of case R06 and some of our own: each tries to leave its place as a page would.
    #[test]
    fn hostile_text_stays_text() {
        let own = "</pre></script><script>document.title=\"X1\"</script><img src=x onerror=alert(1)>\" onclick=\"x";
        let case = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/cases/R06/trace.jsonl");
        let recorded = std::fs::read_to_string(case).unwrap_or_else(|_| {
            println!("case R06 is not here: only our own texts are tried");
            String::new()
        });
        let rows = [own, recorded.as_str()].iter().map(|text| row(0, RowClass::ArgumentsDiffer, text)).collect();
        let html = html(rows);
        for mark in ["<script", "<img", "<iframe", "<svg onload", "</body"] {
            assert!(!html.contains(mark), "{mark} got through");
        }
        assert!(html.contains("&lt;script&gt;"));
    }
}
