//! A key that cannot be printed by accident.

use std::fmt;

/// A secret text. `Debug` and `Display` show the last four characters at most; it has no serialised form.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

/// Shorter secrets show nothing: four characters of them would be too much.
const SHOWN_FROM: usize = 12;

impl Secret {
    /// Takes the text as it is, without surrounding white space (keys often come from files that end in a line break).
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self(text.trim().to_owned())
    }

    /// The secret itself: for the header of an upstream call, and for nothing else.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// `text` with each occurrence of the secret replaced by its shown form.
    #[must_use]
    pub fn redact(&self, text: &str) -> String {
        if self.0.is_empty() { text.to_owned() } else { text.replace(&self.0, &self.to_string()) }
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let length = self.0.chars().count();
        let shown: String = self.0.chars().skip(length.saturating_sub(4)).collect();
        if length < SHOWN_FROM { f.write_str("…") } else { write!(f, "…{shown}") }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secret({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::Secret;

    #[test]
    fn at_most_four_characters_are_shown() {
        for (text, shown) in [("sk-test-0000EXAMPLE0000KEY\n", "…0KEY"), ("short", "…"), ("", "…")] {
            let secret = Secret::new(text);
            assert_eq!(secret.to_string(), shown);
            assert_eq!(format!("{secret:?}"), format!("Secret({shown})"));
        }
        assert_eq!(Secret::new("sk-test-0000EXAMPLE0000KEY").redact("k=sk-test-0000EXAMPLE0000KEY!"), "k=…0KEY!");
        assert_eq!(Secret::new("").redact("text"), "text");
    }
}
