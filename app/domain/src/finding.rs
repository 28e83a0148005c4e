//! What a check has to say about an input: where, what, how grave, and how to mend it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How grave a [`Finding`] is. An error stops an import or a run; a warning or a note does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// Likely to mislead or to fail.
    Warning,
    /// Cannot be used as it is.
    Error,
}

impl Severity {
    /// The word used in tables and JSON.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// One finding about one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The file it is about, relative to what was checked (or as the user named it).
    pub file: String,
    /// Line in the original file, from 1; `None` where the whole file is meant.
    pub line: Option<u32>,
    /// Column in characters, from 1.
    pub column: Option<u32>,
    /// A stable word for the kind, such as `yaml_syntax`.
    pub code: String,
    /// How grave it is.
    pub severity: Severity,
    /// What is wrong, in one sentence.
    pub message: String,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Finding {
    /// A finding about a whole file.
    #[must_use]
    pub fn new(severity: Severity, code: &str, file: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            file: file.into(),
            line: None,
            column: None,
            code: code.to_owned(),
            severity,
            message: message.into(),
            hint: None,
        }
    }

    /// An error about a whole file.
    #[must_use]
    pub fn error(code: &str, file: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, code, file, message)
    }

    /// A warning about a whole file.
    #[must_use]
    pub fn warning(code: &str, file: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code, file, message)
    }

    /// A note about a whole file.
    #[must_use]
    pub fn note(code: &str, file: impl Into<String>, message: impl Into<String>) -> Self {
        Self::new(Severity::Note, code, file, message)
    }

    /// The same finding with its place.
    #[must_use]
    pub fn at(mut self, line: u32, column: Option<u32>) -> Self {
        self.line = Some(line);
        self.column = column;
        self
    }

    /// The same finding with its remedy.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Whether it stops an import or a run.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if let Some(column) = self.column {
            write!(f, ":{column}")?;
        }
        write!(f, ": {}[{}]: {}", self.severity.word(), self.code, self.message)?;
        match &self.hint {
            Some(hint) => write!(f, " ({hint})"),
            None => Ok(()),
        }
    }
}

/// Whether any of the findings stops an import or a run.
#[must_use]
pub fn has_errors(findings: &[Finding]) -> bool {
    findings.iter().any(Finding::is_error)
}
