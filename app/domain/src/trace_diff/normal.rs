//! Text without what differs between any two runs: random names, times, hashes, process numbers, ports. Two texts that
//! are equal after this are held to be the same; the raw text is what pages show. A number that may be an answer stays.

use serde_json::Value;

/// A text, its white space made one space each, its incidental words replaced by what they are.
pub(super) fn normal_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut before = "";
    for word in text.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        word_into(word, before, &mut out);
        before = word;
    }
    out
}

/// A value with its keys in order and its texts as [`normal_text`] gives them.
pub(super) fn normal_json(value: &Value) -> String {
    match value {
        Value::String(text) => normal_text(text),
        Value::Array(items) => format!("[{}]", items.iter().map(normal_json).collect::<Vec<_>>().join(",")),
        Value::Object(fields) => {
            let mut fields: Vec<_> =
                fields.iter().map(|(name, value)| format!("{name}:{}", normal_json(value))).collect();
            fields.sort();
            format!("{{{}}}", fields.join(","))
        }
        other => other.to_string(),
    }
}

/// One word between white space: its parts between signs are looked at one by one.
fn word_into(word: &str, before: &str, out: &mut String) {
    let from_here = out.len();
    let mut rest = word;
    while let Some(start) = rest.find(|c: char| c.is_ascii_alphanumeric()) {
        let (signs, from) = rest.split_at(start);
        out.push_str(signs);
        let end = from.find(|c: char| !is_part(c)).unwrap_or(from.len());
        let (part, after) = from.split_at(end);
        let done = out.get(from_here..).unwrap_or_default();
        let kept = replaced(part, done, before, after).unwrap_or(part);
        out.push_str(kept);
        rest = after;
    }
    out.push_str(rest);
}

/// Letters, digits and the signs that hold names, ids and times together.
fn is_part(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':' | '.' | '+')
}

fn replaced(part: &str, done: &str, before: &str, after: &str) -> Option<&'static str> {
    let bare = part.trim_end_matches([':', '.', '-', '+']);
    if bare.len() != part.len() {
        return None;
    }
    if is_uuid(part) {
        return Some("<uuid>");
    }
    if is_time(part) {
        return Some("<time>");
    }
    if done.ends_with("/tmp/") && is_random_name(part) {
        return Some("<tmp>");
    }
    if is_hash(part) {
        return Some("<hex>");
    }
    if is_duration(part, after) {
        return Some("<duration>");
    }
    if is_port(part, done) {
        return Some("<host>:<port>");
    }
    let says_pid = |text: &str| text.trim_matches(|c: char| !c.is_ascii_alphanumeric()).eq_ignore_ascii_case("pid");
    let is_number = part.bytes().all(|byte| byte.is_ascii_digit());
    (is_number && (says_pid(before) || done.to_ascii_lowercase().trim_end_matches(['=', ':']).ends_with("pid")))
        .then_some("<pid>")
}

fn is_uuid(part: &str) -> bool {
    let lengths = part.split('-').map(str::len);
    lengths.eq([8, 4, 4, 4, 12]) && part.bytes().all(|byte| byte == b'-' || byte.is_ascii_hexdigit())
}

