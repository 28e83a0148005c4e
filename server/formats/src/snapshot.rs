//! The document of a published snapshot: the leaderboard's rows as they were judged, as JSON. The bytes are what its hash names.

use domain::leaderboard::{LeaderboardRow, Published};
use serde::Serialize;

/// Borrows what [`Published`] owns.
#[derive(Serialize)]
struct Document<'a> {
    schema: &'a str,
    rows: &'a [LeaderboardRow],
}

/// Writes the rows; the same rows give the same bytes.
///
/// # Errors
/// Where a row has no form in JSON.
pub fn write(rows: &[LeaderboardRow]) -> serde_json::Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec(&Document { schema: Published::SCHEMA, rows })?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Reads a document that [`write`] made.
///
/// # Errors
/// What is not such a document, with the place.
pub fn read(bytes: &[u8]) -> serde_json::Result<Vec<LeaderboardRow>> {
    let document: Published = serde_json::from_slice(bytes)?;
    if document.schema == Published::SCHEMA {
        return Ok(document.rows);
    }
    Err(serde::de::Error::custom(format!("its schema is '{}', not '{}'", document.schema, Published::SCHEMA)))
}
