//! Pass rate by task: from a hollow mark (no-skill) to a filled one (with-skill). All tasks together first, then the tasks by Δ.

use domain::report::number::{percent, points};
use domain::report::{EvaluationReport, TaskReport};

use crate::canvas::{Anchor, Canvas, Ink, TextLook, Words};

/// For which pages a drawing is made: text must stay readable, so a narrow page gets a drawing of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    /// From about 720 pixels.
    Wide,
    /// A telephone.
    Narrow,
}

/// Sizes in pixels.
struct Layout {
    width: i32,
    head: i32,
    row: i32,
    /// Where 0 % and 100 % stand.
    from: i32,
    to: i32,
    /// Where the Δ ends.
    delta: i32,
    /// Label above its line rather than before it.
    label_above: bool,
    label_chars: usize,
}

impl Layout {
    const fn of(width: Width, rows: usize) -> Self {
        let row = if rows <= 24 { 32 } else { 24 };
        match width {
            Width::Wide => Self {
                width: 1100,
                head: 34,
                row,
                from: 360,
                to: 980,
                delta: 1090,
                label_above: false,
                label_chars: 44,
            },
            Width::Narrow => Self {
                width: 360,
                head: 34,
                row: 48,
                from: 14,
                to: 268,
                delta: 354,
                label_above: true,
                label_chars: 44,
            },
        }
    }

    fn x(&self, share: f64) -> i32 {
        self.from + (f64::from(self.to - self.from) * share.clamp(0.0, 1.0)).round() as i32
    }

    /// The vertical middle of a row's line.
    fn y(&self, row: usize) -> i32 {
        let row = i32::try_from(row).unwrap_or(i32::MAX / 1024);
        let inside = if self.label_above { self.row - 14 } else { self.row / 2 };
        self.head + row * self.row + inside
    }
}

/// One line of the drawing.
struct Row {
    label: String,
    /// Pass rates without and with.
    rates: Option<(f64, f64)>,
    bold: bool,
    /// Whether its line may look like a gain or a loss: the sum of all tasks only once the verdict is settled.
    settled: bool,
}

/// Draws the pass rates of `report`, as an SVG element to be put into a page.
#[must_use]
pub fn dumbbell(report: &EvaluationReport, width: Width) -> String {
    let rows = rows(report);
    let layout = Layout::of(width, rows.len());
    let count = i32::try_from(rows.len()).unwrap_or(i32::MAX / 1024);
    let height = layout.head + count * layout.row + 10;
    let pixels = |n: i32| u32::try_from(n).unwrap_or(1);
    Canvas::draw(pixels(layout.width), pixels(height), &words(report, width), |canvas| {
        axis(canvas, &layout, height);
        for (at, row) in rows.iter().enumerate() {
            draw_row(canvas, &layout, at, row);
        }
    })
}

fn rows(report: &EvaluationReport) -> Vec<Row> {
    let totals = &report.totals;
    let all = Row {
        label: format!("All {} tasks", totals.tasks_complete),
        rates: totals.pass_rate_without.zip(totals.pass_rate_with),
        bold: true,
        settled: totals.verdict.as_ref().is_some_and(|verdict| matches!(verdict.word(), "improves" | "harms")),
    };
    let mut tasks: Vec<&TaskReport> = report.tasks.iter().collect();
    // Unknown last; equal ones keep the plan's order.
    let key = |task: &TaskReport| task.delta.unwrap_or(f64::NEG_INFINITY);
    tasks.sort_by(|a, b| key(b).total_cmp(&key(a)));
    let row = |task: &&TaskReport| Row {
        label: task.task.clone(),
        rates: task.pass_rate_without.zip(task.pass_rate_with),
        bold: false,
        settled: true,
    };
    std::iter::once(all).chain(tasks.iter().map(row)).collect()
}

fn words(report: &EvaluationReport, width: Width) -> Words {
    let totals = &report.totals;
    let id = match width {
        Width::Wide => "dumbbell-wide",
        Width::Narrow => "dumbbell-narrow",
    };
    Words {
        id: id.to_owned(),
        title: "Pass rate by task, without and with the skill".to_owned(),
        description: format!(
            "Over {} tasks the pass rate goes from {} without the skill to {} with it; {} pairs were rescued, {} broken. The table below has every number.",
            totals.tasks_complete,
            percent(totals.pass_rate_without),
            percent(totals.pass_rate_with),
            totals.rescued,
            totals.broken,
        ),
    }
}

const fn look(size: f64, ink: Ink, anchor: Anchor) -> TextLook {
    TextLook { size, bold: false, ink, anchor }
}

/// Lines at 0, 25, 50, 75, 100 %; those at the ends are stronger.
fn axis(canvas: &mut Canvas<'_>, layout: &Layout, height: i32) {
    for percent in [0, 25, 50, 75, 100] {
        let x = layout.x(f64::from(percent) / 100.0);
        let thickness = if percent == 0 { 2 } else { 1 };
        canvas.line((x, layout.head - 8), (x, height - 6), Ink::Line, thickness);
        canvas.text(&format!("{percent} %"), (x, 12), look(12.0, Ink::Quiet, Anchor::Middle));
    }
    canvas.text("Δ", (layout.delta, 12), look(12.0, Ink::Quiet, Anchor::End));
}

