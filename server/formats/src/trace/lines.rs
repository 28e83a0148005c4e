//! Cuts a stream into lines of bounded length.

/// Longest line that is read, in bytes.
pub(super) const LONGEST: usize = 16 * 1024 * 1024;

/// One line, without its end.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// A line with a line feed.
    Whole(&'a [u8]),
    /// What stands after the last line feed.
    Tail(&'a [u8]),
    /// A line that was too long.
    LeftOut {
        /// Its length.
        bytes: u64,
    },
}

/// Holds at most one line.
#[derive(Debug, Default)]
pub(super) struct Lines {
    held: Vec<u8>,
    /// Length so far of a line that is being left out.
    skipped: Option<u64>,
}

impl Lines {
    /// Takes the next bytes and gives each line that ends in them.
    pub(super) fn push(&mut self, bytes: &[u8], mut take: impl FnMut(Line<'_>)) {
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let (piece, after) = rest.split_at(end);
            self.end_line(piece, &mut take);
            rest = after.get(1..).unwrap_or_default();
        }
        self.hold(rest);
    }

    /// Gives what is left.
    pub(super) fn finish(&mut self, mut take: impl FnMut(Line<'_>)) {
        match self.skipped.take() {
            Some(bytes) => take(Line::LeftOut { bytes }),
            None if self.held.is_empty() => {}
            None => take(Line::Tail(&self.held)),
        }
        self.held = Vec::new();
    }

    fn end_line(&mut self, piece: &[u8], take: &mut impl FnMut(Line<'_>)) {
        if self.held.is_empty() && self.skipped.is_none() && piece.len() <= LONGEST {
            return take(Line::Whole(piece));
        }
        self.hold(piece);
        match self.skipped.take() {
            Some(bytes) => take(Line::LeftOut { bytes }),
            None => take(Line::Whole(&self.held)),
        }
        self.held.clear();
    }

    fn hold(&mut self, piece: &[u8]) {
        let length = piece.len() as u64;
        if let Some(skipped) = &mut self.skipped {
            *skipped = skipped.saturating_add(length);
        } else if self.held.len().saturating_add(piece.len()) > LONGEST {
            self.skipped = Some((self.held.len() as u64).saturating_add(length));
            self.held = Vec::new();
        } else {
            self.held.extend_from_slice(piece);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &[u8], size: usize) -> Vec<String> {
        let mut lines = Lines::default();
        let mut got = Vec::new();
        let mut keep = |line: Line<'_>| {
            got.push(match line {
                Line::Whole(bytes) if bytes.len() > 100 => format!("{} bytes", bytes.len()),
                Line::Whole(bytes) => String::from_utf8_lossy(bytes).into_owned(),
                Line::Tail(bytes) => format!("tail {}", String::from_utf8_lossy(bytes)),
                Line::LeftOut { bytes } => format!("left out {bytes}"),
            });
        };
        text.chunks(size).for_each(|piece| lines.push(piece, &mut keep));
        lines.finish(&mut keep);
        got
    }

    #[test]
    fn lines_are_the_same_however_the_stream_is_cut() {
        for size in [1, 2, 3, 100] {
            assert_eq!(cut(b"a\n\nbc\r\nd", size), ["a", "", "bc\r", "tail d"]);
        }
        assert!(cut(b"", 1).is_empty());
    }

    #[test]
    fn a_line_over_the_limit_is_left_out_and_the_next_is_read() {
        let mut text = vec![b'x'; LONGEST];
        text.extend_from_slice(b"\n");
        text.extend(vec![b'y'; LONGEST + 1]);
        text.extend_from_slice(b"\nnext\n");
        let want = [format!("{LONGEST} bytes"), format!("left out {}", LONGEST + 1), "next".to_owned()];
        assert_eq!(cut(&text, 1 << 20), want);
        assert_eq!(cut(&text, text.len()), want);
    }
}
