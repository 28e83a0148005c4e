//! `reward.txt` and `reward.json`: one finite number from 0 to 1, or an error that shows what was found instead. Never guessed.

use std::collections::BTreeMap;

use serde_json::Value;

use super::text::head;

/// Characters of a broken reward file that its error shows.
const SHOWN: usize = 200;
/// Rewards of the two files that differ by no more are the same number, printed twice.
const SAME: f64 = 1e-6;
/// Largest reward file that is read, in bytes.
const MAX_BYTES: usize = 64 * 1024;

const TXT: &str = "reward.txt";
const JSON: &str = "reward.json";

/// What a verifier gave.
#[derive(Debug, Clone, PartialEq)]
pub struct Reward {
    /// From 0 to 1.
    pub value: f64,
    /// Further finite numbers of `reward.json`, by name; not limited to 0..=1.
    pub metrics: BTreeMap<String, f64>,
}

/// `Ok(None)` where neither file is there.
pub type RewardReading = Result<Option<Reward>, RewardError>;

/// Why a reward could not be read. A verifier error, never a reward of 0.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RewardError {
    /// The file holds blanks only.
    #[error("{file} is empty")]
    Empty {
        /// Which file.
        file: &'static str,
    },
    /// It holds something else than one decimal number.
    #[error("{file} holds no number but {seen:?}")]
    NotANumber {
        /// Which file.
        file: &'static str,
        /// The first characters of what was there.
        seen: String,
    },
    /// NaN or infinite.
    #[error("{file} holds a number that is not finite: {seen:?}")]
    NotFinite {
        /// Which file.
        file: &'static str,
        /// What was there.
        seen: String,
    },
    /// Below 0 or above 1.
    #[error("{file} holds {value}, which is not between 0 and 1")]
    OutOfRange {
        /// Which file.
        file: &'static str,
        /// What was there.
        value: f64,
    },
    /// The JSON cannot be parsed.
    #[error("{file} is no valid JSON ({reason}): {seen:?}")]
    BadJson {
        /// Which file.
        file: &'static str,
        /// The parser's words.
        reason: String,
        /// The first characters of what was there.
        seen: String,
    },
    /// The two files differ.
    #[error("reward.txt says {txt} and reward.json says {json}")]
    Conflict {
        /// From `reward.txt`.
        txt: f64,
        /// From `reward.json`.
        json: f64,
    },
}

impl RewardError {
    /// A stable word for the kind.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Empty { .. } => "empty",
            Self::NotANumber { .. } => "not_a_number",
            Self::NotFinite { .. } => "not_finite",
            Self::OutOfRange { .. } => "out_of_range",
            Self::BadJson { .. } => "bad_json",
            Self::Conflict { .. } => "conflict",
        }
    }
}

/// Reads whichever of the two files is there (`None` = no such file, or no regular file). A file that is there must be readable
/// even where the other would do, and where both are there they must agree.
///
/// # Errors
/// [`RewardError`] with the file and what it held.
pub fn read_reward(txt: Option<&[u8]>, json: Option<&[u8]>) -> RewardReading {
    let txt = txt.map(read_txt).transpose()?;
    let json = json.map(read_json).transpose()?;
    match (txt, json) {
        (None, None) => Ok(None),
        (Some(value), None) => Ok(Some(Reward { value, metrics: BTreeMap::new() })),
        (None, Some(reward)) => Ok(Some(reward)),
        (Some(txt), Some(reward)) if (txt - reward.value).abs() <= SAME => Ok(Some(reward)),
        (Some(txt), Some(reward)) => Err(RewardError::Conflict { txt, json: reward.value }),
    }
}

fn read_txt(bytes: &[u8]) -> Result<f64, RewardError> {
    let text = trimmed(TXT, bytes)?;
    let number = text.parse().map_err(|_| not_a_number(TXT, &text))?;
    in_range(TXT, &text, number)
}

fn read_json(bytes: &[u8]) -> Result<Reward, RewardError> {
    let text = trimmed(JSON, bytes)?;
    let value: Value = serde_json::from_str(&text).map_err(|error| RewardError::BadJson {
        file: JSON,
        reason: error.to_string(),
        seen: head(&text, SHOWN),
    })?;
    let number = |value: &Value| value.as_f64().ok_or_else(|| not_a_number(JSON, &text));
    match value {
        Value::Object(entries) => {
            let reward = number(entries.get("reward").unwrap_or(&Value::Null))?;
            let metrics = entries.iter().filter(|(name, _)| *name != "reward");
            let metrics = metrics.filter_map(|(name, value)| Some((head(name, SHOWN), value.as_f64()?))).collect();
            Ok(Reward { value: in_range(JSON, &text, reward)?, metrics })
        }
        scalar => Ok(Reward { value: in_range(JSON, &text, number(&scalar)?)?, metrics: BTreeMap::new() }),
    }
}

/// The text without byte-order mark and blanks.
fn trimmed(file: &'static str, bytes: &[u8]) -> Result<String, RewardError> {
    let text = String::from_utf8_lossy(bytes.get(..MAX_BYTES).unwrap_or(bytes));
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() { Err(RewardError::Empty { file }) } else { Ok(text.to_owned()) }
}

fn not_a_number(file: &'static str, text: &str) -> RewardError {
    RewardError::NotANumber { file, seen: head(text, SHOWN) }
}

fn in_range(file: &'static str, text: &str, number: f64) -> Result<f64, RewardError> {
    if !number.is_finite() {
        return Err(RewardError::NotFinite { file, seen: head(text, SHOWN) });
    }
    if !(0.0..=1.0).contains(&number) {
        return Err(RewardError::OutOfRange { file, value: number });
    }
    // Turns -0 into 0.
    Ok(number + 0.0)
}
