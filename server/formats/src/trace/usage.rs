//! Shapes in which agents report tokens. Classes never overlap in the result: what a provider counts as part of its prompt is taken out.

use domain::usage::TokenUsage;
use serde_json::Value;

use super::reading::SelfReport;

/// A count under the first of these names that has one.
pub(super) fn count(value: &Value, names: &[&str]) -> Option<u64> {
    names.iter().find_map(|name| value.get(name).and_then(Value::as_u64))
}

/// Counts of an API whose input excludes what its cache read and wrote (Anthropic). An absent cache class is none.
pub(super) fn apart(usage: &Value) -> Option<TokenUsage> {
    let input = count(usage, &["input_tokens", "inputTokens"])?;
    Some(TokenUsage {
        input: Some(input),
        cache_read: Some(count(usage, &["cache_read_input_tokens", "cacheReadInputTokens"]).unwrap_or(0)),
        cache_write: Some(count(usage, &["cache_creation_input_tokens", "cacheCreationInputTokens"]).unwrap_or(0)),
        output: count(usage, &["output_tokens", "outputTokens"]),
    })
}

/// Counts of an API whose input contains what its cache read and wrote (OpenAI, Gemini). It has no class of its own for writing.
pub(super) fn contained(prompt: u64, cache_read: u64, cache_write: u64, output: Option<u64>) -> TokenUsage {
    TokenUsage {
        input: Some(prompt.saturating_sub(cache_read).saturating_sub(cache_write)),
        cache_read: Some(cache_read),
        cache_write: Some(cache_write),
        output,
    }
}

/// An OpenAI usage object, of either API.
pub(super) fn openai(usage: &Value) -> Option<TokenUsage> {
    let prompt = count(usage, &["prompt_tokens", "input_tokens"])?;
    let details = |name: &str| usage.get(name).and_then(|details| count(details, &["cached_tokens"]));
    let cached = details("prompt_tokens_details")
        .or_else(|| details("input_tokens_details"))
        .or_else(|| count(usage, &["cached_input_tokens", "cache_read_input_tokens", "cache_read_tokens"]));
    let written = count(usage, &["cache_write_input_tokens", "cache_creation_input_tokens", "cache_write_tokens"]);
    let output = count(usage, &["completion_tokens", "output_tokens"]);
    Some(contained(prompt, cached.unwrap_or(0), written.unwrap_or(0), output))
}

/// The totals of a JSON report, whatever agent wrote it; all unknown where its shape is not known.
pub(super) fn report(report: &Value) -> SelfReport {
    let usage = report.get("usage").filter(|usage| usage.is_object());
    let accumulated = report.pointer("/metrics/accumulated_token_usage").filter(|usage| usage.is_object());
    let tokens = match (accumulated, usage) {
        (Some(accumulated), _) => openai(accumulated),
        (None, Some(usage)) if usage.get("cacheRead").is_some() => openclaw(usage),
        (None, Some(usage)) if usage.get("prompt_tokens").is_some() => openai(usage),
        (None, Some(usage)) => apart(usage),
        (None, None) => None,
    };
    let tokens = tokens.unwrap_or(TokenUsage::UNKNOWN);
    let told = usage.and_then(|usage| count(usage, &["total_tokens", "total"]));
    let cost = ["/total_cost_usd", "/metrics/accumulated_cost", "/usage/cost/total"];
    SelfReport {
        tokens,
        total: tokens.total().or(told),
        cost_usd: cost.iter().find_map(|place| report.pointer(place)).and_then(Value::as_f64),
        ..SelfReport::default()
    }
}

fn openclaw(usage: &Value) -> Option<TokenUsage> {
    Some(TokenUsage {
        input: Some(count(usage, &["input"])?),
        cache_read: count(usage, &["cacheRead"]),
        cache_write: count(usage, &["cacheWrite"]),
        output: count(usage, &["output"]),
    })
}

/// Class by class sum of what is told; a class that is unknown in one is unknown in the sum. Of nothing: unknown.
pub(super) fn sum(usages: impl IntoIterator<Item = TokenUsage>) -> TokenUsage {
    usages.into_iter().reduce(|sum, usage| sum.plus(&usage)).unwrap_or(TokenUsage::UNKNOWN)
}
