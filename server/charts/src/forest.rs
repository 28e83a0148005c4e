//! Δ of several rows on one scale, each with its interval: filled where the verdict is settled, hollow where it is not.

use domain::report::number::{bare_interval, points};
use domain::stats::interval::Interval;

use crate::canvas::{Anchor, Canvas, Ink, Link, TextLook, Words};
use crate::layout::{Scale, Symmetric, Width, look, pixels, rows, shorten};

/// One row.
#[derive(Debug, Clone, PartialEq)]
pub struct ForestRow {
    /// What it is about.
    pub label: String,
    /// More of that, in a line below; in all rows or in none.
    pub about: String,
    /// Its n, such as `12 tasks`.
    pub n: String,
    /// Δ with its interval, shares; `None` = unknown.
    pub delta: Option<(f64, Option<Interval>)>,
    /// Whether the verdict is settled: Improves or Harms.
    pub settled: bool,
    /// Whether it is the sum of the others.
    pub sum: bool,
    /// Where it leads.
    pub href: Option<String>,
}

/// What a forest says of itself, and what is drawn behind it.
#[derive(Debug, Clone, PartialEq)]
pub struct Forest<'a> {
    /// Unique among a page's charts.
    pub id: &'a str,
    /// A few words.
    pub title: &'a str,
    /// Row by row, top to bottom.
    pub rows: &'a [ForestRow],
    /// Up to which Δ, either way, two identical arms differ by chance; drawn as a band where it was measured.
    pub noise: Option<f64>,
}

/// Sizes in pixels.
struct Layout {
    width: i32,
    row: i32,
    scale: Scale,
    marks: Symmetric,
    /// Where the number ends.
    number: i32,
    narrow: bool,
}

const HEAD: i32 = 34;

impl Layout {
    fn of(width: Width, reach: f64, two_lines: bool) -> Self {
        let more = if two_lines { 16 } else { 0 };
        let marks = Symmetric::holding(reach);
        let scale = |from, to| Scale { from: (-marks.half, from), to: (marks.half, to) };
        match width {
            Width::Wide => {
                Self { width: 1100, row: 34 + more, scale: scale(340, 870), marks, number: 1090, narrow: false }
            }
            Width::Narrow => {
                Self { width: 360, row: 52 + more, scale: scale(22, 338), marks, number: 352, narrow: true }
            }
        }
    }

    fn y(&self, row: usize) -> i32 {
        HEAD + rows(row) * self.row + if self.narrow { self.row - 14 } else { self.row / 2 }
    }
}

/// Draws the rows, as an SVG element to be put into a page.
#[must_use]
pub fn forest(forest: &Forest<'_>, width: Width) -> String {
    let ends = forest.rows.iter().filter_map(|row| row.delta).flat_map(|(delta, ci)| {
        let ci = ci.unwrap_or(Interval { low: delta, high: delta });
        [ci.low.abs(), ci.high.abs()]
    });
    let two_lines = forest.rows.iter().any(|row| !row.about.is_empty());
    let layout = Layout::of(width, ends.chain(forest.noise).fold(0.0, f64::max), two_lines);
    let height = HEAD + rows(forest.rows.len()) * layout.row + 10;
    let words = Words {
        id: width.id(forest.id),
        title: forest.title.to_owned(),
        description: forest.rows.iter().map(said).collect::<Vec<_>>().join(" "),
    };
    Canvas::draw(pixels(layout.width), pixels(height), &words, |canvas| {
        axis(canvas, &layout, height, forest.noise);
        for (at, row) in forest.rows.iter().enumerate() {
            let link = row.href.clone().map(|href| Link { href, words: said(row).trim_end_matches('.').to_owned() });
            canvas.linked(link, |canvas| draw_row(canvas, &layout, layout.y(at), row));
        }
    })
}

fn said(row: &ForestRow) -> String {
    match row.delta {
        None => format!("{}: no complete pair.", row.label),
        Some((delta, ci)) => {
            let about = if row.about.is_empty() { String::new() } else { format!(", {}", row.about) };
            let interval = ci.map(|ci| format!(", interval {} to {}", points(Some(ci.low)), points(Some(ci.high))));
            format!("{}{about}, {}: {}{}.", row.label, row.n, points(Some(delta)), interval.unwrap_or_default())
        }
    }
}

fn axis(canvas: &mut Canvas<'_>, layout: &Layout, height: i32, noise: Option<f64>) {
    let scale = &layout.scale;
    if let Some(noise) = noise {
        canvas.area((scale.at(-noise), HEAD - 6), (scale.at(noise), height - 6), Ink::Sunken);
    }
    for share in layout.marks.marks() {
        let (x, middle) = (scale.at(share), share == 0.0);
        let (ink, thickness) = if middle { (Ink::Quiet, 2) } else { (Ink::Line, 1) };
        canvas.line((x, HEAD - 8), (x, height - 6), ink, thickness);
        let words = if middle { "no difference".to_owned() } else { points(Some(share)) };
        let end = share.abs() > layout.marks.half - layout.marks.step / 2.0;
        // The middle's words are the longest: their neighbours give way to them.
        let roomy = (x - scale.at(0.0)).abs() >= 84;
        if middle || if layout.narrow { end } else { roomy } {
            // On a narrow drawing the outermost would reach over its edges.
            let anchor = match (layout.narrow && end, share < 0.0) {
                (false, _) => Anchor::Middle,
                (true, true) => Anchor::Start,
                (true, false) => Anchor::End,
            };
            canvas.text(&words, (x, 12), look(12.0, Ink::Quiet, anchor));
        }
    }
}

