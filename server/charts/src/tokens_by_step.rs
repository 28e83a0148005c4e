//! Tokens used up to each row of two aligned traces: one line an arm, with marks where a skill was opened and where the agents first
//! decided differently. Where the lines part is where the skill costs or saves.

use domain::condition::Condition;
use domain::listing::{SpentAt, TracePage};
use domain::report::number::tokens;

use crate::canvas::{Anchor, Canvas, Ink, TextLook, Words};
use crate::layout::{Width, round_marks, round_tokens};

/// Sizes in pixels.
struct Layout {
    width: i32,
    height: i32,
    /// Where the first and the last row stand.
    across: (i32, i32),
    /// Where no token and the most tokens stand.
    up: (i32, i32),
}

impl Layout {
    const fn of(width: Width) -> Self {
        match width {
            Width::Wide => Self { width: 1100, height: 190, across: (70, 1000), up: (150, 44) },
            Width::Narrow => Self { width: 360, height: 190, across: (46, 300), up: (150, 44) },
        }
    }

    fn x(&self, row: usize, last: usize) -> i32 {
        let share = if last == 0 { 0.0 } else { row as f64 / last as f64 };
        self.across.0 + (f64::from(self.across.1 - self.across.0) * share).round() as i32
    }

    fn y(&self, number: u64, most: u64) -> i32 {
        let share = if most == 0 { 0.0 } else { number as f64 / most as f64 };
        self.up.0 - (f64::from(self.up.0 - self.up.1) * share).round() as i32
    }
}

const fn look(ink: Ink, anchor: Anchor) -> TextLook {
    TextLook { size: 12.0, bold: false, ink, anchor }
}

/// Draws both lines; empty where no step tells its tokens.
#[must_use]
pub fn tokens_by_step(page: &TracePage, width: Width) -> String {
    let points = page.spent.as_slice();
    let Some(end) = points.last() else { return String::new() };
    let (last, most) = (end.row, end.tokens.without.max(end.tokens.with).unwrap_or(0));
    let layout = Layout::of(width);
    let pixels = |n: i32| u32::try_from(n).unwrap_or(1);
    Canvas::draw(pixels(layout.width), pixels(layout.height), &words(end, width), |canvas| {
        for number in round_marks(most) {
            let y = layout.y(number, most);
            canvas.line((layout.across.0, y), (layout.across.1, y), Ink::Line, 1);
            canvas.text(&round_tokens(number as f64), (layout.across.0 - 8, y), look(Ink::Quiet, Anchor::End));
        }
        let mark = |canvas: &mut Canvas<'_>, row: usize, word: &str, y: i32, ink: Ink| {
            let x = layout.x(row, last);
            canvas.line((x, y + 8), (x, layout.up.0), ink, 1);
            let right_half = x > (layout.across.0 + layout.across.1) / 2;
            let (x, anchor) = if right_half { (x - 4, Anchor::End) } else { (x + 4, Anchor::Start) };
            canvas.text(word, (x, y), look(ink, anchor));
        };
        if let Some(row) = page.first_decision {
            mark(canvas, row, "first difference", 10, Ink::Quiet);
        }
        if let Some(row) = page.skill_opened.first() {
            mark(canvas, *row, "skill opened", 26, Ink::With);
        }
        for (condition, ink) in [(Condition::NoSkill, Ink::Without), (Condition::WithSkill, Ink::With)] {
            let line = points.iter().filter_map(|point| {
                let tokens = (*point.tokens.get(condition))?;
                Some((layout.x(point.row, last), layout.y(tokens, most)))
            });
            draw_line(canvas, &line.collect::<Vec<_>>(), ink, condition);
        }
        let from = if last == 0 { "row 1".to_owned() } else { format!("rows 1 to {}", last + 1) };
        canvas.text(&from, (layout.across.0, layout.height - 14), look(Ink::Quiet, Anchor::Start));
        ends(canvas, &layout, end, most);
    })
}

/// The with-skill line is drawn solid, the no-skill line ends in a ring: never told apart by colour alone.
fn draw_line(canvas: &mut Canvas<'_>, line: &[(i32, i32)], ink: Ink, condition: Condition) {
    for pair in line.windows(2) {
        if let [from, to] = pair {
            canvas.line(*from, *to, ink, 2);
        }
    }
    match (line.last(), condition) {
        (Some(end), Condition::NoSkill) => canvas.ring(*end, 5, ink, 2),
        (Some(end), Condition::WithSkill) => canvas.disc(*end, 4, ink),
        (None, _) => {}
    }
}

/// The sums at the end of both lines, kept apart where they would cover one another.
fn ends(canvas: &mut Canvas<'_>, layout: &Layout, end: &SpentAt, most: u64) {
    let place = |tokens: Option<u64>| tokens.map(|tokens| (tokens, layout.y(tokens, most)));
    let (mut without, mut with) = (place(end.tokens.without), place(end.tokens.with));
    if let (Some((_, y)), Some((_, other))) = (&mut without, &mut with) {
        let gap = 16 - (*y - *other).abs();
        if gap > 0 {
            let (upper, lower) = if *y <= *other { (y, other) } else { (other, y) };
            (*upper, *lower) = (*upper - gap / 2, *lower + (gap + 1) / 2);
        }
    }
    for (placed, ink) in [(without, Ink::Without), (with, Ink::With)] {
        if let Some((number, y)) = placed {
            canvas.text(&tokens(Some(number as f64)), (layout.across.1 + 10, y), look(ink, Anchor::Start));
        }
    }
}

fn words(end: &SpentAt, width: Width) -> Words {
    let id = match width {
        Width::Wide => "spent-wide",
        Width::Narrow => "spent-narrow",
    };
    let said = |sum: Option<u64>| sum.map_or_else(|| "an unknown number of".to_owned(), |sum| tokens(Some(sum as f64)));
    Words {
        id: id.to_owned(),
        title: "Tokens used up to each step, without and with the skill".to_owned(),
        description: format!(
            "At the end the no-skill trial has used {} tokens, the with-skill trial {}.",
            said(end.tokens.without),
            said(end.tokens.with)
        ),
    }
}

#[cfg(test)]
mod tests {
    use domain::condition::Pair;
    use domain::listing::TraceView;

    use super::*;

    fn page(spent: Vec<(Option<u64>, Option<u64>)>) -> TracePage {
        let point = |(row, (without, with))| SpentAt { row, tokens: Pair { without, with } };
        TracePage {
            view: TraceView::default(),
            total: spent.len(),
            counts: Vec::new(),
            page_rows: 200,
            rows: Vec::new(),
            first_decision: Some(1),
            first_test_difference: None,
            skill_opened: vec![1],
            spent: spent.into_iter().enumerate().map(point).collect(),
        }
    }

    #[test]
    fn both_sums_and_both_marks_are_drawn() {
        for width in [Width::Wide, Width::Narrow] {
            let svg = tokens_by_step(
                &page(vec![(Some(10), None), (Some(900), Some(1_200)), (Some(1_950), Some(2_000))]),
                width,
            );
            for text in ["first difference", "skill opened", "2.0k", "1.9k", "rows 1 to 3"] {
                assert!(svg.contains(text), "{text}: {svg}");
            }
            assert!(!svg.contains("NaN"));
        }
    }

    #[test]
    fn nothing_told_is_nothing_drawn_and_one_point_is_no_trouble() {
        assert_eq!(tokens_by_step(&page(Vec::new()), Width::Wide), "");
        assert!(tokens_by_step(&page(vec![(None, Some(0))]), Width::Wide).contains("row 1"));
    }
}