/// A date with or without a time of day, a time of day, or seconds or milliseconds since 1970 of this century.
fn is_time(part: &str) -> bool {
    let digits = |text: &str, lengths: std::ops::RangeInclusive<usize>| {
        lengths.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    let clock = |text: &str| {
        let text = text.trim_end_matches('Z');
        let text = text.split('+').next().unwrap_or_default();
        let mut fields = text.split(':');
        let (Some(hour), Some(minute), second, None) = (fields.next(), fields.next(), fields.next(), fields.next())
        else {
            return false;
        };
        let whole = second.is_none_or(|second| second.split('.').next().is_some_and(|whole| digits(whole, 2..=2)));
        second.is_some() && whole && digits(hour, 2..=2) && digits(minute, 2..=2)
    };
    let date = |text: &str| {
        let mut fields = text.split('-');
        let (Some(year), Some(month), Some(day), None) = (fields.next(), fields.next(), fields.next(), fields.next())
        else {
            return false;
        };
        digits(year, 4..=4)
            && (year.starts_with("20") || year.starts_with("19"))
            && digits(month, 2..=2)
            && digits(day, 2..=2)
    };
    let epoch = digits(part, 10..=10) && matches!(part.as_bytes(), [b'1', b'5'..=b'9', ..])
        || digits(part, 13..=13) && matches!(part.as_bytes(), [b'1', b'5'..=b'9', ..]);
    match part.split_once('T') {
        Some((day, time)) => date(day) && clock(time),
        None => date(part) || clock(part) || epoch,
    }
}

/// Seven or more hexadecimal digits, letters and numbers among them: a commit, a digest, an address.
fn is_hash(part: &str) -> bool {
    let digits = part.strip_prefix("0x").unwrap_or(part);
    digits.len() >= 7
        && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
        && digits.bytes().any(|byte| byte.is_ascii_digit())
        && digits.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// As `mktemp` and its like make them: `tmp.Xa3…`, `tmpab12cd`, or eight and more letters and digits mixed.
fn is_random_name(part: &str) -> bool {
    let stem = part.split('.').next_back().unwrap_or(part);
    let mixed = |text: &str| {
        text.bytes().any(|byte| byte.is_ascii_digit()) && text.bytes().any(|byte| byte.is_ascii_alphabetic())
    };
    let made = part.strip_prefix("tmp").map(|rest| rest.trim_start_matches(['.', '_', '-']));
    made.is_some_and(|rest| rest.len() >= 6 && !rest.contains('.')) || (stem.len() >= 8 && mixed(stem))
}

/// `0.03s`, `12.5ms`: measured, as it has a fraction. `5s` may be what was asked for.
fn is_duration(part: &str, after: &str) -> bool {
    let number = part.strip_suffix("ms").or_else(|| part.strip_suffix('s'));
    let Some((whole, fraction)) = number.and_then(|number| number.split_once('.')) else { return false };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits(whole) && digits(fraction) && !after.starts_with('/')
}

/// A port of this machine's own.
fn is_port(part: &str, done: &str) -> bool {
    let Some((host, port)) = part.split_once(':') else { return false };
    let own = matches!(host, "localhost" | "127.0.0.1" | "0.0.0.0");
    own && port.len() >= 4 && port.bytes().all(|byte| byte.is_ascii_digit()) && !done.ends_with('@')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_between_any_two_runs_goes() {
        for (text, normal) in [
            ("ls   -l\n\tfiles", "ls -l files"),
            ("id 123e4567-e89b-12d3-a456-426614174000!", "id <uuid>!"),
            ("at 2026-11-30T15:39:33.120Z done", "at <time> done"),
            ("[12:04:59] 2026-01-02", "[<time>] <time>"),
            ("cat /tmp/tmp.Xa3kQ9zz/out.txt", "cat /tmp/<tmp>/out.txt"),
            ("open(\"/tmp/tmpab12cd_x\")", "open(\"/tmp/<tmp>\")"),
            ("commit 3fa2b7c9d, at 0x7f3a2b4c5d", "commit <hex>, at <hex>"),
            ("2 passed in 0.03s", "2 passed in <duration>"),
            ("http://127.0.0.1:43121/v1", "http://<host>:<port>/v1"),
            ("started, pid 4711", "started, pid <pid>"),
            ("PID=4711", "PID=<pid>"),
            ("since 1764517173", "since <time>"),
        ] {
            assert_eq!(normal_text(text), normal, "{text}");
        }
    }

    #[test]
    fn what_may_be_an_answer_stays() {
        for text in [
            "echo 12345678 > answer.txt",
            "printf 42 > out",
            "cat /tmp/test.py",
            "sleep 5s",
            "version 1.2.3",
            "deadbeef",
            "sed -n 10,20p a.rs",
            "x: y.",
            "ratio 3.50",
            "8080:80",
            "größe → 7",
        ] {
            assert_eq!(normal_text(text), text);
        }
    }

    #[test]
    fn the_order_of_keys_does_not_matter() {
        let one = serde_json::json!({"b": [1, {"z": "a  b", "y": null}], "a": true});
        let other = serde_json::json!({"a": true, "b": [1, {"y": null, "z": "a b"}]});
        assert_eq!(normal_json(&one), normal_json(&other));
    }
}
