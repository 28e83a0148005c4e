//! Limits of a task: times, sizes and counts, each checked to be a sane number.

use std::time::Duration;

use domain::finding::{Finding, Severity};
use serde_json::Value;

use super::settings::{Section, brief};

/// Longest accepted time: a week.
pub(super) const LONGEST: Duration = Duration::from_secs(MAX_SECONDS as u64);
const MAX_SECONDS: f64 = 7.0 * 24.0 * 3600.0;
const MAX_CPUS: f64 = 1024.0;
/// 16 TiB, in MiB.
const MAX_MB: f64 = 16.0 * 1024.0 * 1024.0;
/// Docker takes no less, in MiB.
const MIN_MB: f64 = 6.0;

/// A time in seconds, whole or not; above 0, at most a week.
pub(super) fn seconds(section: &Section<'_>, key: &str, out: &mut Vec<Finding>) -> Option<Duration> {
    let seconds = number(section, key, "a number of seconds", out)?;
    let fine = check(section, key, seconds, (f64::MIN_POSITIVE, MAX_SECONDS), "seconds", out);
    fine.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
}

/// A number of CPUs, whole or not; above 0.
pub(super) fn cpus(section: &Section<'_>, out: &mut Vec<Finding>) -> Option<f64> {
    let cpus = number(section, "cpus", "a number of CPUs", out)?;
    check(section, "cpus", cpus, (0.01, MAX_CPUS), "CPUs", out)
}

/// A number of GPUs.
pub(super) fn gpus(section: &Section<'_>, out: &mut Vec<Finding>) -> Option<u32> {
    let gpus = number(section, "gpus", "a number of GPUs", out)?;
    check(section, "gpus", gpus, (0.0, 1024.0), "GPUs", out).map(|gpus| gpus.ceil() as u32)
}

/// A size in MiB, from `<what>_mb` (a number) or its older spelling `<what>` (`"2G"`); they must not contradict each other.
pub(super) fn megabytes(section: &Section<'_>, what: &str, out: &mut Vec<Finding>) -> Option<u64> {
    let key = format!("{what}_mb");
    let plain = number(section, &key, "a number of megabytes", out);
    let plain = plain.and_then(|mb| check(section, &key, mb, (MIN_MB, MAX_MB), "MB", out));
    let spelled = spelled_size(section, what, out).and_then(|mb| check(section, what, mb, (MIN_MB, MAX_MB), "MB", out));
    if let (Some(plain), Some(spelled)) = (plain, spelled)
        && plain.round() != spelled.round()
    {
        let message = format!("{} says {spelled} MB and {} says {plain} MB", section.label(what), section.label(&key));
        out.push(section.error("limit_conflict", what, message).hint("keep one of them"));
    }
    plain.or(spelled).map(|mb| mb.round() as u64)
}

/// A number, also one in quotes. NaN and infinity come as texts and are refused by [`check`].
fn number(section: &Section<'_>, key: &str, want: &str, out: &mut Vec<Finding>) -> Option<f64> {
    let value = section.get(key)?;
    let number = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => number_in_quotes(text),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    };
    if number.is_none() {
        out.push(section.wrong_type(key, want, value));
    }
    number
}

fn number_in_quotes(text: &str) -> Option<f64> {
    let text = text.trim().to_ascii_lowercase();
    match text.as_str() {
        ".nan" => Some(f64::NAN),
        ".inf" | "+.inf" => Some(f64::INFINITY),
        "-.inf" => Some(f64::NEG_INFINITY),
        _ => text.parse().ok(),
    }
}

fn check(
    section: &Section<'_>,
    key: &str,
    number: f64,
    (least, most): (f64, f64),
    unit: &str,
    out: &mut Vec<Finding>,
) -> Option<f64> {
    let label = section.label(key);
    let message = if !number.is_finite() {
        format!("{label} must be a finite number of {unit}, not {number}")
    } else if number < least {
        let least = if least < 0.01 { "more than 0".to_owned() } else { format!("at least {least}") };
        format!("{label} must be {least} {unit}, not {number}")
    } else if number > most {
        format!("{label} must be at most {most} {unit}, not {number}")
    } else {
        return Some(number);
    };
    out.push(section.error("limit_out_of_range", key, message));
    None
}

/// `"2G"`, `"512M"`, `"1.5g"`, `"2GiB"`, in MiB.
fn spelled_size(section: &Section<'_>, key: &str, out: &mut Vec<Finding>) -> Option<f64> {
    let value = section.get(key)?;
    let size = value.as_str().and_then(parse_size);
    if size.is_none() {
        let found = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let message =
            format!("{} must be a size such as \"2G\" or \"512M\", not {:?}", section.label(key), brief(&found));
        out.push(section.error("wrong_type", key, message));
        return None;
    }
    let message = format!("{} is an old spelling of {}", section.label(key), section.label(&format!("{key}_mb")));
    out.push(section.finding(Severity::Note, "old_spelling", key, message));
    size
}

fn parse_size(text: &str) -> Option<f64> {
    let text = text.trim().to_ascii_uppercase();
    let text = text.strip_suffix('B').unwrap_or(&text);
    let text = text.strip_suffix('I').unwrap_or(text);
    let units = [('K', 1.0 / 1024.0), ('M', 1.0), ('G', 1024.0), ('T', 1024.0 * 1024.0)];
    let (digits, unit) = units.iter().find_map(|(letter, unit)| Some((text.strip_suffix(*letter)?, unit)))?;
    let number: f64 = digits.trim().parse().ok()?;
    Some(number * unit)
}
