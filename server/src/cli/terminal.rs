//! Words to who looks at the terminal. One who no longer listens (`| head`) ends nothing: what runs, runs on, and is cleaned up after.

use std::borrow::Cow;
use std::io::{self, IsTerminal as _, Write as _};

use super::Failure;

/// A line beside the result.
pub fn tell(line: &str) {
    // Nobody is left to be told that nobody listens.
    let _ = writeln!(io::stderr().lock(), "{}", harmless(line));
}

/// A line of a list. A reader who has seen enough of it (`| head`) ends nothing.
pub fn line(line: &str) {
    let _ = writeln!(io::stdout().lock(), "{}", harmless(line));
}

/// The result itself.
///
/// # Errors
/// Where it cannot be written; a reader that has seen enough is no error.
pub fn print(text: &str) -> Result<(), Failure> {
    // A file gets what there is; a terminal obeys what is in it.
    let text = if io::stdout().is_terminal() { harmless(text) } else { Cow::Borrowed(text) };
    match io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// The text with what moves cursors, colours or turns the direction of writing made visible: names and titles are foreign.
fn harmless(text: &str) -> Cow<'_, str> {
    let moves = |c: char| {
        (c.is_control() && !matches!(c, '\n' | '\t'))
            || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    if !text.contains(moves) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(|c| if moves(c) { '\u{fffd}' } else { c }).collect())
}

#[cfg(test)]
mod tests {
    use super::harmless;

    #[test]
    fn foreign_text_moves_nothing() {
        for (text, want) in [
            ("a\tb\nÄ 1 € 🙂", "a\tb\nÄ 1 € 🙂"),
            ("\u{1b}[31mred\u{7}", "\u{fffd}[31mred\u{fffd}"),
            ("a\rb\u{9b}2J", "a\u{fffd}b\u{fffd}2J"),
            ("x\u{202e}gpj", "x\u{fffd}gpj"),
        ] {
            assert_eq!(harmless(text), want);
        }
    }
}
