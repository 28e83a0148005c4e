//! Signs in a verifier's output that its own tools could not be installed or started. A sign is a hint, not a proof: see `judge`.

use super::text::{head, without_colours};

/// Texts that package managers, downloaders and test runners print when they cannot do their work.
const SIGNS: [&str; 35] = [
    // apt
    "E: Unable to locate package",
    "E: Unable to fetch some archives",
    "E: Failed to fetch",
    "has no installation candidate",
    "Temporary failure resolving",
    "Temporary failure in name resolution",
    "Could not connect to",
    // curl, wget, git
    "curl: (5)",
    "curl: (6)",
    "curl: (7)",
    "curl: (22)",
    "curl: (28)",
    "curl: (35)",
    "curl: (56)",
    "curl: (60)",
    "wget: unable to resolve host address",
    "wget: bad address",
    // pip
    "ERROR: Could not find a version that satisfies",
    "ERROR: No matching distribution found",
    "ERROR: Could not install packages",
    "error: externally-managed-environment",
    "CERTIFICATE_VERIFY_FAILED",
    // uv
    "error: Failed to fetch",
    "Failed to download",
    "No solution found when resolving",
    "dns error: failed to lookup address",
    "invalid peer certificate",
    // npm, cargo, go
    "npm ERR! network",
    "npm error network",
    "npm error code E404",
    "error: failed to download from",
    // pytest
    "No module named pytest",
    "No module named 'pytest'",
    "unrecognized arguments: --ctrf",
    "pytest: error: unrecognized arguments",
];

/// The first line that tells of a failed installation or a missing tool; capped, without colours.
#[must_use]
pub fn setup_failure(output: &str) -> Option<String> {
    output.lines().map(without_colours).find(|line| is_sign(line)).map(|line| head(line.trim(), 200))
}

fn is_sign(line: &str) -> bool {
    SIGNS.iter().any(|sign| line.contains(sign)) || is_missing_tool(line)
}

/// `test.sh: line 3: uvx: command not found` (bash), `test.sh: 3: uvx: not found` (dash): the verifier's own script only, because a
/// program of the agent's may print the same of itself.
fn is_missing_tool(line: &str) -> bool {
    line.contains("test.sh: ") && (line.ends_with(": command not found") || line.ends_with(": not found"))
}
