//! Drawing surface over plotters: shapes in named colours, texts of known size, and the SVG made fit to be put into a page.
//!
//! plotters knows RGB only, so each colour is drawn as a sentinel that is replaced by its CSS variable at the end. It knows no links either: where
//! one begins or ends stands a text of private characters, which no foreign text can hold, and which is replaced by the link's tag.

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
    /// An area behind what matters.
    Sunken,
}

impl Ink {
    const ALL: [Self; 9] = [
        Self::Text,
        Self::Quiet,
        Self::Line,
        Self::Paper,
        Self::Without,
        Self::With,
        Self::Up,
        Self::Down,
        Self::Sunken,
    ];

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
            Self::Sunken => "var(--sunken)",
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

/// Where a mark leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The address, on this site.
    pub href: String,
    /// What is there, in words: the tip, and what a screen reader says.
    pub words: String,
}

/// Stands before the number of a link that begins.
const LINK_BEGINS: char = '\u{E000}';
/// Stands where a link ends.
const LINK_ENDS: char = '\u{E001}';

/// A drawing in the making. A shape that plotters refuses is left out; into a text buffer it refuses none.
pub struct Canvas<'a> {
    backend: SVGBackend<'a>,
    links: Vec<Link>,
}

impl Canvas<'_> {
    /// Draws by `paint` onto `width` × `height` pixels and returns the finished SVG.
    pub fn draw(width: u32, height: u32, words: &Words, paint: impl FnOnce(&mut Canvas<'_>)) -> String {
        let mut svg = String::new();
        let links = {
            let backend = SVGBackend::with_string(&mut svg, (width, height));
            let mut canvas = Canvas { backend, links: Vec::new() };
            paint(&mut canvas);
            let _ = canvas.backend.present();
            std::mem::take(&mut canvas.links)
        };
        finish(svg, words, &links)
    }

    /// What `paint` draws leads somewhere, where `link` says so.
    pub fn linked(&mut self, link: Option<Link>, paint: impl FnOnce(&mut Self)) {
        let Some(link) = link else { return paint(self) };
        self.mark(&format!("{LINK_BEGINS}{}", self.links.len()));
        self.links.push(link);
        paint(self);
        self.mark(&LINK_ENDS.to_string());
    }

    fn mark(&mut self, text: &str) {
        let style = TextStyle::from(FontDesc::new(FontFamily::SansSerif, 1.0, FontStyle::Normal));
        let _ = self.backend.draw_text(text, &style, (0, 0));
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

    /// A filled rectangle between two corners.
    pub fn area(&mut self, from: (i32, i32), to: (i32, i32), ink: Ink) {
        let _ = self.backend.draw_rect(from, to, &ink.sentinel().filled(), true);
    }

    /// A line from point to point.
    pub fn path(&mut self, points: &[(i32, i32)], ink: Ink, thickness: u32) {
        let _ = self.backend.draw_path(points.iter().copied(), &ink.sentinel().stroke_width(thickness));
    }

    /// A filled triangle that points up, or down.
    pub fn triangle(&mut self, (x, y): (i32, i32), radius: i32, up: bool, ink: Ink) {
        let (tip, base) = if up { (y - radius, y + radius) } else { (y + radius, y - radius) };
        let corners = [(x, tip), (x + radius + 1, base), (x - radius - 1, base)];
        let _ = self.backend.fill_polygon(corners, &ink.sentinel().filled());
    }

    /// A square with a stroke through it: no value.
    pub fn crossed(&mut self, (x, y): (i32, i32), radius: i32, ink: Ink) {
        let (from, to) = ((x - radius, y - radius), (x + radius, y + radius));
        self.area(from, to, Ink::Paper);
        let _ = self.backend.draw_rect(from, to, &ink.sentinel().stroke_width(1), false);
        self.line((x - radius, y + radius), (x + radius, y - radius), ink, 1);
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
        let text: String = text.chars().map(|c| if is_unfit(c) { ' ' } else { c }).collect();
        let _ = self.backend.draw_text(&text, &style, at);
    }
}

/// Most control characters are no characters of XML at all; the private ones are ours.
fn is_unfit(c: char) -> bool {
    c.is_control() || [LINK_BEGINS, LINK_ENDS].contains(&c)
}

/// Sentinels become variables, marks become links; the root gets its role and words.
fn finish(svg: String, words: &Words, links: &[Link]) -> String {
    let svg = link_up(&svg, links);
    // Quotation marks in texts are escaped, so this matches attributes only.
    let mut svg = Ink::ALL.iter().fold(svg, |svg, ink| {
        let RGBColor(r, g, b) = ink.sentinel();
        svg.replace(&format!("\"#{r:02X}{g:02X}{b:02X}\""), &format!("\"{}\"", ink.variable()))
    });
    let id = &words.id;
    // What is inside an image is not told to a screen reader, so a drawing with links is a group.
    let role = if links.is_empty() { "img" } else { "group" };
    let mut root = format!("<svg role=\"{role}\" aria-labelledby=\"{id}-title {id}-text\" ");
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

/// Puts each link's tags in the place of its marks. They are for the pointer: with the keyboard the table beside the drawing has the same links.
fn link_up(svg: &str, links: &[Link]) -> String {
    let mut linked = String::with_capacity(svg.len());
    let mut rest = svg;
    while let Some(at) = rest.find([LINK_BEGINS, LINK_ENDS]) {
        let (before, mark) = rest.split_at(at);
        let element = before.rfind("<text").unwrap_or(at);
        linked.push_str(before.get(..element).unwrap_or(before));
        let (inside, after) = mark.split_once("</text>").unwrap_or((mark, ""));
        match inside.strip_prefix(LINK_BEGINS).and_then(|number| links.get(number.trim().parse::<usize>().ok()?)) {
            Some(Link { href, words }) => {
                let (href, words) = (escape(href), escape(words));
                // The title is its name as well as its tip.
                let _ = write!(linked, "<a href=\"{href}\" tabindex=\"-1\"><title>{words}</title>");
            }
            None => linked.push_str("</a>"),
        }
        rest = after;
    }
    linked + rest
}

/// Text for the inside of an element, or of an attribute between quotation marks.
pub(crate) fn escape(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut escaped, c| {
        match c {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            unfit if is_unfit(unfit) => escaped.push(' '),
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

    #[test]
    fn a_link_holds_what_was_drawn_in_it_and_nobody_else_makes_one() {
        let words = Words { id: "x".to_owned(), title: String::new(), description: String::new() };
        let link = Link { href: "/a?b=1&c=\"".to_owned(), words: "\u{E000}0 <b>".to_owned() };
        let look = TextLook { size: 13.0, bold: false, ink: Ink::Text, anchor: Anchor::Start };
        let svg = Canvas::draw(100, 20, &words, |canvas| {
            canvas.linked(Some(link), |canvas| canvas.disc((5, 5), 4, Ink::With));
            canvas.linked(None, |canvas| canvas.disc((9, 9), 4, Ink::Without));
            canvas.text("\u{E000}0", (1, 1), look);
        });
        assert_eq!((svg.matches("<a ").count(), svg.matches("</a>").count()), (1, 1), "{svg}");
        let inside = svg.split_once("<a href=\"/a?b=1&amp;c=&quot;\"").unwrap().1.split_once("</a>").unwrap().0;
        assert!(inside.contains("var(--arm-with)") && !inside.contains("var(--arm-without)"), "{svg}");
        assert!(svg.starts_with("<svg role=\"group\"") && svg.contains("&lt;b&gt;"), "{svg}");
    }
}
