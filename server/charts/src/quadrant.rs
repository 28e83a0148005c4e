//! Δ against ρ: upwards is better, to the right dearer. The axis of tokens is that of log2(1 + ρ), so that half and double lie equally far from the
//! middle. Crosses are intervals; a cross that touches an axis leaves open on which side the truth lies.

use domain::report::number::{change, points};
use domain::stats::interval::Interval;

use crate::canvas::{Anchor, Canvas, Ink, Link, TextLook, Words};
use crate::layout::{Scale, Symmetric, Width, look, pixels, shorten, text_width};

/// One mark.
#[derive(Debug, Clone, PartialEq)]
pub struct QuadrantPoint {
    /// What it is about.
    pub label: String,
    /// A share.
    pub delta: f64,
    /// Its interval.
    pub delta_ci: Option<Interval>,
    /// Token overhead; above −1.
    pub rho: f64,
    /// Its interval.
    pub rho_ci: Option<Interval>,
    /// Whether the verdict on Δ is settled.
    pub settled: bool,
    /// Whether it is the sum of the others.
    pub sum: bool,
    /// Where it leads.
    pub href: Option<String>,
}

/// Overheads at which the axis has a line, where they fit.
const TICKS: [f64; 13] = [-0.875, -0.75, -0.5, -0.25, -0.1, 0.0, 0.1, 0.25, 0.5, 1.0, 3.0, 7.0, 15.0];
/// Least pixels between two of them.
const TICK_ROOM: i32 = 52;

struct Layout {
    size: (i32, i32),
    x: Scale,
    y: Scale,
    marks: Symmetric,
}

impl Layout {
    fn of(width: Width, points: &[QuadrantPoint]) -> Self {
        let y_ends = points.iter().flat_map(|point| ends(point.delta, point.delta_ci));
        let x_ends = points.iter().flat_map(|point| ends(point.rho, point.rho_ci)).map(|rho| doublings(rho).abs());
        let marks = Symmetric::holding(y_ends.fold(0.0, |most, end| f64::max(most, end.abs())));
        let y = marks.half;
        let x =
            [0.25, 0.5, 1.0, 2.0, 3.0].into_iter().find(|half| x_ends.clone().all(|end| end <= *half)).unwrap_or(4.0);
        let scales = |left, right, top, bottom| {
            (Scale { from: (-x, left), to: (x, right) }, Scale { from: (-y, bottom), to: (y, top) })
        };
        let (size, (x, y)) = match width {
            Width::Wide => ((1100, 440), scales(90, 1080, 16, 396)),
            Width::Narrow => ((360, 380), scales(58, 350, 16, 330)),
        };
        Self { size, x, y, marks }
    }

    fn x(&self, rho: f64) -> i32 {
        self.x.at(doublings(rho))
    }
}

/// log2 of the factor, at least that of 1/64.
fn doublings(rho: f64) -> f64 {
    (1.0 + rho).max(1.0 / 64.0).log2()
}

fn ends(value: f64, ci: Option<Interval>) -> [f64; 3] {
    let ci = ci.unwrap_or(Interval { low: value, high: value });
    [value, ci.low, ci.high]
}

/// Draws the points, as an SVG element to be put into a page; `None` without a point.
#[must_use]
pub fn quadrant(points: &[QuadrantPoint], width: Width) -> Option<String> {
    if points.is_empty() {
        return None;
    }
    let layout = Layout::of(width, points);
    let words = Words {
        id: width.id("quadrant"),
        title: "Change of pass rate against change of tokens".to_owned(),
        description: points.iter().map(said).collect::<Vec<_>>().join(" "),
    };
    Some(Canvas::draw(pixels(layout.size.0), pixels(layout.size.1), &words, |canvas| {
        axes(canvas, &layout);
        let mut taken = Vec::new();
        for point in points {
            let link =
                point.href.clone().map(|href| Link { href, words: said(point).trim_end_matches('.').to_owned() });
            canvas.linked(link, |canvas| mark(canvas, &layout, point));
            taken.push(around(layout.x(point.rho), layout.y.at(point.delta)));
        }
        for point in points {
            label(canvas, &layout, point, &mut taken);
        }
    }))
}

fn said(point: &QuadrantPoint) -> String {
    format!("{}: {} pass rate, {} tokens.", point.label, points(Some(point.delta)), change(Some(point.rho)))
}

fn axes(canvas: &mut Canvas<'_>, layout: &Layout) {
    let (left, right) = (layout.x.from.1, layout.x.to.1);
    let (bottom, top) = (layout.y.from.1, layout.y.to.1);
    let quiet = |anchor| look(12.0, Ink::Quiet, anchor);
    let mut free_from = i32::MIN;
    for rho in TICKS.into_iter().filter(|rho| doublings(*rho).abs() <= layout.x.to.0 + 1e-9) {
        let x = layout.x(rho);
        // The middle is always told, so its neighbours give way.
        let near_middle = rho != 0.0 && (x - layout.x(0.0)).abs() < TICK_ROOM;
        if x < free_from || near_middle {
            continue;
        }
        free_from = x + TICK_ROOM;
        canvas.line(
            (x, top),
            (x, bottom),
            if rho == 0.0 { Ink::Quiet } else { Ink::Line },
            if rho == 0.0 { 2 } else { 1 },
        );
        let words = if rho == 0.0 { "same".to_owned() } else { change(Some(rho)) };
        canvas.text(&words, (x, bottom + 14), quiet(Anchor::Middle));
    }
    for share in layout.marks.marks() {
        let y = layout.y.at(share);
        let (ink, thickness) = if share == 0.0 { (Ink::Quiet, 2) } else { (Ink::Line, 1) };
        canvas.line((left, y), (right, y), ink, thickness);
        canvas.text(&points(Some(share)), (left - 8, y), quiet(Anchor::End));
    }
    canvas.text("more tokens →", (right, bottom + 32), quiet(Anchor::End));
    let corner = |across: Anchor| look(12.0, Ink::Quiet, across);
    for (words, x, y, anchor) in [
        ("better, cheaper", left + 8, top + 14, Anchor::Start),
        ("better, dearer", right - 8, top + 14, Anchor::End),
        ("worse, cheaper", left + 8, bottom - 14, Anchor::Start),
        ("worse, dearer", right - 8, bottom - 14, Anchor::End),
    ] {
        canvas.text(words, (x, y), corner(anchor));
    }
}

