//! Relative paths that cannot leave the folder they are relative to.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Longest accepted path, in bytes.
pub const MAX_PATH_BYTES: usize = 1024;
/// Deepest accepted path, in segments.
pub const MAX_PATH_DEPTH: usize = 64;

/// A path inside a tree: UTF-8, `/` between non-empty segments, none of them `.` or `..`, no drive letter, no backslash, no control
/// character. Such a path joined to a folder stays in that folder.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RelPath(String);

/// Why a path was refused. The path itself is the caller's to name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// Nothing, or an empty segment.
    #[error("an empty path or path segment")]
    Empty,
    /// It starts at the root or at a drive.
    #[error("an absolute path")]
    Absolute,
    /// It holds a `.` or `..` segment.
    #[error("a '.' or '..' segment")]
    Climbs,
    /// It holds a backslash or a control character.
    #[error("a backslash or control character")]
    Character,
    /// It is longer than [`MAX_PATH_BYTES`] or deeper than [`MAX_PATH_DEPTH`].
    #[error("longer than {MAX_PATH_BYTES} bytes or deeper than {MAX_PATH_DEPTH} folders")]
    TooLong,
}

impl RelPath {
    /// Checks a path; nothing is normalised away.
    ///
    /// # Errors
    /// [`PathError`] with the first reason found.
    pub fn new(text: &str) -> Result<Self, PathError> {
        let drive = text.as_bytes().get(1) == Some(&b':') && text.starts_with(|c: char| c.is_ascii_alphabetic());
        if text.starts_with('/') || text.starts_with('\\') || drive {
            return Err(PathError::Absolute);
        }
        if text.len() > MAX_PATH_BYTES || text.split('/').count() > MAX_PATH_DEPTH {
            return Err(PathError::TooLong);
        }
        for segment in text.split('/') {
            match segment {
                "" => return Err(PathError::Empty),
                "." | ".." => return Err(PathError::Climbs),
                other if other.split('\\').any(|part| part == "..") => return Err(PathError::Climbs),
                other if other.chars().any(|c| c == '\\' || c.is_control()) => return Err(PathError::Character),
                _ => {}
            }
        }
        Ok(Self(text.to_owned()))
    }

    /// The path as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Last segment.
    #[must_use]
    pub fn file_name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// The folder it lies in; `None` at the top.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        self.0.rsplit_once('/').map(|(folder, _)| Self(folder.to_owned()))
    }

    /// The rest of the path below `folder`; `None` where it does not lie below it.
    #[must_use]
    pub fn below(&self, folder: &str) -> Option<Self> {
        let rest = self.0.strip_prefix(folder)?.strip_prefix('/')?;
        Some(Self(rest.to_owned()))
    }

    /// This path inside `folder`.
    #[must_use]
    pub fn inside(&self, folder: &Self) -> Self {
        Self(format!("{}/{}", folder.0, self.0))
    }
}

impl fmt::Display for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for RelPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

impl FromStr for RelPath {
    type Err = PathError;

    fn from_str(text: &str) -> Result<Self, PathError> {
        Self::new(text)
    }
}

impl TryFrom<String> for RelPath {
    type Error = PathError;

    fn try_from(text: String) -> Result<Self, PathError> {
        Self::new(&text)
    }
}

impl From<RelPath> for String {
    fn from(path: RelPath) -> Self {
        path.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_leave_their_folder_are_refused() {
        for (text, want) in [
            ("SKILL.md", None),
            ("..hidden", None),
            ("a..b/c", None),
            ("", Some(PathError::Empty)),
            ("a//b", Some(PathError::Empty)),
            ("a/", Some(PathError::Empty)),
            ("/etc/passwd", Some(PathError::Absolute)),
            ("C:/x", Some(PathError::Absolute)),
            ("c:x", Some(PathError::Absolute)),
            ("\\\\host\\x", Some(PathError::Absolute)),
            ("../x", Some(PathError::Climbs)),
            ("a/../SKILL.md", Some(PathError::Climbs)),
            ("./a", Some(PathError::Climbs)),
            ("a\\..\\b", Some(PathError::Climbs)),
            ("a\\b", Some(PathError::Character)),
            ("a\nb", Some(PathError::Character)),
        ] {
            assert_eq!(RelPath::new(text).err(), want, "{text:?}");
        }
        assert_eq!(RelPath::new(&"d/".repeat(300)).err(), Some(PathError::TooLong));
    }
}