fn draw_row(canvas: &mut Canvas<'_>, layout: &Layout, at: usize, row: &Row) {
    let y = layout.y(at);
    let label = shorten(&row.label, layout.label_chars);
    let bold = |look: TextLook| TextLook { bold: row.bold, ..look };
    if layout.label_above {
        canvas.text(&label, (layout.from - 8, y - 20), bold(look(13.0, Ink::Text, Anchor::Start)));
    } else {
        canvas.text(&label, (layout.from - 24, y), bold(look(13.0, Ink::Text, Anchor::End)));
    }
    let Some((without, with)) = row.rates else {
        canvas.text("no complete pair", (layout.from + 10, y), look(12.0, Ink::Quiet, Anchor::Start));
        canvas.text("—", (layout.delta, y), look(13.0, Ink::Quiet, Anchor::End));
        return;
    };
    let (a, b) = ((layout.x(without), y), (layout.x(with), y));
    let delta = with - without;
    let ink = match delta {
        _ if !row.settled => Ink::Text,
        delta if delta > 0.0005 => Ink::Up,
        delta if delta < -0.0005 => Ink::Down,
        _ => Ink::Quiet,
    };
    canvas.line(a, b, ink, 4);
    canvas.ring(a, 7, Ink::Without, 2);
    canvas.disc(b, 5, Ink::With);
    canvas.text(&points(Some(delta)), (layout.delta, y), bold(look(13.0, ink, Anchor::End)));
}

/// At most `most` characters; texts cannot be measured here, so long labels are cut in the middle, where names differ least.
fn shorten(label: &str, most: usize) -> String {
    let chars: Vec<char> = label.chars().collect();
    if chars.len() <= most {
        return label.to_owned();
    }
    let tail = most / 3;
    let head = most - tail - 1;
    let beginning: String = chars.iter().take(head).collect();
    let end: String = chars.iter().skip(chars.len() - tail).collect();
    format!("{beginning}…{end}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::comparison::Comparison;
    use domain::condition::Condition;
    use domain::hash::ContentHash;
    use domain::id::{EvaluationId, TaskId, TrialId};
    use domain::plan::{AgentRef, EvaluationPlan, RunSettings, TaskRef, Treatment};
    use domain::report::TrialRecord;
    use domain::time::Timestamp;
    use domain::trial::TrialState;
    use domain::verdict::{FailReason, Verdict};

    /// A report of tasks that passed without and with as given; `None` = not scored.
    fn report(tasks: &[(&str, Option<bool>, Option<bool>)]) -> EvaluationReport {
        let id = |at: usize| i64::try_from(at).unwrap();
        let plan = EvaluationPlan {
            title: String::new(),
            treatment: Treatment::TasksOwn,
            comparison: Comparison::default(),
            tasks: tasks
                .iter()
                .enumerate()
                .map(|(at, task)| TaskRef {
                    id: TaskId(id(at)),
                    name: task.0.to_owned(),
                    version: ContentHash::of(b""),
                })
                .collect(),
            task_set: None,
            agent: AgentRef::new("nop", "1"),
            model: None,
            repeats: 1,
            seed: 0,
            settings: RunSettings::default(),
            kind: Default::default(),
        };
        let mut trials = Vec::new();
        for (at, (name, without, with)) in tasks.iter().enumerate() {
            for (condition, passed) in [(Condition::NoSkill, without), (Condition::WithSkill, with)] {
                let verdict = match passed {
                    Some(true) => Verdict::Pass,
                    Some(false) => Verdict::Fail { reason: FailReason::WrongResult },
                    None => Verdict::Cancelled,
                };
                trials.push(TrialRecord {
                    id: TrialId(id(trials.len())),
                    task_id: TaskId(id(at)),
                    task: (*name).to_owned(),
                    condition,
                    repeat: 1,
                    state: TrialState::Finished { attempts: 1, verdict, at: Timestamp(0) },
                    result: None,
                });
            }
        }
        EvaluationReport::compute(EvaluationId(1), Timestamp(0), &plan, &trials)
    }

    /// Texts of the drawing from top to bottom.
    fn texts(svg: &str) -> Vec<String> {
        svg.split("<text ")
            .skip(1)
            .filter_map(|rest| Some(rest.split_once('>')?.1.split('<').next()?.trim().to_owned()))
            .collect()
    }

    #[test]
    fn tasks_stand_by_delta_and_unknown_ones_last() {
        let report = report(&[
            ("lost", Some(true), Some(false)),
            ("unknown", None, Some(true)),
            ("won", Some(false), Some(true)),
            ("same", Some(true), Some(true)),
        ]);
        for width in [Width::Wide, Width::Narrow] {
            let texts = texts(&dumbbell(&report, width));
            let rows: Vec<&str> = texts.iter().skip(6).map(String::as_str).collect();
            assert_eq!(
                rows,
                [
                    "All 3 tasks",
                    "0 pp",
                    "won",
                    "+100 pp",
                    "same",
                    "0 pp",
                    "lost",
                    "−100 pp",
                    "unknown",
                    "no complete pair",
                    "—"
                ]
            );
        }
    }

    #[test]
    fn an_empty_report_draws_no_number() {
        let svg = dumbbell(&report(&[]), Width::Wide);
        assert!(texts(&svg).contains(&"no complete pair".to_owned()), "{svg}");
        assert!(!svg.contains("NaN"), "{svg}");
    }

    #[test]
    fn long_names_keep_both_ends() {
        let name = format!("a{}z", "-".repeat(80));
        let short = shorten(&name, 44);
        assert_eq!(short.chars().count(), 44);
        assert!(short.starts_with('a') && short.ends_with('z'), "{short}");
    }
}
