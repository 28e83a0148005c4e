//! Two traces made into the rows that a page shows: aligned, filtered, cut into stretches, with the lines that differ.

use domain::condition::Pair;
use domain::listing::{DiffLine, LineSide, RowFilter, SpentAt, StepPart, TracePage, TraceRow, TraceView};
use domain::trace::{ToolCall, Trace};
use domain::trace_diff::{DiffRow, RowClass, TraceDiff, UnitRef};
use similar::{ChangeTag, TextDiff};

/// Rows of one page.
const PAGE_ROWS: usize = 200;
/// Points of the line of tokens.
const MOST_POINTS: usize = 300;
/// Texts above this many bytes are not compared line by line; both stand in full.
const MOST_COMPARED_BYTES: usize = 64 << 10;
/// Between the first and the last line that differ, lines of both texts together; where there are more, both stand in full. What the search for
/// the shortest difference takes grows with their square, and an agent can fill a page with such texts.
const MOST_DIFFERING: usize = 1200;
/// Lines of a comparison.
const MOST_LINES: usize = 400;
/// Texts that share less than this part of themselves are not one text changed into the other.
const LEAST_COMMON: f32 = 0.2;
/// Equal lines that are kept before and after a difference.
const CONTEXT_LINES: usize = 3;

/// The stretch of the aligned traces that `view` asks for; an arm without a trace is an empty one.
pub(crate) fn trace_page(traces: &Pair<Option<Trace>>, view: TraceView) -> TracePage {
    let empty = Trace::default();
    let traces = traces.map_ref(|trace| trace.as_ref().unwrap_or(&empty));
    let diff = TraceDiff::compute(traces);
    let passes = |row: &DiffRow, filter: RowFilter| passes(row, filter, traces);
    let count = |filter: RowFilter| (filter, diff.rows.iter().filter(|row| passes(row, filter)).count());
    let rows = diff.rows.iter().enumerate().filter(|(_, row)| passes(row, view.filter));
    TracePage {
        view,
        total: diff.rows.len(),
        counts: RowFilter::OFFERED.into_iter().map(count).collect(),
        page_rows: PAGE_ROWS,
        rows: rows.skip(view.from).take(PAGE_ROWS).map(|(index, row)| shown(index, row, traces)).collect(),
        first_decision: diff.first_decision(),
        first_test_difference: diff.first_test_difference(),
        skill_opened: diff.rows.iter().enumerate().filter(|(_, row)| row.opens_skill).map(|(index, _)| index).collect(),
        spent: spent(&diff.rows, traces),
    }
}

fn passes(row: &DiffRow, filter: RowFilter, traces: Pair<&Trace>) -> bool {
    match filter {
        RowFilter::All => true,
        RowFilter::Differences => row.class != RowClass::Same,
        RowFilter::Class(class) => row.class == class,
        RowFilter::Skill => row.opens_skill,
        RowFilter::Tests => row.is_test_run,
        RowFilter::Errors => {
            let failed = |trace: &Trace, at: Option<UnitRef>| {
                let result = at.and_then(|at| call(trace, at)?.result.as_ref());
                result.is_some_and(|result| result.is_error || result.exit_code.is_some_and(|code| code != 0))
            };
            failed(traces.without, row.sides.without) || failed(traces.with, row.sides.with)
        }
    }
}

fn call(trace: &Trace, at: UnitRef) -> Option<&ToolCall> {
    trace.steps.get(at.step)?.calls.get(at.call?)
}

fn shown(index: usize, row: &DiffRow, traces: Pair<&Trace>) -> TraceRow {
    let sides = Pair {
        without: row.sides.without.and_then(|at| part(traces.without, at)),
        with: row.sides.with.and_then(|at| part(traces.with, at)),
    };
    let both = sides.without.as_ref().zip(sides.with.as_ref());
    let text = |of: fn(&StepPart) -> String| both.map_or_else(Vec::new, |(one, other)| compared(&of(one), &of(other)));
    let [words, arguments, results] = match row.class {
        RowClass::Same | RowClass::Moved | RowClass::OnlyWithout | RowClass::OnlyWith => {
            [Vec::new(), Vec::new(), Vec::new()]
        }
        RowClass::WordsDiffer => [text(|part| part.text.clone()), Vec::new(), Vec::new()],
        RowClass::ArgumentsDiffer | RowClass::ResultDiffers => [
            Vec::new(),
            text(|part| part.call.as_ref().map(ToolCall::arguments_text).unwrap_or_default()),
            text(|part| {
                part.call.as_ref().and_then(|call| Some(call.result.as_ref()?.text.clone())).unwrap_or_default()
            }),
        ],
    };
    TraceRow { index, class: row.class, twin: row.twin, approximate: row.approximate, sides, words, arguments, results }
}

