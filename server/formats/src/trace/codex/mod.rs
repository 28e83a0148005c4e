//! Codex: `exec --json` on standard output, and the rollout file below its home folder, which has the tokens of each call.

mod exec;
mod rollout;

pub(super) use self::exec::Exec;
pub(super) use self::rollout::Rollout;

use domain::trace::ToolKind;
use domain::usage::TokenUsage;
use serde_json::Value;

use super::usage::{contained, count};

/// Codex' tools by canonical kind.
fn kind(name: &str) -> ToolKind {
    match name {
        "command_execution" | "shell" | "shell_command" | "exec_command" | "local_shell_call" | "write_stdin" => {
            ToolKind::Shell
        }
        "file_change" | "apply_patch" => ToolKind::Edit,
        "view_image" | "read_file" => ToolKind::Read,
        "grep_files" | "list_dir" => ToolKind::Search,
        _ => ToolKind::Other,
    }
}

/// Its counts: the input contains what the cache served.
fn usage(usage: &Value) -> Option<TokenUsage> {
    let prompt = count(usage, &["input_tokens"])?;
    let read = count(usage, &["cached_input_tokens"]).unwrap_or(0);
    let written = count(usage, &["cache_write_input_tokens"]).unwrap_or(0);
    Some(contained(prompt, read, written, count(usage, &["output_tokens"])))
}
