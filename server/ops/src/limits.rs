//! Which numbers a plan takes, in page and command line alike.

use domain::plan::TIMEOUT_MULTIPLIERS;

use crate::error::{OpsError, Result};

/// A week: longer than any trial, and far below what time itself can count.
const MOST_SECONDS: u64 = 604_800;

pub(crate) fn within(field: &str, what: &str, value: u32, most: u32) -> Result<u32> {
    if (1..=most).contains(&value) {
        return Ok(value);
    }
    Err(OpsError::field(field, format!("{what} must be from 1 to {most}, not {value}")))
}

/// A limit in seconds, where one is given.
pub(crate) fn seconds(field: &str, what: &str, value: Option<u64>) -> Result<()> {
    match value {
        Some(value) if !(1..=MOST_SECONDS).contains(&value) => {
            Err(OpsError::field(field, format!("{what} must be from 1 to {MOST_SECONDS}, not {value}")))
        }
        Some(_) | None => Ok(()),
    }
}

pub(crate) fn timeout_multiplier(value: f64) -> Result<f64> {
    if TIMEOUT_MULTIPLIERS.contains(&value) {
        return Ok(value);
    }
    let (least, most) = (TIMEOUT_MULTIPLIERS.start(), TIMEOUT_MULTIPLIERS.end());
    Err(OpsError::field("timeout", format!("the time-out multiplier must be from {least} to {most}, not {value}")))
}
