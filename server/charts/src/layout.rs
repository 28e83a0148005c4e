//! What all charts share: their widths, looks of texts, scales with round numbers, labels that fit.

use domain::report::number;

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

/// A scale that is the same on both sides of zero, with round numbers where it is marked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Symmetric {
    /// Where it ends, a share.
    pub half: f64,
    /// From mark to mark, a share; a whole part of `half`.
    pub step: f64,
}

impl Symmetric {
    /// The shortest that holds `reach` (a share).
    pub fn holding(reach: f64) -> Self {
        const SCALES: [(f64, f64); 8] =
            [(0.05, 0.05), (0.1, 0.05), (0.2, 0.1), (0.3, 0.1), (0.4, 0.2), (0.6, 0.2), (0.8, 0.4), (1.0, 0.5)];
        let (half, step) = SCALES.into_iter().find(|(half, _)| reach <= half + 1e-9).unwrap_or((1.0, 0.5));
        Self { half, step }
    }

    /// Where it is marked, from its least to its greatest end.
    pub fn marks(self) -> impl Iterator<Item = f64> {
        let each = (self.half / self.step).round() as i32;
        (-each..=each).map(move |at| f64::from(at) * self.step)
    }
}

/// Round numbers from 0 to at most `most` at which to mark a scale of counts: about three beside the 0.
pub fn round_marks(most: u64) -> impl Iterator<Item = u64> {
    let step = (0..19)
        .flat_map(|power| [1_u64, 2, 5].map(|digit| digit * 10_u64.pow(power)))
        .find(|step| most / step <= 4)
        .unwrap_or(u64::MAX);
    (0..=most / step).map(move |at| at * step)
}

/// A round number of tokens: `200`, `5k`, `2M`.
pub fn round_tokens(tokens: f64) -> String {
    number::tokens(Some(tokens)).replace(".0", "")
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
    use domain::report::number::points;

    use super::*;

    /// Texts of a drawing in the order in which they were drawn.
    pub(crate) fn texts(svg: &str) -> Vec<String> {
        svg.split("<text ")
            .skip(1)
            .filter_map(|rest| Some(rest.split_once('>')?.1.split('<').next()?.trim().to_owned()))
            .collect()
    }

    #[test]
    fn counts_are_marked_at_round_numbers() {
        for (most, marks) in
            [(0, "0"), (3, "0 1 2 3"), (13_300, "0 5k 10k"), (95_000, "0 20k 40k 60k 80k"), (1_000_000, "0 500k 1M")]
        {
            let told: Vec<String> = round_marks(most).map(|mark| round_tokens(mark as f64)).collect();
            assert_eq!(told.join(" "), marks);
        }
        assert!(round_marks(u64::MAX).count() <= 5);
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
        for (reach, marks) in [
            (0.0, "−5 pp, 0 pp, +5 pp"),
            (0.05, "−5 pp, 0 pp, +5 pp"),
            (0.051, "−10 pp, −5 pp, 0 pp, +5 pp, +10 pp"),
            (0.31, "−40 pp, −20 pp, 0 pp, +20 pp, +40 pp"),
            (0.6, "−60 pp, −40 pp, −20 pp, 0 pp, +20 pp, +40 pp, +60 pp"),
            (0.62, "−80 pp, −40 pp, 0 pp, +40 pp, +80 pp"),
            (7.0, "−100 pp, −50 pp, 0 pp, +50 pp, +100 pp"),
        ] {
            let told: Vec<String> = Symmetric::holding(reach).marks().map(|mark| points(Some(mark))).collect();
            assert_eq!(told.join(", "), marks);
        }
        let scale = Scale { from: (-0.5, 10), to: (0.5, 110) };
        assert_eq!([scale.at(-9.0), scale.at(-0.5), scale.at(0.0), scale.at(0.5)], [10, 10, 60, 110]);
    }
}