fn draw_row(canvas: &mut Canvas<'_>, layout: &Layout, y: i32, row: &ForestRow) {
    let bold = |look: TextLook| TextLook { bold: row.sum, ..look };
    let up = match (layout.narrow, row.about.is_empty()) {
        (true, true) => 22,
        (true, false) => 36,
        (false, true) => 0,
        (false, false) => 8,
    };
    let (label, number) = if layout.narrow { ((14, y - up), y - up) } else { ((16, y - up), y) };
    let words =
        if layout.narrow { format!("{} · {}", shorten(&row.label, 22), row.n) } else { shorten(&row.label, 30) };
    canvas.text(&words, label, bold(look(13.0, Ink::Text, Anchor::Start)));
    if !row.about.is_empty() {
        let most = if layout.narrow { 44 } else { 46 };
        let place = (label.0, label.1 + if layout.narrow { 16 } else { 17 });
        canvas.text(&shorten(&row.about, most), place, look(12.0, Ink::Quiet, Anchor::Start));
    }
    if !layout.narrow {
        let y = y - up;
        canvas.text(&row.n, (layout.scale.from.1 - 18, y), look(12.0, Ink::Quiet, Anchor::End));
    }
    let Some((delta, ci)) = row.delta else {
        canvas.text("no complete pair", (layout.number, number), look(12.0, Ink::Quiet, Anchor::End));
        return;
    };
    let ink = match delta {
        _ if !row.settled => Ink::Text,
        delta if delta > 0.0 => Ink::Up,
        _ => Ink::Down,
    };
    let at = layout.scale.at(delta);
    if let Some(ci) = ci {
        let (low, high) = (layout.scale.at(ci.low), layout.scale.at(ci.high));
        canvas.line((low, y), (high, y), ink, 2);
        canvas.line((low, y - 5), (low, y + 5), ink, 2);
        canvas.line((high, y - 5), (high, y + 5), ink, 2);
    }
    let radius = if row.sum { 7 } else { 5 };
    if row.settled {
        canvas.disc((at, y), radius, ink);
    } else {
        canvas.ring((at, y), radius, ink, 2);
    }
    let interval = ci.map_or_else(|| "no interval".to_owned(), |ci| format!("{} pp", bare_interval(ci)));
    if layout.narrow {
        canvas.text(&points(Some(delta)), (layout.number, number), bold(look(13.0, ink, Anchor::End)));
    } else {
        canvas.text(&points(Some(delta)), (layout.number - 120, y), bold(look(13.0, ink, Anchor::End)));
        canvas.text(&interval, (layout.number, y), look(12.0, Ink::Quiet, Anchor::End));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::tests::texts;

    fn row(label: &str, delta: Option<(f64, f64, f64)>, settled: bool) -> ForestRow {
        ForestRow {
            label: label.to_owned(),
            about: String::new(),
            n: "7 tasks".to_owned(),
            delta: delta.map(|(delta, low, high)| (delta, Interval::new(low, high))),
            settled,
            sum: false,
            href: Some("/skills/1?a=b".to_owned()),
        }
    }

    #[test]
    fn a_row_may_say_more_of_itself_and_have_no_interval() {
        let rows = [ForestRow { about: "large · set a".to_owned(), ..row("pdf", Some((0.1, 0.9, 0.2)), false) }];
        for width in Width::BOTH {
            let svg = forest(&Forest { id: "f", title: "t", rows: &rows, noise: None }, width);
            let texts = texts(&svg);
            assert!(texts.iter().any(|text| text == "large · set a"), "{texts:?}");
            assert!(svg.contains("pdf, large · set a, 7 tasks: +10 pp."), "{svg}");
        }
    }

    #[test]
    fn rows_keep_their_order_and_show_what_is_settled() {
        let rows = [
            row("excel", Some((0.4, 0.1, 0.62)), true),
            row("pdf", Some((-0.1, -0.3, 0.1)), false),
            row("none", None, false),
        ];
        let svg = forest(&Forest { id: "f", title: "t", rows: &rows, noise: Some(0.08) }, Width::Wide);
        let texts = texts(&svg);
        let axis = ["−80 pp", "−40 pp", "no difference", "+40 pp", "+80 pp"];
        assert_eq!(texts[..5], axis);
        let expected = [
            "excel",
            "7 tasks",
            "+40 pp",
            "+10 to +62 pp",
            "pdf",
            "7 tasks",
            "−10 pp",
            "−30 to +10 pp",
            "none",
            "7 tasks",
            "no complete pair",
        ];
        assert_eq!(texts[5..], expected);
        // Only the settled one is filled with a colour of gain; the unsettled one is a ring on paper.
        assert_eq!(svg.matches("fill=\"var(--up)\" stroke=\"none\"").count(), 1, "{svg}");
        assert!(svg.contains("var(--sunken)") && svg.contains("pdf, 7 tasks: −10 pp, interval −30 pp to +10 pp."));
        assert_eq!(svg.matches("<a href=\"/skills/1?a=b\"").count(), 3);
    }
}
