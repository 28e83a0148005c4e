//! A YAML document as a tree in which every key keeps its place and repeated keys are all there, for files whose writers' parser took the
//! last one in silence. Budgets are those of a configuration file, not of a frontmatter.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Number, Value};
use serde_saphyr::Spanned;
use serde_saphyr::options::DuplicateKeyPolicy;

use super::yaml::{YamlFault, fault};

/// Largest document, in bytes.
pub const MAX_BYTES: usize = 8 << 20;

/// A node of a document.
#[derive(Debug, Clone, PartialEq)]
pub enum Node {
    /// A text, number, boolean, or null.
    Scalar(Value),
    /// A list.
    List(Vec<Node>),
    /// Keys and values in the order of the file; a key may occur again.
    Map(Vec<(Key, Node)>),
}

/// A key and its place in the file, from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// As text.
    pub text: String,
    /// Its line.
    pub line: u32,
    /// Its column, in characters.
    pub column: u32,
}

/// Reads a document. A byte-order mark is passed over.
///
/// # Errors
/// [`YamlFault`] with its line.
pub fn outline(yaml: &str) -> Result<Node, YamlFault> {
    let yaml = yaml.trim_start_matches('\u{feff}');
    if yaml.len() > MAX_BYTES {
        return Err(YamlFault {
            code: "yaml_too_complex",
            line: None,
            column: None,
            message: format!("the file has more than {} MiB", MAX_BYTES >> 20),
            hint: None,
        });
    }
    serde_saphyr::from_str_with_options(yaml, options()).map_err(|error| fault(yaml, 1, &error))
}

fn options() -> serde_saphyr::Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: 64,
            flow_nesting_limit: 64,
            max_documents: 2,
            max_nodes: 200_000,
            max_events: 600_000,
            max_aliases: 1_000,
            max_anchors: 1_000,
            max_recorded_anchor_events: 100_000,
            max_recorded_anchor_bytes: 8 * 1024 * 1024,
            max_merge_keys: 1_000,
        },
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: 100_000,
            max_replay_stack_depth: 16,
        },
        duplicate_keys: DuplicateKeyPolicy::PassThrough,
        emit_comments: false,
        non_finite_float_policy: serde_saphyr::NonFiniteFloatPolicy::AsString,
        with_snippet: false,
    }
}

impl Node {
    /// The value of a key; of the last one where it occurs again.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        match self {
            Self::Map(entries) => entries.iter().rev().find(|(found, _)| found.text == key).map(|(_, value)| value),
            Self::Scalar(_) | Self::List(_) => None,
        }
    }

    /// Keys and values; none where it is no map.
    #[must_use]
    pub fn entries(&self) -> &[(Key, Self)] {
        match self {
            Self::Map(entries) => entries,
            Self::Scalar(_) | Self::List(_) => &[],
        }
    }

    /// The items; none where it is no list.
    #[must_use]
    pub fn items(&self) -> &[Self] {
        match self {
            Self::List(items) => items,
            Self::Scalar(_) | Self::Map(_) => &[],
        }
    }

    /// A text, also of a number or boolean; `None` where it is empty, null, or no scalar.
    #[must_use]
    pub fn text(&self) -> Option<String> {
        let text = match self {
            Self::Scalar(Value::String(text)) => text.clone(),
            Self::Scalar(value @ (Value::Number(_) | Value::Bool(_))) => value.to_string(),
            Self::Scalar(_) | Self::List(_) | Self::Map(_) => return None,
        };
        (!text.trim().is_empty()).then_some(text)
    }

    /// A number, also one in quotes.
    #[must_use]
    pub fn number(&self) -> Option<f64> {
        self.text()?.trim().parse().ok()
    }

    /// Whether it says anything: not null, empty text, empty list or map.
    #[must_use]
    pub fn says_something(&self) -> bool {
        match self {
            Self::Scalar(Value::Null) => false,
            Self::Scalar(Value::String(text)) => !text.is_empty(),
            Self::Scalar(_) => true,
            Self::List(items) => !items.is_empty(),
            Self::Map(entries) => !entries.is_empty(),
        }
    }

    /// The line of the first key in it.
    #[must_use]
    pub fn line(&self) -> Option<u32> {
        match self {
            Self::Scalar(_) => None,
            Self::List(items) => items.iter().find_map(Self::line),
            Self::Map(entries) => entries.first().map(|(key, _)| key.line),
        }
    }

    /// Every key that occurs again in its map, with the place of the one before it, anywhere below.
    #[must_use]
    pub fn repeated(&self) -> Vec<(&Key, &Key)> {
        let entries = self.entries();
        let mut found = Vec::new();
        for (index, (key, value)) in entries.iter().enumerate() {
            let before = entries.iter().take(index).rev().find(|(before, _)| before.text == key.text);
            found.extend(before.map(|(before, _)| (before, key)));
            found.extend(value.repeated());
        }
        found.extend(self.items().iter().flat_map(Self::repeated));
        found
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NodeVisitor)
    }
}

struct NodeVisitor;

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Scalar(Value::Bool(value)))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Node, E> {
        Ok(Node::Scalar(Value::from(value)))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Node, E> {
        Ok(Node::Scalar(Value::from(value)))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Node, E> {
        let number = Number::from_f64(value).map_or_else(|| Value::String(value.to_string()), Value::Number);
        Ok(Node::Scalar(number))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Node, E> {
        Ok(Node::Scalar(Value::String(value.to_owned())))
    }

    fn visit_unit<E: de::Error>(self) -> Result<Node, E> {
        Ok(Node::Scalar(Value::Null))
    }

    fn visit_none<E: de::Error>(self) -> Result<Node, E> {
        Ok(Node::Scalar(Value::Null))
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Node, D::Error> {
        Node::deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Node, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Node::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut entries = Vec::new();
        while let Some((key, value)) = map.next_entry::<Spanned<String>, Node>()? {
            let place = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
            let (line, column) = (place(key.referenced.line()), place(key.referenced.column()));
            entries.push((Key { text: key.value, line, column }, value));
        }
        Ok(Node::Map(entries))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_keys_are_all_there_and_the_last_counts() {
        let yaml = "\u{feff}a:\n  limits:\n    x: 1\n  b: null\n  limits:\n    y: \"2\"\nlist: [1, {k: v, k: w}]\n";
        let node = outline(yaml).unwrap();
        let again: Vec<_> =
            node.repeated().iter().map(|(before, key)| (before.line, key.line, key.text.as_str())).collect();
        assert_eq!(again, [(2, 5, "limits"), (7, 7, "k")]);
        let limits = node.get("a").unwrap().get("limits").unwrap();
        assert_eq!((limits.get("x"), limits.get("y").unwrap().number()), (None, Some(2.0)));
        assert_eq!(node.get("a").unwrap().get("b").unwrap().text(), None);
        assert_eq!(node.get("list").unwrap().items()[0].text().as_deref(), Some("1"));
    }

    #[test]
    fn what_cannot_be_read_is_told_with_its_line() {
        assert!(outline("a: 1\nb: [\n").unwrap_err().line.is_some());
        let deep = "[".repeat(5000);
        assert_eq!(outline(&deep).unwrap_err().code, "yaml_too_complex");
    }
}
