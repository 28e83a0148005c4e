//! Server-sent events out of bytes that come in any pieces.

/// One event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SseEvent {
    /// The `event:` field; empty where there was none.
    pub event: String,
    /// The `data:` lines, joined by line breaks.
    pub data: String,
}

/// Longest event kept; a longer one is dropped whole.
const MAX_EVENT_BYTES: usize = 16 * 1024 * 1024;

/// Collects bytes and gives complete events.
#[derive(Debug, Default)]
pub struct SseReader {
    line: Vec<u8>,
    after_cr: bool,
    event: String,
    data: String,
    has_data: bool,
    too_long: bool,
}

impl SseReader {
    /// A reader at the start of a stream.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next bytes; answers the events that they complete.
    pub fn push(&mut self, mut bytes: &[u8]) -> Vec<SseEvent> {
        let mut events = Vec::new();
        if self.after_cr && !bytes.is_empty() {
            self.after_cr = false;
            bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
        }
        while let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            let (line, rest) = bytes.split_at(end);
            self.keep(line);
            events.extend(self.end_of_line());
            bytes = match rest {
                [b'\r', b'\n', rest @ ..] | [_, rest @ ..] => rest,
                [] => rest,
            };
            self.after_cr = rest == b"\r";
        }
        self.keep(bytes);
        events
    }

    fn keep(&mut self, bytes: &[u8]) {
        if self.line.len().saturating_add(self.data.len()).saturating_add(bytes.len()) <= MAX_EVENT_BYTES {
            self.line.extend_from_slice(bytes);
        } else {
            self.too_long = true;
        }
    }

    fn end_of_line(&mut self) -> Option<SseEvent> {
        let line = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&line);
        if line.is_empty() {
            return self.end_of_event();
        }
        let (field, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.event),
            "data" => {
                if self.has_data {
                    self.data.push('\n');
                }
                self.data.push_str(value);
                self.has_data = true;
            }
            _ => {}
        }
        None
    }

    fn end_of_event(&mut self) -> Option<SseEvent> {
        let event = SseEvent { event: std::mem::take(&mut self.event), data: std::mem::take(&mut self.data) };
        let had_data = std::mem::take(&mut self.has_data);
        let too_long = std::mem::take(&mut self.too_long);
        (had_data && !too_long).then_some(event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_any_size_give_the_same_events() {
        let text =
            "\u{feff}: hello\r\nevent: a\r\ndata: {\"x\":\r\ndata: \"ü\"}\r\n\r\ndata:two\n\nevent: empty\n\ndata: cut";
        let want = [
            SseEvent { event: "a".to_owned(), data: "{\"x\":\n\"ü\"}".to_owned() },
            SseEvent { event: String::new(), data: "two".to_owned() },
        ];
        for size in 1..text.len() {
            let mut reader = SseReader::new();
            let got: Vec<_> = text.as_bytes().chunks(size).flat_map(|piece| reader.push(piece)).collect();
            assert_eq!(got, want, "pieces of {size}");
        }
    }
}
