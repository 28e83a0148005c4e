//! Pass rate by task: from a hollow mark (no-skill) to a filled one (with-skill), and a sign for each repeat. All tasks together first, then the tasks
//! by Δ. Of many tasks only those with the largest gains and losses are drawn; the table has all.

use domain::condition::{Condition, Flip};
use domain::report::number::{counted, percent, points};
use domain::report::{EvaluationReport, PairedTrials, TaskReport};

use crate::canvas::{Anchor, Canvas, Ink, Link, TextLook, Words};
use crate::layout::{Width, look, pixels, rows as in_rows, shorten};

/// Tasks that are drawn; more than fit on a page say nothing more.
const MOST_TASKS: usize = 40;
/// Signs of repeats that find room.
const MOST_SIGNS: usize = 8;
/// Pixels of one.
const SIGN: i32 = 17;

/// Whether marks lead somewhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Links {
    /// Nowhere: the drawing stands alone.
    None,
    /// To the pages of this site.
    Pairs,
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
    /// Where the first sign of a repeat stands; `None` = there are none.
    signs: Option<i32>,
    /// Label above its line rather than before it.
    label_above: bool,
    label_chars: usize,
}

impl Layout {
    fn of(width: Width, rows: usize, repeats: usize) -> Self {
        let row = if rows <= 24 { 32 } else { 24 };
        let signed = (2..=MOST_SIGNS).contains(&repeats);
        let room = if signed { in_rows(repeats) * SIGN + 24 } else { 0 };
        match width {
            Width::Wide => Self {
                width: 1100,
                head: 34,
                row,
                from: 360,
                to: 980 - room,
                delta: 1090,
                signs: signed.then_some(980 - room + 36),
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
                signs: None,
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
        let row = in_rows(row);
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
    /// What each repeat says, and its page.
    pairs: Vec<(Option<Flip>, Option<Link>)>,
}

/// What is drawn.
struct Rows {
    drawn: Vec<Row>,
    /// Tasks between the gains and the losses that are not, and after how many rows they would stand.
    left_out: Option<(usize, usize)>,
}

/// Draws the pass rates of `report`, as an SVG element to be put into a page.
#[must_use]
pub fn dumbbell(report: &EvaluationReport, width: Width, links: Links) -> String {
    let Rows { drawn, left_out } = rows(report, links);
    let layout = Layout::of(width, drawn.len(), report.repeats as usize);
    let height = layout.head + in_rows(drawn.len() + usize::from(left_out.is_some())) * layout.row + 10;
    Canvas::draw(pixels(layout.width), pixels(height), &words(report, width), |canvas| {
        axis(canvas, &layout, height);
        for (at, row) in drawn.iter().enumerate() {
            let place = at + usize::from(left_out.is_some_and(|(_, after)| at >= after));
            draw_row(canvas, &layout, place, row);
        }
        if let Some((tasks, after)) = left_out {
            let words = format!("{} in between: in the table below", counted(tasks as u64, "task"));
            canvas.text(&words, (layout.from + 10, layout.y(after)), look(12.0, Ink::Quiet, Anchor::Start));
        }
    })
}

fn rows(report: &EvaluationReport, links: Links) -> Rows {
    let totals = &report.totals;
    let all = Row {
        label: format!("All {}", counted(totals.tasks_complete, "task")),
        rates: totals.pass_rate_without.zip(totals.pass_rate_with),
        bold: true,
        settled: totals.verdict.as_ref().is_some_and(|verdict| matches!(verdict.word(), "improves" | "harms")),
        pairs: Vec::new(),
    };
    let mut tasks: Vec<&TaskReport> = report.tasks.iter().collect();
    // Unknown last; equal ones keep the plan's order.
    let key = |task: &TaskReport| task.delta.unwrap_or(f64::NEG_INFINITY);
    tasks.sort_by(|a, b| key(b).total_cmp(&key(a)));
    if tasks.len() > MOST_TASKS {
        tasks.retain(|task| task.delta.is_some());
    }
    let left_out = tasks.len().saturating_sub(MOST_TASKS);
    if left_out > 0 {
        tasks.drain(MOST_TASKS / 2..MOST_TASKS / 2 + left_out);
    }
    let row = |task: &&TaskReport| Row {
        label: task.task.clone(),
        rates: task.pass_rate_without.zip(task.pass_rate_with),
        bold: false,
        settled: report.comparison.kind.is_of_a_skill(),
        pairs: task.pairs.iter().map(|pair| (pair.flip, link(report, task, pair, links))).collect(),
    };
    Rows {
        drawn: std::iter::once(all).chain(tasks.iter().map(row)).collect(),
        left_out: (left_out > 0).then_some((left_out, 1 + MOST_TASKS / 2)),
    }
}

fn link(report: &EvaluationReport, task: &TaskReport, pair: &PairedTrials, links: Links) -> Option<Link> {
    let words = format!("{}, repeat {}: {}", task.task, pair.repeat, pair.flip.map_or("incomplete", Flip::word));
    let href = format!("/evaluations/{}/pairs/{}/{}", report.evaluation_id, task.task_id, pair.repeat);
    (links == Links::Pairs).then_some(Link { href, words })
}

fn words(report: &EvaluationReport, width: Width) -> Words {
    let (without, with) = (report.comparison.arm(Condition::NoSkill), report.comparison.arm(Condition::WithSkill));
    let totals = &report.totals;
    Words {
        id: width.id("dumbbell"),
        title: format!("Pass rate by task, {without} and {with}"),
        description: format!(
            "Over {} the pass rate goes from {} ({without}) to {} ({with}); {} rescued, {} broken. The table below has every number.",
            counted(totals.tasks_complete, "task"),
            percent(totals.pass_rate_without),
            percent(totals.pass_rate_with),
            counted(totals.rescued, "pair"),
            totals.broken,
        ),
    }
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
    let first = row.pairs.first().and_then(|(_, link)| link.clone());
    canvas.linked(first, |canvas| {
        canvas.line(a, b, ink, 4);
        canvas.ring(a, 7, Ink::Without, 2);
        canvas.disc(b, 5, Ink::With);
    });
    if let Some(from) = layout.signs {
        for (at, (flip, link)) in row.pairs.iter().enumerate() {
            let place = (from + in_rows(at) * SIGN, y);
            canvas.linked(link.clone(), |canvas| sign(canvas, place, *flip));
        }
    }
    canvas.text(&points(Some(delta)), (layout.delta, y), bold(look(13.0, ink, Anchor::End)));
}

/// The same signs as beside the words of the table.
fn sign(canvas: &mut Canvas<'_>, place: (i32, i32), flip: Option<Flip>) {
    match flip {
        Some(Flip::Rescued) => canvas.triangle(place, 5, true, Ink::Up),
        Some(Flip::Broken) => canvas.triangle(place, 5, false, Ink::Down),
        Some(Flip::Both) => canvas.disc(place, 5, Ink::Text),
        Some(Flip::Neither) => canvas.ring(place, 5, Ink::Quiet, 2),
        None => canvas.crossed(place, 5, Ink::Quiet),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::tests::texts;
    use domain::comparison::Comparison;
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

    #[test]
    fn tasks_stand_by_delta_and_unknown_ones_last() {
        let report = report(&[
            ("lost", Some(true), Some(false)),
            ("unknown", None, Some(true)),
            ("won", Some(false), Some(true)),
            ("same", Some(true), Some(true)),
        ]);
        for width in [Width::Wide, Width::Narrow] {
            let texts = texts(&dumbbell(&report, width, Links::Pairs));
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
        let svg = dumbbell(&report(&[]), Width::Wide, Links::None);
        assert!(texts(&svg).contains(&"no complete pair".to_owned()), "{svg}");
        assert!(!svg.contains("NaN"), "{svg}");
    }

    #[test]
    fn of_many_tasks_the_ends_are_drawn_and_the_rest_is_counted() {
        let names: Vec<String> = (0..100).map(|i| format!("t{i}")).collect();
        let tasks: Vec<(&str, Option<bool>, Option<bool>)> = names
            .iter()
            .enumerate()
            .map(|(i, name)| (name.as_str(), Some(i >= 90), Some((10..30).contains(&i))))
            .collect();
        let svg = dumbbell(&report(&tasks), Width::Wide, Links::Pairs);
        let texts = texts(&svg);
        assert!(texts.contains(&"60 tasks in between: in the table below".to_owned()), "{texts:?}");
        assert_eq!(texts.iter().filter(|text| *text == "+100 pp").count(), 20);
        assert_eq!(texts.iter().filter(|text| *text == "−100 pp").count(), 10);
        assert_eq!(svg.matches("<a href=\"/evaluations/1/pairs/").count(), 40);
        assert!(!dumbbell(&report(&tasks), Width::Wide, Links::None).contains("<a "));
    }
}
