//! Bounds of what is kept of a text.

use serde_json::Value;

/// Bytes kept of each end of a text.
const KEPT: usize = 64 * 1024;

/// The text with its middle left out where it is long.
pub(super) fn clip(text: &str) -> String {
    clip_to(text, KEPT)
}

/// As [`clip`], with `kept` bytes of each end.
pub(super) fn clip_to(text: &str, kept: usize) -> String {
    if text.len() <= kept.saturating_mul(2) {
        return text.to_owned();
    }
    let head = text.floor_char_boundary(kept);
    let tail = text.ceil_char_boundary(text.len().saturating_sub(kept));
    let (start, end) = (text.get(..head).unwrap_or_default(), text.get(tail..).unwrap_or_default());
    format!("{start}\n[… {} bytes left out …]\n{end}", tail.saturating_sub(head))
}

/// The value with every text in it clipped.
pub(super) fn clip_value(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(clip(text)),
        Value::Array(values) => values.iter().map(clip_value).collect(),
        Value::Object(fields) => fields.iter().map(|(name, value)| (clip(name), clip_value(value))).collect(),
        other @ (Value::Null | Value::Bool(_) | Value::Number(_)) => other.clone(),
    }
}

/// A field that is a text.
pub(super) fn word<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name).and_then(Value::as_str)
}

/// A text that is not empty.
pub(super) fn filled(text: &str) -> Option<String> {
    (!text.trim().is_empty()).then(|| text.to_owned())
}

/// The names in a list of texts, or of objects that have a `name`.
pub(super) fn names(list: &Value) -> Option<Vec<String>> {
    let list = list.as_array()?;
    Some(list.iter().filter_map(|entry| entry.as_str().or_else(|| word(entry, "name"))).map(str::to_owned).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_of_a_long_text_is_left_out_between_characters() {
        assert_eq!(clip_to("äöü", 3), "äöü");
        assert_eq!(clip_to("äöüäöü", 3), "ä\n[… 8 bytes left out …]\nü");
    }
}
