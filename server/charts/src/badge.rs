//! A badge: two fields of text on one line, as on shields.io. Widths come from a table, since nothing here measures fonts; `textLength` makes every
//! font keep to them.

use std::fmt::Write as _;

use domain::leaderboard::badge::{Badge, Tone};

use crate::canvas::escape;

/// The left field.
const LABEL: &str = "Skilldelta";
/// Width of the glyphs from the space to `~` in Verdana, in 1/2048 of the font's size.
const WIDTHS: [u16; 95] = [
    720, 806, 940, 1676, 1302, 2204, 1488, 550, 930, 930, 1302, 1676, 745, 930, 745, 930, 1302, 1302, 1302, 1302, 1302,
    1302, 1302, 1302, 1302, 1302, 930, 930, 1676, 1676, 1676, 1117, 2048, 1400, 1404, 1430, 1578, 1295, 1177, 1588,
    1539, 862, 931, 1419, 1140, 1726, 1532, 1612, 1235, 1612, 1424, 1400, 1262, 1499, 1400, 2025, 1403, 1260, 1403,
    930, 930, 930, 1676, 1302, 1302, 1230, 1276, 1067, 1276, 1220, 720, 1276, 1296, 562, 705, 1212, 562, 1992, 1296,
    1243, 1276, 1276, 874, 1067, 807, 1296, 1212, 1676, 1212, 1212, 1076, 1300, 930, 1300, 1676,
];
/// Of every other glyph: those of Δ and − are narrower, ideographs about this wide.
const WIDE: u16 = 2048;
const FONT_SIZE: f64 = 11.0;
const PAD: f64 = 6.0;

/// The badge as an SVG document.
#[must_use]
pub fn badge(badge: &Badge) -> String {
    let colour = match badge.tone {
        Tone::Up => "#00725a",
        Tone::Down => "#bf2c1a",
        Tone::Grey => "#6b7480",
    };
    let (label, message) = (width(LABEL), width(&badge.message));
    let (left, right) = (label + 2.0 * PAD, message + 2.0 * PAD);
    let all = left + right;
    let title = escape(&badge.title);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{all:.0}\" height=\"20\" role=\"img\" aria-label=\"{title}\">\
         <title>{title}</title><clipPath id=\"r\"><rect width=\"{all:.0}\" height=\"20\" rx=\"3\"/></clipPath>\
         <g clip-path=\"url(#r)\"><rect width=\"{left:.1}\" height=\"20\" fill=\"#2b323a\"/>\
         <rect x=\"{left:.1}\" width=\"{right:.1}\" height=\"20\" fill=\"{colour}\"/></g>\
         <g fill=\"#fff\" font-family=\"Verdana,Geneva,DejaVu Sans,sans-serif\" font-size=\"11\">"
    );
    for (x, width, text) in [(PAD, label, LABEL), (left + PAD, message, &badge.message)] {
        let text = escape(text);
        let _ = write!(svg, "<text x=\"{x:.1}\" y=\"14\" textLength=\"{width:.1}\" aria-hidden=\"true\">{text}</text>");
    }
    svg + "</g></svg>\n"
}

/// In pixels.
fn width(text: &str) -> f64 {
    let of = |c: char| match c {
        '\u{394}' => 1415,
        '\u{2212}' => 1676,
        '\u{b7}' => 745,
        '\u{2026}' => 1676,
        '±' => 1676,
        c => (c as usize).checked_sub(usize::from(b' ')).and_then(|at| WIDTHS.get(at)).copied().unwrap_or(WIDE),
    };
    text.chars().map(|c| f64::from(of(c))).sum::<f64>() / 2048.0 * FONT_SIZE
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(message: &str, title: &str, tone: Tone) -> String {
        badge(&Badge { message: message.to_owned(), title: title.to_owned(), tone })
    }

    #[test]
    fn a_badge_is_this_document() {
        assert_eq!(
            made("Δ +12 pp [3, 21] · large · v2", "Skilldelta: sheep v2: Improves", Tone::Up),
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"234\" height=\"20\" role=\"img\" aria-label=\"Skilldelta: sheep v2: Improves\">\
             <title>Skilldelta: sheep v2: Improves</title><clipPath id=\"r\"><rect width=\"234\" height=\"20\" rx=\"3\"/></clipPath>\
             <g clip-path=\"url(#r)\"><rect width=\"62.5\" height=\"20\" fill=\"#2b323a\"/>\
             <rect x=\"62.5\" width=\"171.4\" height=\"20\" fill=\"#00725a\"/></g>\
             <g fill=\"#fff\" font-family=\"Verdana,Geneva,DejaVu Sans,sans-serif\" font-size=\"11\">\
             <text x=\"6.0\" y=\"14\" textLength=\"50.5\" aria-hidden=\"true\">Skilldelta</text>\
             <text x=\"68.5\" y=\"14\" textLength=\"159.4\" aria-hidden=\"true\">Δ +12 pp [3, 21] · large · v2</text></g></svg>\n"
        );
    }

    #[test]
    fn what_is_not_settled_is_grey_and_names_bring_no_markup() {
        let svg = made("<script>\"'&\n", "</title><script>", Tone::Grey);
        assert!(svg.contains("#6b7480") && !svg.contains("#00725a") && !svg.contains("#bf2c1a"), "{svg}");
        assert!(!svg.contains("<script") && svg.contains("&lt;script&gt;&quot;'&amp; "), "{svg}");
        assert_eq!(svg.matches('\n').count(), 1);
    }
}
