//! Named results inside one verifier run. The paper's "instances" are these, not tasks.

use serde::{Deserialize, Serialize};

/// How one test case ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TestStatus {
    /// It passed.
    Passed,
    /// It failed.
    Failed,
    /// It was not run on purpose.
    Skipped,
    /// It could not be run, or its state is none of the above.
    Other,
}

impl TestStatus {
    /// The word used in tables and JSON.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
            Self::Other => "other",
        }
    }
}

/// One named result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestCase {
    /// As the test program names it.
    pub name: String,
    /// How it ended.
    pub status: TestStatus,
    /// Milliseconds; `None` where not reported.
    pub duration_ms: Option<u64>,
    /// The failure's text, capped.
    pub message: Option<String>,
}
