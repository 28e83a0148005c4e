//! The one splitter of `---` frontmatter and Markdown body, for `SKILL.md` and `task.md` alike. Lines are those of the original file.

use domain::finding::Finding;
use serde::de::DeserializeOwned;

use super::yaml::{self, Field, YamlFault};

/// Longest accepted frontmatter, in bytes.
pub const MAX_YAML_BYTES: usize = 64 * 1024;

const FENCE: &str = "---";

/// A text file cut at its fences. Line ends are LF throughout; a leading byte-order mark is gone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frontmatter {
    /// The YAML between the fences.
    pub yaml: String,
    /// The line of the file, from 1, on which the YAML starts.
    pub yaml_start_line: u32,
    /// All that follows the closing fence.
    pub body: String,
    /// The line of the file, from 1, on which the body starts.
    pub body_start_line: u32,
    /// Whether the file began with a byte-order mark.
    pub bom: bool,
}

/// Why a file has no readable frontmatter.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FrontmatterError {
    /// No bytes, or blanks only.
    #[error("the file is empty")]
    Empty,
    /// Its first line is text.
    #[error("the file has no frontmatter: its first line is not `---`")]
    Missing,
    /// An opening fence without a closing one.
    #[error("the frontmatter that begins on line 1 is never closed")]
    NeverClosed,
    /// Blank lines or blanks stand before the opening fence.
    #[error("the opening `---` on line {line} has blanks before it")]
    FenceNotFirst {
        /// Where the fence was found, from 1.
        line: u32,
    },
    /// Bytes that are no UTF-8.
    #[error("the file is not UTF-8: byte {offset} cannot be read")]
    NotUtf8 {
        /// The first wrong byte, from 0.
        offset: usize,
        /// The line it stands in, from 1.
        line: u32,
    },
    /// More YAML than [`MAX_YAML_BYTES`].
    #[error("the frontmatter has {bytes} bytes, more than {MAX_YAML_BYTES}")]
    TooLong {
        /// Its size.
        bytes: usize,
    },
}

impl FrontmatterError {
    /// The stable word for the kind.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Empty => "empty_file",
            Self::Missing => "no_frontmatter",
            Self::NeverClosed => "unclosed_frontmatter",
            Self::FenceNotFirst { .. } => "fence_not_first",
            Self::NotUtf8 { .. } => "not_utf8",
            Self::TooLong { .. } => "frontmatter_too_long",
        }
    }

    /// What to do about it.
    #[must_use]
    pub const fn remedy(&self) -> &'static str {
        match self {
            Self::Empty | Self::Missing => {
                "begin the file with a line `---`, the fields (`name: …`, `description: …`), and a line `---`"
            }
            Self::NeverClosed => "put a line `---` after the last field",
            Self::FenceNotFirst { .. } => "the first line of the file must be `---`: remove what stands before it",
            Self::NotUtf8 { .. } => "save the file as UTF-8",
            Self::TooLong { .. } => "move text from the frontmatter to the body",
        }
    }

    /// The error as a finding about `file`.
    #[must_use]
    pub fn finding(&self, file: &str) -> Finding {
        let finding = Finding::error(self.code(), file, self.to_string()).hint(self.remedy());
        match self {
            Self::NotUtf8 { line, .. } => finding.at(*line, None),
            Self::Empty => finding,
            Self::Missing | Self::NeverClosed | Self::FenceNotFirst { .. } | Self::TooLong { .. } => {
                finding.at(1, None)
            }
        }
    }
}

/// Cuts a file at its fences. The closing fence is the first line after line 1 that is `---` but for blanks around it.
///
/// # Errors
/// [`FrontmatterError`], each kind with its own remedy.
pub fn split(bytes: &[u8]) -> Result<Frontmatter, FrontmatterError> {
    let text = std::str::from_utf8(bytes).map_err(|error| not_utf8(bytes, error.valid_up_to()))?;
    split_text(text)
}

/// [`split`] for what is known to be UTF-8.
///
/// # Errors
/// As [`split`], without [`FrontmatterError::NotUtf8`].
pub fn split_text(text: &str) -> Result<Frontmatter, FrontmatterError> {
    let (bom, text) = match text.strip_prefix('\u{feff}') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let text = with_lf(text);
    let rest = after_opening_fence(&text)?;
    let (yaml, body) = at_closing_fence(rest).ok_or(FrontmatterError::NeverClosed)?;
    if yaml.len() > MAX_YAML_BYTES {
        return Err(FrontmatterError::TooLong { bytes: yaml.len() });
    }
    let body_start_line = line_number(yaml.matches('\n').count() + 3);
    Ok(Frontmatter { yaml: yaml.to_owned(), yaml_start_line: 2, body: body.to_owned(), body_start_line, bom })
}

impl Frontmatter {
    /// The YAML as a typed value. YAML 1.1 booleans (`yes`, `on`) are taken where a boolean is wanted.
    ///
    /// # Errors
    /// [`YamlFault`] with its line in the file.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, YamlFault> {
        yaml::parse(&self.yaml, self.yaml_start_line)
    }

    /// The YAML as its top-level fields, in the order of the file.
    ///
    /// # Errors
    /// [`YamlFault`] with its line in the file, also where the top level is no mapping or a key stands twice.
    pub fn fields(&self) -> Result<Vec<Field>, YamlFault> {
        yaml::fields(&self.yaml, self.yaml_start_line)
    }

    /// A line of the YAML by its number in the file.
    #[must_use]
    pub fn line(&self, number: u32) -> Option<&str> {
        let index = number.checked_sub(self.yaml_start_line)?;
        self.yaml.lines().nth(usize::try_from(index).ok()?)
    }
}

fn not_utf8(bytes: &[u8], offset: usize) -> FrontmatterError {
    let before = bytes.get(..offset).unwrap_or_default();
    let text = String::from_utf8_lossy(before);
    FrontmatterError::NotUtf8 { offset, line: line_number(with_lf(&text).matches('\n').count() + 1) }
}

/// CRLF and lone CR become LF.
fn with_lf(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

fn after_opening_fence(text: &str) -> Result<&str, FrontmatterError> {
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    if first.trim_end() == FENCE {
        return Ok(rest);
    }
    match text.lines().enumerate().find(|(_, line)| !line.trim().is_empty()) {
        None => Err(FrontmatterError::Empty),
        Some((index, line)) if line.trim() == FENCE => {
            Err(FrontmatterError::FenceNotFirst { line: line_number(index + 1) })
        }
        Some(_) => Err(FrontmatterError::Missing),
    }
}

/// What stands before and after the line of the closing fence.
fn at_closing_fence(text: &str) -> Option<(&str, &str)> {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if line.trim() == FENCE {
            return Some((text.get(..start)?, text.get(start + line.len()..)?));
        }
        start += line.len();
    }
    None
}

fn line_number(line: usize) -> u32 {
    u32::try_from(line).unwrap_or(u32::MAX)
}
