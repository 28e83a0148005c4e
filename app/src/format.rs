//! Numbers as people read them. Those that the command line prints as well are made by [`domain::report::number`].

pub use domain::report::number::{
    UNKNOWN, bare_interval, change, count, duration, how_often, money, p_value, percent, points, points_in_words,
    tokens,
};
use domain::stats::interval::Interval;

/// A number with its sign, a true minus and at most one decimal.
pub fn signed(value: f64) -> String {
    let text = plain(value.abs());
    match (text.as_str(), value < 0.0) {
        ("0", _) => text,
        (_, true) => format!("−{text}"),
        (_, false) => format!("+{text}"),
    }
}

/// At most one decimal, none where it would be 0.
fn plain(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}

/// An interval of differences of shares: `−4 to +26 pp`.
pub fn points_interval(interval: Interval) -> String {
    format!("{} pp", bare_interval(interval))
}

/// An interval of relative changes: `−4 to +26 %`.
pub fn change_interval(interval: Interval) -> String {
    let low = change(Some(interval.low));
    format!("{} to {}", low.trim_end_matches(" %"), change(Some(interval.high)))
}

/// A count that may be unknown.
pub fn count_or_dash(n: Option<u64>) -> String {
    n.map_or_else(|| UNKNOWN.to_owned(), count)
}

/// A size: `340 B`, `4.2 kB`, `12 MB`.
pub fn bytes(n: Option<u64>) -> String {
    match n {
        None => UNKNOWN.to_owned(),
        Some(n) if n < 1_000 => format!("{n} B"),
        Some(n) if n < 1_000_000 => format!("{} kB", plain(n as f64 / 1_000.0)),
        Some(n) if n < 1_000_000_000 => format!("{} MB", plain(n as f64 / 1_000_000.0)),
        Some(n) => format!("{} GB", plain(n as f64 / 1_000_000_000.0)),
    }
}

/// A limit of time: `45 s`, `15 min`, `2 h 30 min`.
pub fn limit(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3_600 if seconds.is_multiple_of(60) => format!("{} min", seconds / 60),
        60..3_600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        _ if seconds % 3_600 < 60 => format!("{} h", count(seconds / 3_600)),
        _ => format!("{} h {:02} min", count(seconds / 3_600), seconds % 3_600 / 60),
    }
}

/// `1 task`, `2 tasks`.
pub fn plural(n: u64, one: &str, many: &str) -> String {
    format!("{} {}", count(n), if n == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_written_in_the_style_guide() {
        for (got, want) in [
            (signed(2.04), "+2"),
            (signed(-0.35), "−0.3"),
            (signed(-0.01), "0"),
            (Interval::new(-0.04, 0.26).map(points_interval).unwrap_or_default(), "−4 to +26 pp"),
            (Interval::new(-0.04, 0.26).map(change_interval).unwrap_or_default(), "−4 to +26 %"),
            (count(1_234_567), "1\u{202f}234\u{202f}567"),
            (count_or_dash(None), "—"),
            (bytes(Some(12_000_000)), "12 MB"),
            (bytes(None), "—"),
            (limit(45), "45 s"),
            (limit(900), "15 min"),
            (limit(9_000), "2 h 30 min"),
            (limit(7_201), "2 h"),
            (plural(1, "task", "tasks"), "1 task"),
        ] {
            assert_eq!(got, want);
        }
    }
}
