//! Numbers as people read them: a true minus, signs on differences, a dash for the unknown.

use crate::stats::interval::Interval;

/// `—`, shown for what is not known; never 0.
pub const UNKNOWN: &str = "—";

/// A share as a percentage: `0.333` → `33 %`. One decimal where it matters (below 10 % and not whole).
#[must_use]
pub fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| UNKNOWN.to_owned(), |share| format!("{} %", plain(share * 100.0)))
}

/// A difference of shares in percentage points, signed: `+15 pp`, `−3.5 pp`.
#[must_use]
pub fn points(share: Option<f64>) -> String {
    share.map_or_else(|| UNKNOWN.to_owned(), |share| format!("{} pp", signed(share * 100.0)))
}

/// The same without the unit, for lists and scales that name it once: `+15`, `−3.5`.
#[must_use]
pub fn bare_points(share: f64) -> String {
    signed(share * 100.0)
}

/// The same with the unit in words, where a reader meets it first: `+15 percentage points`.
#[must_use]
pub fn points_in_words(share: f64) -> String {
    let points = bare_points(share);
    let unit = if matches!(points.as_str(), "+1" | "−1") { "percentage point" } else { "percentage points" };
    format!("{points} {unit}")
}

/// An interval of differences of shares: `−4 to +26`.
#[must_use]
pub fn bare_interval(interval: Interval) -> String {
    format!("{} to {}", bare_points(interval.low), bare_points(interval.high))
}

/// A relative change in per cent, signed: `+22 %`.
#[must_use]
pub fn change(share: Option<f64>) -> String {
    share.map_or_else(|| UNKNOWN.to_owned(), |share| format!("{} %", signed(share * 100.0)))
}

/// Tokens: `812`, `12.3k`, `4.1M`.
#[must_use]
pub fn tokens(count: Option<f64>) -> String {
    match count {
        None => UNKNOWN.to_owned(),
        Some(count) if count < 999.5 => format!("{count:.0}"),
        Some(count) if count < 999_950.0 => format!("{:.1}k", count / 1e3),
        Some(count) => format!("{:.1}M", count / 1e6),
    }
}

/// Milliseconds as `850 ms`, `12.3 s`, `4 min 05 s` or `2 h 30 min`.
#[must_use]
pub fn duration(ms: Option<u64>) -> String {
    match ms {
        None => UNKNOWN.to_owned(),
        Some(ms) if ms < 1000 => format!("{ms} ms"),
        Some(ms) if ms < 60_000 => format!("{:.1} s", ms as f64 / 1e3),
        Some(ms) if ms < 3_600_000 => format!("{} min {:02} s", ms / 60_000, ms % 60_000 / 1000),
        Some(ms) => format!("{} h {:02} min", count(ms / 3_600_000), ms % 3_600_000 / 60_000),
    }
}

/// A count with a narrow space between thousands: `12 345`.
#[must_use]
pub fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

/// A number of things: `1 task`, `3 tasks`, `2 repositories`.
#[must_use]
pub fn counted(n: impl Into<u64>, what: &str) -> String {
    match (n.into(), what.strip_suffix('y')) {
        (1, _) => format!("1 {what}"),
        (n, None) => format!("{n} {what}s"),
        (n, Some(stem)) => format!("{n} {stem}ies"),
    }
}

/// An amount of money in the price table's currency: `0.0042`, `1.30`, `214`.
#[must_use]
pub fn money(amount: Option<f64>) -> String {
    match amount {
        None => UNKNOWN.to_owned(),
        Some(0.0) => "0".to_owned(),
        Some(amount) if amount.abs() < 0.1 => format!("{amount:.4}"),
        Some(amount) if amount.abs() < 100.0 => format!("{amount:.2}"),
        Some(amount) => format!("{amount:.0}"),
    }
}

/// A p-value: `0.031`, `< 0.001`.
#[must_use]
pub fn p_value(p: Option<f64>) -> String {
    match p {
        None => UNKNOWN.to_owned(),
        Some(p) if p < 0.001 => "< 0.001".to_owned(),
        Some(p) => format!("{p:.3}"),
    }
}

