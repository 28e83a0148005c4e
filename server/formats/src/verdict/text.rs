//! Hostile text made fit for a page: capped, without terminal colours.

/// The first `limit` characters; a cut is marked. Control characters other than line feeds and tabs become blanks.
pub(super) fn head(text: &str, limit: usize) -> String {
    let mut short: String = text.chars().take(limit).map(printable).collect();
    if text.chars().nth(limit).is_some() {
        short.push('…');
    }
    short
}

/// The last `limit` characters; a cut is marked.
pub(super) fn tail(text: &str, limit: usize) -> String {
    let length = text.chars().count();
    let short: String = text.chars().skip(length.saturating_sub(limit)).map(printable).collect();
    if length > limit { format!("…{short}") } else { short }
}

/// A line without its terminal colour codes (`ESC [ … letter`).
pub(super) fn without_colours(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' && chars.peek() == Some(&'[') {
            for code in chars.by_ref() {
                if code.is_ascii_alphabetic() {
                    break;
                }
            }
        } else {
            plain.push(c);
        }
    }
    plain
}

fn printable(c: char) -> char {
    if c.is_control() && c != '\n' && c != '\t' { ' ' } else { c }
}
