//! Drawing surface over plotters: shapes in named colours, texts of known size, and the SVG made fit to be put into a page.
//!
//! plotters knows RGB only, so each colour is drawn as a sentinel that is replaced by its CSS variable at the end.

use std::fmt::Write as _;

use plotters::backend::SVGBackend;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// plotters writes a font's height divided by this.
const FONT_FACTOR: f64 = 1.24;

/// Colours by meaning; the style sheet gives each its value in both themes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    /// Main text.
    Text,
    /// Quieter text.
    Quiet,
    /// Hair lines.
    Line,
    /// The page behind.
    Paper,
    /// The no-skill arm.
    Without,
    /// The with-skill arm.
    With,
    /// A gain.
    Up,
    /// A loss.
    Down,
}

impl Ink {
    const ALL: [Self; 8] =
        [Self::Text, Self::Quiet, Self::Line, Self::Paper, Self::Without, Self::With, Self::Up, Self::Down];

    const fn variable(self) -> &'static str {
        match self {
            Self::Text => "var(--ink)",
            Self::Quiet => "var(--ink-quiet)",
            Self::Line => "var(--line-strong)",
            Self::Paper => "var(--paper)",
            Self::Without => "var(--arm-without)",
            Self::With => "var(--arm-with)",
            Self::Up => "var(--up)",
            Self::Down => "var(--down)",
        }
    }

    /// A colour that nobody would choose.
    const fn sentinel(self) -> RGBColor {
        RGBColor(0xF1, 0x5E, self as u8)
    }
}

/// Where a text stands relative to its point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Anchor {
    /// Begins there.
    Start,
    /// Is centred there.
    Middle,
    /// Ends there.
    End,
}

/// A text's look: size in pixels, weight, colour, place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TextLook {
    /// Pixels.
    pub size: f64,
    /// Whether it is heavy.
    pub bold: bool,
    /// Colour.
    pub ink: Ink,
    /// Place.
    pub anchor: Anchor,
}

/// What a screen reader says of a drawing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words {
    /// Unique in the page.
    pub id: String,
    /// A few words.
    pub title: String,
    /// What the drawing shows.
    pub description: String,
}

/// A drawing in the making. A shape that plotters refuses is left out; into a text buffer it refuses none.
pub struct Canvas<'a> {
    backend: SVGBackend<'a>,
}

impl Canvas<'_> {
    /// Draws by `paint` onto `width` × `height` pixels and returns the finished SVG.
    pub fn draw(width: u32, height: u32, words: &Words, paint: impl FnOnce(&mut Canvas<'_>)) -> String {
        let mut svg = String::new();
        {
            let mut canvas = Canvas { backend: SVGBackend::with_string(&mut svg, (width, height)) };
            paint(&mut canvas);
            let _ = canvas.backend.present();
        }
        finish(svg, words)
    }

    /// A straight line.
    pub fn line(&mut self, from: (i32, i32), to: (i32, i32), ink: Ink, thickness: u32) {
        let _ = self.backend.draw_line(from, to, &ink.sentinel().stroke_width(thickness));
    }

    /// A filled disc.
    pub fn disc(&mut self, at: (i32, i32), radius: u32, ink: Ink) {
        let _ = self.backend.draw_circle(at, radius, &ink.sentinel().filled(), true);
    }

    /// A ring that hides what lies below it.
    pub fn ring(&mut self, at: (i32, i32), radius: u32, ink: Ink, thickness: u32) {
        self.disc(at, radius, Ink::Paper);
        let _ = self.backend.draw_circle(at, radius, &ink.sentinel().stroke_width(thickness), false);
    }

    /// A text, on its vertical middle.
    pub fn text(&mut self, text: &str, at: (i32, i32), look: TextLook) {
        let across = match look.anchor {
            Anchor::Start => HPos::Left,
            Anchor::Middle => HPos::Center,
            Anchor::End => HPos::Right,
        };
        let weight = if look.bold { FontStyle::Bold } else { FontStyle::Normal };
        let font = FontDesc::new(FontFamily::SansSerif, look.size * FONT_FACTOR, weight);
        let colour = look.ink.sentinel();
        let style = TextStyle::from(font).color(&colour).pos(Pos::new(across, VPos::Center));
        let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let _ = self.backend.draw_text(&text, &style, at);
    }
}

/// Sentinels become variables; the root gets its role and words.
fn finish(svg: String, words: &Words) -> String {
    // Quotation marks in texts are escaped, so this matches attributes only.
    let mut svg = Ink::ALL.iter().fold(svg, |svg, ink| {
        let RGBColor(r, g, b) = ink.sentinel();
        svg.replace(&format!("\"#{r:02X}{g:02X}{b:02X}\""), &format!("\"{}\"", ink.variable()))
    });
    let id = &words.id;
    let mut root = format!("<svg role=\"img\" aria-labelledby=\"{id}-title {id}-text\" ");
    let Some(rest) = svg.strip_prefix("<svg ") else { return svg };
    let Some((attributes, inside)) = rest.split_once('>') else { return svg };
    let (title, text) = (escape(&words.title), escape(&words.description));
    let _ = write!(
        root,
        "{attributes}><title id=\"{id}-title\">{title}</title><desc id=\"{id}-text\">{text}</desc>{inside}"
    );
    svg = root;
    svg
}

/// Text for the inside of an element, or of an attribute between quotation marks.
pub(crate) fn escape(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut escaped, c| {
        match c {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            // Most control characters are no characters of XML at all.
            control if control.is_control() => escaped.push(' '),
            other => escaped.push(other),
        }
        escaped
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_variables_and_text_is_escaped() {
        let hostile = "</text><script>alert(1)</script> \"#F15E00\"\u{1b}";
        let words = Words { id: "x".to_owned(), title: hostile.to_owned(), description: hostile.to_owned() };
        let look = TextLook { size: 13.0, bold: true, ink: Ink::Text, anchor: Anchor::Start };
        let svg = Canvas::draw(100, 20, &words, |canvas| {
            canvas.line((0, 0), (9, 9), Ink::Up, 2);
            canvas.ring((5, 5), 4, Ink::Without, 2);
            canvas.text(hostile, (1, 1), look);
        });
        assert!(!svg.contains("<script"), "{svg}");
        assert!(!svg.contains("=\"#"), "{svg}");
        assert!(!svg.contains('\u{1b}'), "{svg}");
        assert!(svg.contains("stroke=\"var(--up)\"") && svg.contains("fill=\"var(--ink)\""), "{svg}");
        assert!(svg.starts_with("<svg role=\"img\" aria-labelledby=\"x-title x-text\""), "{svg}");
    }
}
