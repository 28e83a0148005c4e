//! What all charts share: their widths, looks of texts, scales with round numbers, labels that fit.

use crate::canvas::{Anchor, Ink, TextLook};

/// For which pages a drawing is made: text must stay readable, so a narrow page gets a drawing of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    /// From about 720 pixels.
    Wide,
    /// A telephone.
    Narrow,
}

impl Width {
    /// Both.
    pub const BOTH: [Self; 2] = [Self::Wide, Self::Narrow];

    /// A drawing's id in the page.
    pub(crate) fn id(self, chart: &str) -> String {
        match self {
            Self::Wide => format!("{chart}-wide"),
            Self::Narrow => format!("{chart}-narrow"),
        }
    }
}

/// Pixels of a drawing; at least one.
pub fn pixels(n: i32) -> u32 {
    u32::try_from(n).unwrap_or(0).max(1)
}

/// Rows as pixels count.
pub fn rows(n: usize) -> i32 {
    i32::try_from(n).unwrap_or(i32::MAX / 1024)
}

/// A text's look in ordinary weight.
pub const fn look(size: f64, ink: Ink, anchor: Anchor) -> TextLook {
    TextLook { size, bold: false, ink, anchor }
}

/// At most `most` characters; texts cannot be measured here, so long labels are cut in the middle, where names differ least.
pub fn shorten(label: &str, most: usize) -> String {
    let chars: Vec<char> = label.chars().collect();
    if chars.len() <= most {
        return label.to_owned();
    }
    let tail = most / 3;
    let head = most.saturating_sub(tail + 1);
    let beginning: String = chars.iter().take(head).collect();
    let end: String = chars.iter().skip(chars.len() - tail).collect();
    format!("{beginning}…{end}")
}

/// About how wide a text will be, in pixels.
pub fn text_width(text: &str, size: f64) -> i32 {
    (text.chars().count() as f64 * size * 0.58).ceil() as i32
}

/// Half of a scale that is the same on both sides of zero and holds `reach` (a share): the next of 5, 10, 20, 30, 50, 75 and 100 points.
pub fn symmetric(reach: f64) -> f64 {
    const HALVES: [f64; 7] = [0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0];
    HALVES.into_iter().find(|half| reach <= half + 1e-9).unwrap_or(1.0)
}

/// A straight scale from values to pixels; what lies outside stands at the end.
#[derive(Debug, Clone, Copy)]
pub struct Scale {
    /// Value and pixel of one end.
    pub from: (f64, i32),
    /// Value and pixel of the other.
    pub to: (f64, i32),
}

impl Scale {
    /// The pixel of a value.
    pub fn at(&self, value: f64) -> i32 {
        let share = ((value - self.from.0) / (self.to.0 - self.from.0)).clamp(0.0, 1.0);
        self.from.1 + (f64::from(self.to.1 - self.from.1) * share).round() as i32
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Texts of a drawing in the order in which they were drawn.
    pub(crate) fn texts(svg: &str) -> Vec<String> {
        svg.split("<text ")
            .skip(1)
            .filter_map(|rest| Some(rest.split_once('>')?.1.split('<').next()?.trim().to_owned()))
            .collect()
    }

    #[test]
    fn long_names_keep_both_ends() {
        let name = format!("a{}z", "-".repeat(80));
        let short = shorten(&name, 44);
        assert_eq!(short.chars().count(), 44);
        assert!(short.starts_with('a') && short.ends_with('z'), "{short}");
    }

    #[test]
    fn scales_end_at_round_numbers() {
        for (reach, half) in [(0.0, 0.05), (0.05, 0.05), (0.051, 0.1), (0.62, 0.75), (1.0, 1.0), (7.0, 1.0)] {
            assert_eq!(symmetric(reach), half);
        }
        let scale = Scale { from: (-0.5, 10), to: (0.5, 110) };
        assert_eq!([scale.at(-9.0), scale.at(-0.5), scale.at(0.0), scale.at(0.5)], [10, 10, 60, 110]);
    }
}
