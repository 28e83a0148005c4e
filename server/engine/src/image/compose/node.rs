//! YAML as a tree that knows its lines.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_saphyr::Spanned;

/// A value with its place.
#[derive(Debug, Clone)]
pub(super) struct Node {
    /// From 1.
    pub line: u32,
    pub value: Value,
}

/// A value.
#[derive(Debug, Clone)]
pub(super) enum Value {
    Null,
    /// Numbers and booleans too, as text.
    Scalar(String),
    List(Vec<Node>),
    Map(Vec<(String, u32, Node)>),
}

impl Node {
    /// Reads a document.
    pub fn parse(text: &str) -> Result<Self, serde_saphyr::Error> {
        serde_saphyr::from_str_with_options::<Spanned<Value>>(text, options()).map(Self::from)
    }

    pub fn scalar(&self) -> Option<&str> {
        match &self.value {
            Value::Scalar(text) => Some(text),
            _ => None,
        }
    }

    /// Key, line of the key, value; empty for what is no map.
    pub fn entries(&self) -> &[(String, u32, Self)] {
        match &self.value {
            Value::Map(entries) => entries,
            _ => &[],
        }
    }

    pub fn get(&self, name: &str) -> Option<&Self> {
        self.entries().iter().find(|(key, _, _)| key == name).map(|(_, _, value)| value)
    }

    /// Items of a list; a lone scalar counts as a list of one.
    pub fn items(&self) -> Vec<&Self> {
        match &self.value {
            Value::List(items) => items.iter().collect(),
            Value::Scalar(_) => vec![self],
            Value::Null | Value::Map(_) => Vec::new(),
        }
    }

    /// For messages.
    pub fn short(&self) -> String {
        match &self.value {
            Value::Null => String::new(),
            Value::Scalar(text) => text.chars().take(80).collect(),
            Value::List(_) => "a list".to_owned(),
            Value::Map(_) => "a map".to_owned(),
        }
    }
}

/// Far above any honest compose file and far below what hurts.
fn options() -> serde_saphyr::Options {
    serde_saphyr::options! {
        budget: serde_saphyr::budget! {
            max_depth: 32,
            flow_nesting_limit: 32,
            max_documents: 1,
            max_nodes: 4_000,
            max_events: 12_000,
            max_aliases: 100,
            max_anchors: 100,
            max_merge_keys: 100,
        },
        emit_comments: false,
        with_snippet: false,
    }
}

fn line(spanned: &Spanned<impl Sized>) -> u32 {
    u32::try_from(spanned.referenced.line()).unwrap_or(u32::MAX)
}

impl From<Spanned<Value>> for Node {
    fn from(spanned: Spanned<Value>) -> Self {
        Self { line: line(&spanned), value: spanned.value }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any YAML value")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_none<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Scalar(value.to_string()))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Scalar(value.to_string()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Scalar(value.to_string()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Scalar(value.to_string()))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(Value::Scalar(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element::<Spanned<Value>>()? {
            list.push(item.into());
        }
        Ok(Value::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut map = Vec::new();
        while let Some(key) = entries.next_key::<Spanned<String>>()? {
            let value = entries.next_value::<Spanned<Value>>()?;
            let at = line(&key);
            map.push((key.value, at, value.into()));
        }
        Ok(Value::Map(map))
    }
}