fn part(trace: &Trace, at: UnitRef) -> Option<StepPart> {
    let step = trace.steps.get(at.step)?;
    let first = at.is_first();
    Some(StepPart {
        step: at.step + 1,
        call_number: at.call.map(|call| call + 1),
        source: step.source,
        aside: step.aside,
        sub_agent: step.parent.is_some(),
        text: if first { step.text.clone() } else { String::new() },
        reasoning: step.reasoning.clone().filter(|_| first),
        call: call(trace, at).cloned(),
        usage: step.usage.filter(|_| first),
    })
}

/// The lines of two texts that differ, with a few equal ones around them; empty where they are equal or too long.
fn compared(one: &str, other: &str) -> Vec<DiffLine> {
    if one == other || one.len() + other.len() > MOST_COMPARED_BYTES {
        return Vec::new();
    }
    if differing_lines(one, other) > MOST_DIFFERING {
        return Vec::new();
    }
    let diff = TextDiff::from_lines(one, other);
    let short = |text: &str| text.lines().nth(1).is_none();
    if diff.ratio() < LEAST_COMMON && !(short(one) && short(other)) {
        return Vec::new();
    }
    let mut lines = Vec::new();
    for (group, operations) in diff.grouped_ops(CONTEXT_LINES).iter().enumerate() {
        if group > 0 {
            lines.push(DiffLine { side: LineSide::Gap, text: String::new() });
        }
        for change in operations.iter().flat_map(|operation| diff.iter_changes(operation)) {
            let side = match change.tag() {
                ChangeTag::Equal => LineSide::Both,
                ChangeTag::Delete => LineSide::Without,
                ChangeTag::Insert => LineSide::With,
            };
            lines.push(DiffLine { side, text: change.value().trim_end_matches('\n').to_owned() });
        }
    }
    if lines.len() > MOST_LINES { Vec::new() } else { lines }
}

/// Lines of both texts together, without those that are equal at their beginnings and ends.
fn differing_lines(one: &str, other: &str) -> usize {
    let (one, other): (Vec<&str>, Vec<&str>) = (one.lines().collect(), other.lines().collect());
    let least = one.len().min(other.len());
    let head = one.iter().zip(&other).take_while(|(one, other)| one == other).count();
    let tail = one.iter().rev().zip(other.iter().rev()).take_while(|(one, other)| one == other).count();
    one.len() + other.len() - 2 * head.saturating_add(tail).min(least)
}

/// Tokens up to each row, thinned to a few hundred points; empty where no step tells any.
fn spent(rows: &[DiffRow], traces: Pair<&Trace>) -> Vec<SpentAt> {
    let mut sums = Pair { without: None, with: None };
    let used = |trace: &Trace, at: Option<UnitRef>| {
        let at = at.filter(|at| at.is_first())?;
        trace.steps.get(at.step)?.usage?.total()
    };
    let add = |sum: &mut Option<u64>, more: Option<u64>| {
        if let Some(more) = more {
            *sum = Some(sum.unwrap_or(0).saturating_add(more));
        }
    };
    let mut points = Vec::with_capacity(rows.len());
    for (row, places) in rows.iter().enumerate() {
        add(&mut sums.without, used(traces.without, places.sides.without));
        add(&mut sums.with, used(traces.with, places.sides.with));
        points.push(SpentAt { row, tokens: sums });
    }
    if sums.without.is_none() && sums.with.is_none() {
        return Vec::new();
    }
    let every = points.len().div_ceil(MOST_POINTS).max(1);
    let last = points.len() - 1;
    points.into_iter().filter(|point| point.row % every == 0 || point.row == last).collect()
}

#[cfg(test)]
mod tests {
    use domain::trace::{Source, ToolKind, ToolResult, TraceStep};
    use domain::usage::TokenUsage;

    use super::*;

    fn shell(command: &str, answer: &str, tokens: u64) -> TraceStep {
        let result = ToolResult { text: answer.into(), exit_code: Some(0), is_error: false, duration_ms: None };
        let arguments = serde_json::json!({ "command": command });
        let made =
            ToolCall { id: String::new(), tool: ToolKind::Shell, name: "bash".into(), arguments, result: Some(result) };
        let usage = TokenUsage { input: Some(tokens), cache_read: Some(0), cache_write: Some(0), output: Some(0) };
        TraceStep { calls: vec![made], usage: Some(usage), ..TraceStep::said(Source::Agent, "so") }
    }

