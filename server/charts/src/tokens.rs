//! How the tokens of a trial spread in each arm: the share of trials that used at most so many. A curve further to the right used more.

use std::collections::BTreeMap;

use domain::condition::{Condition, Pair};
use domain::report::number;

use crate::canvas::{Anchor, Canvas, Ink, TextLook, Words};
use crate::layout::{Scale, Width, look, pixels, round_tokens, text_width};

struct Layout {
    size: (i32, i32),
    x: Scale,
    y: Scale,
    tick_room: i32,
}

impl Layout {
    fn of(width: Width, least: f64, most: f64) -> Self {
        // A little room at both ends; at least a factor of two in all.
        let middle = (least.ln() + most.ln()) / 2.0;
        let half = ((most.ln() - least.ln()) / 2.0 * 1.06).max(std::f64::consts::LN_2 / 2.0);
        let scales = |left, right, top, bottom| {
            (
                Scale { from: (middle - half, left), to: (middle + half, right) },
                Scale { from: (0.0, bottom), to: (1.0, top) },
            )
        };
        let (size, (x, y), tick_room) = match width {
            Width::Wide => ((1100, 320), scales(70, 1080, 14, 270), 70),
            Width::Narrow => ((360, 300), scales(50, 350, 14, 250), 52),
        };
        Self { size, x, y, tick_room }
    }

    fn x(&self, tokens: f64) -> i32 {
        self.x.at(tokens.ln())
    }
}

/// Draws the tokens of both arms' trials, whose names are `names`, as an SVG element to be put into a page; `None` where an arm has none. Zeros are left out: nothing is
/// known by them.
#[must_use]
pub fn tokens(arms: &Pair<Vec<u64>>, names: Pair<&str>, width: Width) -> Option<String> {
    let sorted = Pair { without: sorted(&arms.without)?, with: sorted(&arms.with)? };
    let all = || sorted.without.iter().chain(&sorted.with).copied();
    let layout = Layout::of(width, all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max));
    let medians = Pair { without: median(&sorted.without), with: median(&sorted.with) };
    let words = Words {
        id: width.id("tokens"),
        title: format!("Tokens per trial, {} and {}", names.without, names.with),
        description: format!(
            "Half of the {} trials used at most {} tokens, half of the {} trials at most {}.",
            names.without,
            number::tokens(Some(medians.without)),
            names.with,
            number::tokens(Some(medians.with)),
        ),
    };
    Some(Canvas::draw(pixels(layout.size.0), pixels(layout.size.1), &words, |canvas| {
        axes(canvas, &layout);
        for condition in Condition::BOTH {
            curve(canvas, &layout, sorted.get(condition), ink(condition));
        }
        name(canvas, &layout, &medians, names);
    }))
}

const fn ink(condition: Condition) -> Ink {
    match condition {
        Condition::NoSkill => Ink::Without,
        Condition::WithSkill => Ink::With,
    }
}

fn sorted(tokens: &[u64]) -> Option<Vec<f64>> {
    let mut tokens: Vec<f64> = tokens.iter().filter(|tokens| **tokens > 0).map(|tokens| *tokens as f64).collect();
    tokens.sort_by(f64::total_cmp);
    (!tokens.is_empty()).then_some(tokens)
}

/// The least value that half of them do not exceed.
fn median(sorted: &[f64]) -> f64 {
    sorted.get((sorted.len() - 1) / 2).copied().unwrap_or_default()
}

fn axes(canvas: &mut Canvas<'_>, layout: &Layout) {
    let (left, right) = (layout.x.from.1, layout.x.to.1);
    let (bottom, top) = (layout.y.from.1, layout.y.to.1);
    for percent in [0, 50, 100] {
        let y = layout.y.at(f64::from(percent) / 100.0);
        canvas.line((left, y), (right, y), Ink::Line, if percent == 0 { 2 } else { 1 });
        canvas.text(&format!("{percent} %"), (left - 8, y), look(12.0, Ink::Quiet, Anchor::End));
    }
    let mut free_from = left;
    for tokens in ticks() {
        let x = layout.x(tokens);
        if tokens.ln() < layout.x.from.0 || tokens.ln() > layout.x.to.0 || x < free_from {
            continue;
        }
        free_from = x + layout.tick_room;
        canvas.line((x, top), (x, bottom), Ink::Line, 1);
        canvas.text(&round_tokens(tokens), (x, bottom + 14), look(12.0, Ink::Quiet, Anchor::Middle));
    }
    canvas.text("tokens of a trial", (right, bottom + 34), look(12.0, Ink::Quiet, Anchor::End));
}