fn mark(canvas: &mut Canvas<'_>, layout: &Layout, point: &QuadrantPoint) {
    let (x, y) = (layout.x(point.rho), layout.y.at(point.delta));
    let ink = match point.delta {
        _ if !point.settled => Ink::Text,
        delta if delta > 0.0 => Ink::Up,
        _ => Ink::Down,
    };
    // Among many points the intervals of the open ones stand back, so that names can be read across them.
    let (bars, thickness) = match (point.sum, point.settled) {
        (true, _) => (ink, 2),
        (false, true) => (ink, 1),
        (false, false) => (Ink::Line, 1),
    };
    if let Some(ci) = point.delta_ci {
        canvas.line((x, layout.y.at(ci.low)), (x, layout.y.at(ci.high)), bars, thickness);
    }
    if let Some(ci) = point.rho_ci {
        canvas.line((layout.x(ci.low), y), (layout.x(ci.high), y), bars, thickness);
    }
    let radius = if point.sum { 8 } else { 5 };
    if point.settled {
        canvas.disc((x, y), radius, ink);
    } else {
        canvas.ring((x, y), radius, ink, 2);
    }
}

/// Left, top, right, bottom.
type Area = (i32, i32, i32, i32);

fn around(x: i32, y: i32) -> Area {
    (x - 10, y - 10, x + 10, y + 10)
}

/// Writes a point's name where it hides nothing; where there is no such place, the tip and the table have it.
fn label(canvas: &mut Canvas<'_>, layout: &Layout, point: &QuadrantPoint, taken: &mut Vec<Area>) {
    let (x, y) = (layout.x(point.rho), layout.y.at(point.delta));
    let (words, size) = (shorten(&point.label, 28), 13.0);
    let wide = text_width(&words, size);
    let places = [
        (x + 14, y - 14, Anchor::Start),
        (x - 14, y - 14, Anchor::End),
        (x + 14, y + 14, Anchor::Start),
        (x - 14, y + 14, Anchor::End),
    ];
    for (x, y, anchor) in places {
        let from = if anchor == Anchor::Start { x } else { x - wide };
        let place = (from, y - 9, from + wide, y + 9);
        let inside = place.0 >= layout.x.from.1 && place.2 <= layout.x.to.1;
        let corner = place.1 < layout.y.to.1 + 26 || place.3 > layout.y.from.1 - 26;
        if inside && !corner && taken.iter().all(|other| apart(*other, place)) {
            let ink = if point.sum { Ink::Text } else { Ink::Quiet };
            canvas.text(&words, (x, y), TextLook { bold: point.sum, ..look(size, ink, anchor) });
            taken.push(place);
            return;
        }
    }
}

const fn apart(a: Area, b: Area) -> bool {
    a.2 < b.0 || b.2 < a.0 || a.3 < b.1 || b.3 < a.1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::tests::texts;

    fn point(label: &str, delta: f64, rho: f64) -> QuadrantPoint {
        QuadrantPoint {
            label: label.to_owned(),
            delta,
            delta_ci: Interval::new(delta - 0.1, delta + 0.1),
            rho,
            rho_ci: Interval::new(rho - 0.1, rho + 0.1),
            settled: false,
            sum: label == "all",
            href: None,
        }
    }

    #[test]
    fn half_and_double_lie_equally_far_from_the_middle() {
        let layout = Layout::of(Width::Wide, &[point("all", 0.0, 1.0)]);
        let (half, double) = (layout.x(0.0) - layout.x(-0.5), layout.x(1.0) - layout.x(0.0));
        // Rounded to pixels.
        assert!((half - double).abs() <= 1 && half > 200, "{half} {double}");
        assert_eq!((layout.x(-0.99), layout.x(f64::MAX)), (layout.x.from.1, layout.x.to.1));
    }

    #[test]
    fn every_corner_is_named_and_names_do_not_cover_one_another() {
        let points: Vec<QuadrantPoint> =
            std::iter::once(point("all", 0.1, 0.2)).chain((0..9).map(|i| point(&format!("g{i}"), 0.1, 0.2))).collect();
        for width in Width::BOTH {
            let texts = texts(&quadrant(&points, width).unwrap());
            for corner in ["better, cheaper", "better, dearer", "worse, cheaper", "worse, dearer", "same", "all"] {
                assert!(texts.iter().any(|text| text == corner), "{corner} in {texts:?}");
            }
            // Nine names at one place: four fit around it, and the first is that of the sum.
            let names = texts.iter().filter(|text| text.starts_with('g')).count();
            assert_eq!(names, 3, "{texts:?}");
        }
        assert_eq!(quadrant(&[], Width::Wide), None);
    }
}
