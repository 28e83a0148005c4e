//! The last defence of exports and imports: values that must not appear are taken out, also as programs print them, wherever they stand. What an
//! attempt leaves behind had them taken out before it was stored already.

use std::collections::BTreeMap;
use std::fmt;

use domain::attempt::BlobRef;
use domain::hash::ContentHash;
use domain::history::EvaluationHistory;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{OpsError, Result};

/// Shorter values are not looked for: they would blot out ordinary text.
const SHORTEST: usize = 4;
const REPLACEMENT: &str = "[secret]";

/// The forms of values that must not appear in anything that is handed out. Its own debug form tells their number only.
#[derive(Clone, Default)]
pub struct Secrets(Vec<String>);

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secrets({})", self.0.len())
    }
}

impl Secrets {
    /// Looks for these values and their printed forms ([`domain::secret::forms`]). What has less than four bytes is ignored.
    #[must_use]
    pub fn new(values: impl IntoIterator<Item = String>) -> Self {
        Self::of_forms(values.into_iter().flat_map(|value| domain::secret::forms(&value)))
    }

    fn of_forms(forms: impl Iterator<Item = String>) -> Self {
        let mut forms: Vec<String> = forms.filter(|form| form.len() >= SHORTEST).collect();
        // Longest first, so that no rest of a value stays that begins with another.
        forms.sort_by(|one, other| other.len().cmp(&one.len()).then_with(|| one.cmp(other)));
        forms.dedup();
        Self(forms)
    }

    /// Looks for these values too.
    #[must_use]
    pub(crate) fn with(&self, more: impl Iterator<Item = String>) -> Self {
        Self::of_forms(self.0.iter().cloned().chain(more.flat_map(|value| domain::secret::forms(&value))))
    }

    /// The text without them.
    #[must_use]
    pub fn text(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| text.replace(secret, REPLACEMENT))
    }

    /// Bytes without them; JSON is looked at string by string, so that no escape hides a value.
    #[must_use]
    pub fn bytes(&self, bytes: Vec<u8>) -> Vec<u8> {
        if self.0.is_empty() {
            return bytes;
        }
        let json =
            bytes.iter().find(|byte| !byte.is_ascii_whitespace()).is_some_and(|first| matches!(first, b'{' | b'['));
        if json && let Ok(value) = serde_json::from_slice::<Value>(&bytes) {
            let clean = self.value(value.clone());
            return if clean == value { bytes } else { serde_json::to_vec(&clean).unwrap_or_default() };
        }
        self.0.iter().fold(bytes, |bytes, secret| replaced(bytes, secret.as_bytes()))
    }

    /// A value without them, in whatever field they stand.
    pub(crate) fn clean<T: Serialize + DeserializeOwned>(&self, value: T) -> Result<T> {
        if self.0.is_empty() {
            return Ok(value);
        }
        let unwritable =
            |_| OpsError::invalid("the values that must stay secret could not be taken out, so nothing was handed out");
        let json = serde_json::to_value(&value).map_err(unwritable)?;
        let clean = self.value(json.clone());
        if clean == json { Ok(value) } else { serde_json::from_value(clean).map_err(unwritable) }
    }

    /// An evaluation and the files that it names. A file that changes gets the name that goes with its new content.
    pub(crate) fn clean_history(
        &self,
        history: EvaluationHistory,
        files: BTreeMap<ContentHash, Vec<u8>>,
    ) -> Result<(EvaluationHistory, BTreeMap<ContentHash, Vec<u8>>)> {
        let mut history = self.clean(history)?;
        let mut renamed: BTreeMap<ContentHash, BlobRef> = BTreeMap::new();
        let mut clean = BTreeMap::new();
        for (hash, bytes) in files {
            let bytes = self.bytes(bytes);
            let blob = BlobRef { hash: ContentHash::of(&bytes), size: bytes.len() as u64 };
            renamed.insert(hash, blob);
            clean.insert(blob.hash, bytes);
        }
        for file in history.files_mut() {
            *file = file.map(|named| renamed.get(&named.hash).copied().unwrap_or(named));
        }
        Ok((history, clean))
    }

    fn value(&self, value: Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(&text)),
            Value::Array(items) => Value::Array(items.into_iter().map(|item| self.value(item)).collect()),
            Value::Object(fields) => {
                Value::Object(fields.into_iter().map(|(name, value)| (self.text(&name), self.value(value))).collect())
            }
            other => other,
        }
    }
}

fn replaced(bytes: Vec<u8>, secret: &[u8]) -> Vec<u8> {
    if !bytes.windows(secret.len()).any(|window| window == secret) {
        return bytes;
    }
    let mut clean = Vec::with_capacity(bytes.len());
    let mut rest = bytes.as_slice();
    while let Some((first, tail)) = rest.split_first() {
        if let Some(after) = rest.strip_prefix(secret) {
            clean.extend_from_slice(REPLACEMENT.as_bytes());
            rest = after;
        } else {
            clean.push(*first);
            rest = tail;
        }
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The log of a verifier that printed its environment, alone and as a text of a JSON document.
    #[test]
    fn a_value_of_several_lines_does_not_get_through_escaped() {
        let pem = "-----BEGIN KEY-----\nMIIEexampleexampleexample01\n-----END KEY-----\n";
        let secrets = Secrets::default().with(std::iter::once(pem.to_owned()));
        let log = format!("environ({{'KEY': {pem:?}}})");
        let json =
            serde_json::json!({ "log": log, "twice": serde_json::json!({ "log": pem }).to_string() }).to_string();
        for bytes in [log, json] {
            let clean = String::from_utf8(secrets.bytes(bytes.into_bytes())).unwrap();
            assert!(!clean.contains("MIIE") && clean.contains(REPLACEMENT), "{clean}");
        }
    }

    #[test]
    fn no_form_of_a_value_gets_through() {
        let secrets =
            Secrets::new(["sk-\"quoted\"".to_owned(), "abcd".to_owned(), "abcdef".to_owned(), "no".to_owned()]);
        assert_eq!(format!("{secrets:?}"), "Secrets(4)", "one of them has two forms");
        for (bytes, want) in [
            (&b"xabcdefx no"[..], "x[secret]x no"),
            (b"\xffabcd", "\u{fffd}[secret]"),
            (br#"{"a":"key sk-\"quoted\"","abcd":[1,"abcdef"]}"#, r#"{"[secret]":[1,"[secret]"],"a":"key [secret]"}"#),
            (br#"{ "untouched": 1 }"#, r#"{ "untouched": 1 }"#),
            (b"{ abcd", "{ [secret]"),
        ] {
            assert_eq!(String::from_utf8_lossy(&secrets.bytes(bytes.to_vec())), want);
        }
    }
}
