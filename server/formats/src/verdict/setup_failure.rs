//! Signs in a verifier's output that its own tools could not be installed or started. A sign is a hint, not a proof: see `judge`.
//! What an agent's own program might print as well is no sign.

use super::text::{head, without_colours};

/// Texts that package managers, downloaders and test runners print when they cannot do their work.
const SIGNS: [&str; 29] = [
    // apt
    "E: Unable to locate package",
    "E: Unable to fetch some archives",
    "E: Failed to fetch",
    "has no installation candidate",
    "Temporary failure resolving",
    // curl, wget
    "curl: (5)",
    "curl: (6)",
    "curl: (7) Failed to connect",
    "curl: (28) Failed to connect",
    "curl: (28) Connection timed out",
    "curl: (35)",
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
    "Failed to download `",
    "No solution found when resolving",
    "dns error: failed to lookup address",
    "invalid peer certificate",
    // npm
    "npm ERR! network",
    "npm error network",
    "npm error code E404",
    // pytest
    "No module named pytest",
    "unrecognized arguments: --ctrf",
];

/// Programs that a verifier's script uses for itself. Others may be what the agent should have made.
const TOOLS: [&str; 22] = [
    "apt", "apt-get", "apk", "bc", "cargo", "conda", "curl", "dnf", "git", "go", "jq", "mvn", "node", "npm", "npx",
    "pip", "pip3", "pytest", "python3", "uv", "uvx", "wget",
];

/// The agent's own services listen there.
const LOCAL: [&str; 4] = ["localhost", "127.0.0.1", "0.0.0.0", "[::1]"];

/// The first line that tells of a failed installation or a missing tool; capped, without colours.
#[must_use]
pub fn setup_failure(output: &str) -> Option<String> {
    output.lines().map(without_colours).find(|line| is_sign(line)).map(|line| head(line.trim(), 200))
}

fn is_sign(line: &str) -> bool {
    let local = LOCAL.iter().any(|host| line.contains(host));
    !local && (SIGNS.iter().any(|sign| line.contains(sign)) || is_missing_tool(line))
}

/// `test.sh: line 3: uvx: command not found` (bash), `test.sh: 3: uvx: not found` (dash).
fn is_missing_tool(line: &str) -> bool {
    let rest = line.strip_suffix(": command not found").or(line.strip_suffix(": not found"));
    let tool = rest.filter(|rest| rest.contains("test.sh: ")).and_then(|rest| rest.rsplit(": ").next());
    tool.is_some_and(|tool| TOOLS.contains(&tool))
}
