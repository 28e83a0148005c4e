//! Columns to domain types and back.

use domain::condition::Condition;
use domain::hash::ContentHash;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{Result, StoreError};

/// Rows of a list. One that cannot be read is logged and left out, so that it does not hide all others; asked for alone, it is an error.
pub(crate) fn readable<R, T>(noun: &'static str, rows: Vec<R>, id: impl Fn(&R) -> i64) -> Vec<T>
where
    T: TryFrom<R, Error = StoreError>,
{
    let read = |row: R| {
        let id = id(&row);
        T::try_from(row).map_err(|error| tracing::error!(noun, id, %error, "a row is left out of a list")).ok()
    };
    rows.into_iter().filter_map(read).collect()
}

pub(crate) fn to_json<T: Serialize + ?Sized>(what: &'static str, value: &T) -> Result<String> {
    serde_json::to_string(value).map_err(|error| StoreError::invalid(what, error.to_string()))
}

pub(crate) fn from_json<T: DeserializeOwned>(column: &'static str, text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|error| unreadable(column, text, Some(error)))
}

pub(crate) fn from_optional_json<T: DeserializeOwned>(column: &'static str, text: Option<&str>) -> Result<Option<T>> {
    text.map(|text| from_json(column, text)).transpose()
}

/// Reads a value whose serialised form is a plain word, such as `no-skill`.
pub(crate) fn from_word<T: DeserializeOwned>(column: &'static str, word: &str) -> Result<T> {
    serde_json::from_value(word.into()).map_err(|error| unreadable(column, word, Some(error)))
}

pub(crate) fn to_hash(column: &'static str, text: &str) -> Result<ContentHash> {
    text.parse().map_err(|_| unreadable(column, text, None))
}

pub(crate) fn to_condition(column: &'static str, text: &str) -> Result<Condition> {
    from_word(column, text)
}

/// A count that the schema keeps from being negative.
pub(crate) fn to_u32(column: &'static str, number: i64) -> Result<u32> {
    u32::try_from(number).map_err(|_| unreadable(column, &number.to_string(), None))
}

/// What a column is missing or has too much, given the row's state.
pub(crate) fn unreadable(column: &'static str, found: &str, source: Option<serde_json::Error>) -> StoreError {
    StoreError::Unreadable { column, found: found.chars().take(80).collect(), source }
}

/// Refuses NaN, infinities and whatever lies outside; JSON would turn NaN into null without a word.
pub(crate) fn check_range(what: &str, value: f64, range: std::ops::RangeInclusive<f64>) -> Result<()> {
    if value.is_finite() && range.contains(&value) {
        return Ok(());
    }
    Err(StoreError::invalid(format!("{what} {value}"), format!("it must lie in {}..={}", range.start(), range.end())))
}