/// A probability as how often to expect it: `fewer than 1 in 1000`, `about 4 in 1000`, `about 31 in 100`.
#[must_use]
pub fn how_often(p: f64) -> String {
    match p {
        p if p < 0.001 => "fewer than 1 in 1000".to_owned(),
        p if p < 0.0095 => format!("about {:.0} in 1000", p * 1e3),
        p if p < 0.995 => format!("about {:.0} in 100", p * 1e2),
        _ => "nearly all".to_owned(),
    }
}

/// An e-value: `0.4`, `26`, `1.2e9`.
#[must_use]
pub fn e_value(e: Option<f64>) -> String {
    match e {
        None => UNKNOWN.to_owned(),
        Some(e) if e < 1e6 => plain(e),
        Some(e) => format!("{e:.1e}"),
    }
}

fn signed(value: f64) -> String {
    let text = plain(value.abs());
    match text.as_str() {
        "0" => text,
        _ if value < 0.0 => format!("−{text}"),
        _ => format!("+{text}"),
    }
}

/// Whole from 10 on, else one decimal where it is not whole.
fn plain(value: f64) -> String {
    let tenths = (value * 10.0).round() / 10.0;
    // `format!` rounds halves to the even neighbour, people round them away from 0.
    let text = match tenths.abs() >= 10.0 {
        true => format!("{:.0}", value.round()),
        false if tenths.fract() == 0.0 => format!("{tenths:.0}"),
        false => format!("{tenths:.1}"),
    };
    if text == "-0" { "0".to_owned() } else { text.replace('-', "−") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_people_write_them() {
        assert_eq!(
            [percent(Some(0.333)), percent(Some(0.0)), percent(Some(0.025)), percent(None)],
            ["33 %", "0 %", "2.5 %", "—"]
        );
        let halves = [0.125, 0.375, 0.995, -0.125].map(|share| points(Some(share)));
        assert_eq!(halves, ["+13 pp", "+38 pp", "+100 pp", "−13 pp"]);
        assert_eq!(
            [points(Some(0.154)), points(Some(-0.035)), points(Some(0.0)), points(None)],
            ["+15 pp", "−3.5 pp", "0 pp", "—"]
        );
        assert_eq!(
            [0.154, 0.01, -0.01, 0.0].map(points_in_words),
            ["+15 percentage points", "+1 percentage point", "−1 percentage point", "0 percentage points"]
        );
        assert_eq!(bare_interval(Interval { low: -0.04, high: 0.263 }), "−4 to +26");
        assert_eq!(
            [1e-9, 0.0009, 0.004, 0.0094, 0.0096, 0.312, 1.0].map(how_often),
            [
                "fewer than 1 in 1000",
                "fewer than 1 in 1000",
                "about 4 in 1000",
                "about 9 in 1000",
                "about 1 in 100",
                "about 31 in 100",
                "nearly all"
            ]
        );
        assert_eq!([change(Some(0.22)), change(Some(-1.0)), change(Some(-0.0001))], ["+22 %", "−100 %", "0 %"]);
        assert_eq!([tokens(Some(812.0)), tokens(Some(12_345.0)), tokens(Some(4_100_000.0))], ["812", "12.3k", "4.1M"]);
        assert_eq!(
            [850, 12_345, 245_000, 9_059_000].map(|ms| duration(Some(ms))),
            ["850 ms", "12.3 s", "4 min 05 s", "2 h 30 min"]
        );
        assert_eq!(
            [money(Some(0.0042)), money(Some(1.3)), money(Some(214.4)), money(Some(0.0)), money(None)],
            ["0.0042", "1.30", "214", "0", "—"]
        );
        assert_eq!([counted(1_u64, "repository"), counted(2_u64, "repository")], ["1 repository", "2 repositories"]);
        assert_eq!(
            [e_value(Some(0.26)), e_value(Some(50.27)), e_value(Some(1.234e9)), e_value(None)],
            ["0.3", "50", "1.2e9", "—"]
        );
        assert_eq!([p_value(Some(0.03125)), p_value(Some(1e-9)), p_value(Some(1.0))], ["0.031", "< 0.001", "1.000"]);
    }
}