/// 1, 2, 5, 10, 20, 50, …
fn ticks() -> impl Iterator<Item = f64> {
    (0..12).flat_map(|power| [1.0, 2.0, 5.0].map(|digit| digit * 10_f64.powi(power)))
}

/// A curve of steps. Trials that share a pixel make one step, so there are no more points than pixels.
fn curve(canvas: &mut Canvas<'_>, layout: &Layout, sorted: &[f64], ink: Ink) {
    let n = sorted.len() as f64;
    let mut tops: BTreeMap<i32, i32> = BTreeMap::new();
    for (rank, tokens) in (1_u32..).zip(sorted) {
        tops.insert(layout.x(*tokens), layout.y.at(f64::from(rank) / n));
    }
    let mut height = layout.y.at(0.0);
    let mut points = vec![(layout.x.from.1, height)];
    for (x, top) in tops {
        points.extend([(x, height), (x, top)]);
        height = top;
    }
    points.push((layout.x.to.1, height));
    canvas.path(&points, ink, 2);
}

/// The arms' names with their medians, at the curves' middle: the left curve's to its left, the right one's to its right. Marks are those of the
/// dumbbell: a ring for no-skill, a disc for with-skill.
fn name(canvas: &mut Canvas<'_>, layout: &Layout, medians: &Pair<f64>, names: Pair<&str>) {
    let y = layout.y.at(0.5);
    let with_right = medians.with >= medians.without;
    for condition in Condition::BOTH {
        let (x, ink) = (layout.x(*medians.get(condition)), ink(condition));
        match condition {
            Condition::NoSkill => canvas.ring((x, y), 6, ink, 2),
            Condition::WithSkill => canvas.disc((x, y), 5, ink),
        }
        let words = format!("{} {}", names.get(condition), number::tokens(Some(*medians.get(condition))));
        let wide = text_width(&words, 13.0) + 14;
        let to_the_right = (condition == Condition::WithSkill) == with_right;
        // Above and below the middle line, so that two curves that lie close do not write over one another.
        let (mut anchor, y) = if to_the_right { (Anchor::Start, y + 16) } else { (Anchor::End, y - 16) };
        if anchor == Anchor::Start && x + wide > layout.x.to.1 {
            anchor = Anchor::End;
        } else if anchor == Anchor::End && x - wide < layout.x.from.1 {
            anchor = Anchor::Start;
        }
        let x = if anchor == Anchor::Start { x + 12 } else { x - 12 };
        canvas.text(&words, (x, y), TextLook { bold: true, ..look(13.0, ink, anchor) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::tests::texts;

    const NAMES: Pair<&str> = Pair { without: "no-skill", with: "with-skill" };

    #[test]
    fn medians_stand_beside_their_curves() {
        let arms = Pair { without: vec![900, 1_000, 40_000, 0], with: vec![2_000, 2_500, 3_000] };
        for width in Width::BOTH {
            let texts = texts(&tokens(&arms, NAMES, width).unwrap());
            for name in ["no-skill 1.0k", "with-skill 2.5k", "0 %", "50 %", "100 %", "10k"] {
                assert!(texts.iter().any(|text| text == name), "{name} in {texts:?}");
            }
        }
        assert_eq!(tokens(&Pair { without: vec![0], with: vec![5] }, NAMES, Width::Wide), None);
    }

    #[test]
    fn many_trials_make_no_more_points_than_pixels() {
        let many: Vec<u64> = (1_000..101_000).collect();
        let svg = tokens(&Pair { without: many.clone(), with: many }, NAMES, Width::Wide).unwrap();
        assert!(svg.len() < 40_000, "{}", svg.len());
        assert!(!svg.contains("NaN"));
    }
}
