//! Numbers and instants of others, checked: what makes no sense is unknown, with a finding, and never a number.

use domain::finding::Finding;
use domain::time::Timestamp;

/// A reward if it is finite and in 0..=1; else `None` and a warning that names the place.
pub(super) fn reward(value: Option<f64>, file: &str, place: &str, findings: &mut Vec<Finding>) -> Option<f64> {
    let value = value?;
    if value.is_finite() && (0.0..=1.0).contains(&value) {
        return Some(value);
    }
    let message = format!("{place} is {value}, which is no reward; it was left out");
    findings.push(Finding::warning("reward_range", file, message).hint("a reward lies in 0..=1"));
    None
}

/// Seconds as milliseconds; what is negative or not finite is unknown.
pub(super) fn seconds(value: Option<f64>) -> Option<u64> {
    value
        .filter(|seconds| seconds.is_finite() && (0.0..1e12).contains(seconds))
        .map(|seconds| (seconds * 1000.0).round() as u64)
}

/// An instant as others write it: RFC 3339, or the same without a zone, which is taken for UTC.
pub(super) fn instant(text: Option<&str>) -> Option<Timestamp> {
    let text = text?.trim();
    Timestamp::from_rfc3339(text).or_else(|| Timestamp::from_rfc3339(&format!("{}Z", text.replacen(' ', "T", 1))))
}

/// Milliseconds between two instants; `None` where one is unknown or they are the wrong way round.
pub(super) fn between(from: Option<Timestamp>, to: Option<Timestamp>) -> Option<u64> {
    let (from, to) = (from?, to?);
    (to >= from).then(|| to.ms_since(from))
}

/// Start and end of an attempt; both unknown, and a warning that names the place, where it ends before it starts.
pub(super) fn span(
    started: Option<Timestamp>,
    ended: Option<Timestamp>,
    file: &str,
    place: &str,
    findings: &mut Vec<Finding>,
) -> (Option<Timestamp>, Option<Timestamp>) {
    if started.zip(ended).is_none_or(|(started, ended)| started <= ended) {
        return (started, ended);
    }
    let message = format!("{place} ends before it starts; both times were left out");
    let hint = "look whether start and end were mixed up, or a clock was set meanwhile";
    findings.push(Finding::warning("wrong_times", file, message).hint(hint));
    (None, None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_makes_no_sense_is_unknown() {
        let mut findings = Vec::new();
        let got = [Some(0.5), Some(f64::NAN), Some(7.0), Some(-0.1), None]
            .map(|value| reward(value, "f", "score", &mut findings));
        assert_eq!(got, [Some(0.5), None, None, None, None]);
        assert_eq!(findings.len(), 3);
        let [early, late] = [1, 2].map(|at| Some(Timestamp(at)));
        let spans = [(early, late), (early, early), (late, early), (None, late), (late, None)];
        let got = spans.map(|(from, to)| span(from, to, "f", "attempt 1", &mut findings));
        assert_eq!(got, [(early, late), (early, early), (None, None), (None, late), (late, None)]);
        assert_eq!(findings.split_off(3)[0].message, "attempt 1 ends before it starts; both times were left out");
        assert_eq!([Some(1.5), Some(-1.0), Some(f64::INFINITY), None].map(seconds), [Some(1500), None, None, None]);
        for (text, want) in [
            ("2026-03-01T09:30:00Z", Some(1_772_357_400_000)),
            ("2026-03-01T09:30:00.250000", Some(1_772_357_400_250)),
            ("2026-03-01 10:30:00+01:00", Some(1_772_357_400_000)),
            ("yesterday", None),
        ] {
            assert_eq!(instant(Some(text)).map(|at| at.0), want, "{text}");
        }
    }
}
