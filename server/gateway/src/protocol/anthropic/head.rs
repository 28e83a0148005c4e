//! A Messages request, as far as it decides whether it is passed on.

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::protocol::CallHead;

#[derive(Deserialize)]
struct Body {
    model: String,
    #[serde(default)]
    tools: Option<Vec<ToolHead>>,
    #[serde(default)]
    mcp_servers: Option<Vec<IgnoredAny>>,
}

#[derive(Deserialize)]
struct ToolHead {
    #[serde(rename = "type", default)]
    kind: Option<String>,
}

/// Beginnings of kinds of tools that the agent carries out by itself, or that only look through the tools on offer. Their ends are dates.
/// What is not on this list is taken for the provider's own, so that a new one is not let through unknown.
const CARRIED_OUT_BY_THE_AGENT: [&str; 6] =
    ["custom", "bash_", "text_editor_", "computer_", "memory_", "tool_search_tool_"];

pub(in crate::protocol) fn head(body: &[u8]) -> Result<CallHead, String> {
    let body: Body = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    let kinds = body.tools.into_iter().flatten().filter_map(|tool| tool.kind);
    let hosted = kinds.filter(|kind| !CARRIED_OUT_BY_THE_AGENT.iter().any(|own| kind.starts_with(own)));
    let remote = body.mcp_servers.filter(|servers| !servers.is_empty()).map(|_| "mcp_servers".to_owned());
    Ok(CallHead { model: body.model, fallbacks: Vec::new(), hosted: hosted.chain(remote).collect() })
}
