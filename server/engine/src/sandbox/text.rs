//! Bytes of a command as text for people. What is stored stays bytes.

/// Decodes UTF-8 that comes in chunks: a character split over two chunks comes out whole, what is no UTF-8 becomes U+FFFD.
#[derive(Debug, Clone, Default)]
pub struct TextDecoder {
    pending: Vec<u8>,
}

impl TextDecoder {
    /// An empty one.
    #[must_use]
    pub const fn new() -> Self {
        Self { pending: Vec::new() }
    }

    /// The text of `bytes`, less an unfinished character at its end, which is held until the next call.
    pub fn push(&mut self, bytes: &[u8]) -> String {
        self.pending.extend_from_slice(bytes);
        let unfinished = unfinished_tail(&self.pending);
        let rest = self.pending.split_off(self.pending.len() - unfinished);
        let text = String::from_utf8_lossy(&self.pending).into_owned();
        self.pending = rest;
        text
    }

    /// What was held.
    pub fn finish(&mut self) -> String {
        String::from_utf8_lossy(&std::mem::take(&mut self.pending)).into_owned()
    }
}

/// How many bytes at the end could be the start of a character.
fn unfinished_tail(bytes: &[u8]) -> usize {
    for length in 1..=bytes.len().min(3) {
        let (_, tail) = bytes.split_at(bytes.len() - length);
        match std::str::from_utf8(tail) {
            Ok(_) => return 0,
            Err(error) if error.valid_up_to() == 0 && error.error_len().is_none() => return length,
            Err(_) => {}
        }
    }
    0
}

/// Text without colours and cursor movements; of a line that was overwritten (a progress bar) only its last state; NUL shown as U+FFFD.
#[must_use]
pub fn plain_text(text: &str) -> String {
    let stripped = anstream::adapter::strip_str(&text.replace('\0', "\u{fffd}")).to_string();
    let mut plain = String::with_capacity(stripped.len());
    for line in stripped.split_inclusive('\n') {
        let (body, end) = line.strip_suffix('\n').map_or((line, ""), |body| (body, "\n"));
        let body = body.strip_suffix('\r').unwrap_or(body);
        let last = body.rsplit('\r').find(|state| !state.is_empty()).unwrap_or("");
        plain.push_str(last);
        plain.push_str(end);
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(chunks: &[&[u8]]) -> String {
        let mut decoder = TextDecoder::new();
        let mut text: String = chunks.iter().map(|chunk| decoder.push(chunk)).collect();
        text.push_str(&decoder.finish());
        text
    }

    #[test]
    fn characters_come_out_whole_wherever_the_chunks_end() {
        let text = "a羊é😀\u{fffd}z".as_bytes();
        for first in 0..=text.len() {
            for second in first..=text.len() {
                let (head, tail) = text.split_at(second);
                let (one, two) = head.split_at(first);
                assert_eq!(decode(&[one, two, tail]).as_bytes(), text, "{first} {second}");
            }
        }
        assert_eq!(decode(&[b"bad \xff\xfe bytes"]), "bad \u{fffd}\u{fffd} bytes");
        assert_eq!(decode(&[b"cut \xe7\xbe"]), "cut \u{fffd}");
    }

    #[test]
    fn plain_text_is_what_a_terminal_would_show_in_the_end() {
        for (raw, want) in [
            ("\x1b[31mred\x1b[0m\n", "red\n"),
            ("\rstep 1/3\rstep 2/3\rstep 3/3\n", "step 3/3\n"),
            ("a\r\nb\r\n", "a\nb\n"),
            ("50%\r", "50%"),
            ("nul \0 here", "nul \u{fffd} here"),
            ("tab\there", "tab\there"),
        ] {
            assert_eq!(plain_text(raw), want, "{raw:?}");
        }
    }
}