    fn traces() -> Pair<Option<Trace>> {
        let without = vec![shell("ls", "a\nb\nc", 10), shell("cat x", "1", 20)];
        let with = vec![shell("ls", "a\nB\nc", 11), shell("cat SKILL.md", "how", 5), shell("cat x", "1", 21)];
        Pair { without: Some(Trace { steps: without }), with: Some(Trace { steps: with }) }
    }

    #[test]
    fn a_page_holds_the_rows_that_pass_and_counts_all() {
        let page = trace_page(&traces(), TraceView { filter: RowFilter::Differences, from: 0 });
        assert_eq!((page.total, page.matching()), (3, 2));
        assert_eq!(page.rows.iter().map(|row| row.index).collect::<Vec<_>>(), [0, 1]);
        assert_eq!((page.first_decision, page.skill_opened.as_slice()), (Some(1), [1].as_slice()));
        let rest = trace_page(&traces(), TraceView { filter: RowFilter::All, from: 2 });
        assert_eq!(rest.rows.iter().map(|row| row.class).collect::<Vec<_>>(), [RowClass::Same]);
        assert_eq!(rest.rows[0].sides.with.as_ref().map(|part| (part.step, part.call_number)), Some((3, Some(1))));
    }

    #[test]
    fn the_lines_that_differ_stand_between_those_that_do_not() {
        let page = trace_page(&traces(), TraceView::default());
        let lines: Vec<_> = page.rows[0].results.iter().map(|line| (line.side, line.text.as_str())).collect();
        assert_eq!(
            lines,
            [(LineSide::Both, "a"), (LineSide::Without, "b"), (LineSide::With, "B"), (LineSide::Both, "c")]
        );
        assert!(page.rows[0].arguments.is_empty() && page.rows[2].results.is_empty());
    }

    #[test]
    fn texts_whose_comparison_would_take_long_stand_in_full() {
        let numbers = |from: usize, to: usize| (from..to).map(|n| format!("{n}\n")).collect::<String>();
        let changed = |text: &str| text.replacen("5\n", "five\n", 1);
        let long = numbers(0, 5_000);
        for (name, one, other, differing, is_compared) in [
            ("one line of many", long.clone(), changed(&long), 2, true),
            ("all of a few", numbers(0, 4), numbers(4, 9), 9, false),
            ("added at the end", numbers(0, 1_000), numbers(0, 1_100), 100, true),
            ("far apart", format!("x\n{}x\n", numbers(0, 600)), format!("y\n{}y\n", numbers(0, 600)), 1204, false),
            (
                "just near enough",
                format!("x\n{}x\n", numbers(0, 598)),
                format!("y\n{}y\n", numbers(0, 598)),
                1200,
                true,
            ),
            ("all of many", "a\n".repeat(16_000), "b\n".repeat(16_000), 32_000, false),
            ("repeated", "a\n".repeat(10), "a\n".repeat(12), 2, true),
        ] {
            assert_eq!(differing_lines(&one, &other), differing, "{name}");
            assert_eq!(!compared(&one, &other).is_empty(), is_compared, "{name}");
        }
    }

    #[test]
    fn tokens_are_summed_row_by_row_and_unknown_stays_unknown() {
        let page = trace_page(&traces(), TraceView::default());
        let sums: Vec<_> = page.spent.iter().map(|point| (point.tokens.without, point.tokens.with)).collect();
        assert_eq!(sums, [(Some(10), Some(11)), (Some(10), Some(16)), (Some(30), Some(37))]);
        let silent = Pair { without: Some(Trace { steps: vec![TraceStep::said(Source::Agent, "x")] }), with: None };
        assert!(trace_page(&silent, TraceView::default()).spent.is_empty());
    }

    #[test]
    fn a_long_pair_of_traces_is_thinned_to_few_points() {
        let long = Trace { steps: (0..2_000).map(|n| shell(&format!("echo {n}"), "", 1)).collect() };
        let page = trace_page(&Pair { without: Some(long), with: None }, TraceView::default());
        assert!(page.spent.len() <= MOST_POINTS + 1 && page.rows.len() == PAGE_ROWS);
        assert_eq!(page.spent.last().map(|point| point.tokens.without), Some(Some(2_000)));
    }
}
