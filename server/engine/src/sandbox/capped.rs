//! A log that keeps its head and its tail, with memory that does not grow.

/// Collects output; keeps the first and the last bytes and counts what lies between.
#[derive(Debug, Clone)]
pub struct CappedLog {
    head_cap: usize,
    tail_cap: usize,
    head: Vec<u8>,
    tail: Vec<u8>,
    total: u64,
}

/// What a [`CappedLog`] has kept: raw bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptLog {
    /// Head, a line that says how much is left out (if any is), tail.
    pub bytes: Vec<u8>,
    /// Bytes that were written altogether.
    pub total: u64,
    /// Bytes that are not in `bytes`.
    pub left_out: u64,
}

impl CappedLog {
    /// Keeps `head` and `tail` bytes.
    #[must_use]
    pub const fn new(head: usize, tail: usize) -> Self {
        Self { head_cap: head, tail_cap: tail, head: Vec::new(), tail: Vec::new(), total: 0 }
    }

    /// Takes some bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
        let room = self.head_cap.saturating_sub(self.head.len());
        let (head, rest) = bytes.split_at(room.min(bytes.len()));
        self.head.extend_from_slice(head);
        let skip = rest.len().saturating_sub(self.tail_cap);
        let (_, rest) = rest.split_at(skip);
        self.tail.extend_from_slice(rest);
        // Twice the cap before cutting: each byte is moved once on average.
        if self.tail.len() > self.tail_cap.saturating_mul(2) {
            self.cut_tail();
        }
    }

    fn cut_tail(&mut self) {
        let extra = self.tail.len().saturating_sub(self.tail_cap);
        self.tail.drain(..extra);
    }

    /// Bytes written so far.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.total
    }

    /// What is kept.
    #[must_use]
    pub fn finish(mut self) -> KeptLog {
        self.cut_tail();
        let left_out = self.total - (self.head.len() + self.tail.len()) as u64;
        let mut bytes = self.head;
        if left_out > 0 {
            bytes.extend_from_slice(format!("\n[{left_out} bytes left out]\n").as_bytes());
        }
        bytes.extend_from_slice(&self.tail);
        KeptLog { bytes, total: self.total, left_out }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(chunks: &[&str], want: &str, left_out: u64) {
        let mut log = CappedLog::new(4, 4);
        for chunk in chunks {
            log.push(chunk.as_bytes());
        }
        let kept = log.finish();
        assert_eq!((String::from_utf8(kept.bytes).unwrap().as_str(), kept.left_out), (want, left_out), "{chunks:?}");
    }

    #[test]
    fn head_and_tail_stay_and_the_rest_is_counted() {
        check(&[], "", 0);
        check(&["abcdefgh"], "abcdefgh", 0);
        check(&["abc", "defgh", "i"], "abcd\n[1 bytes left out]\nfghi", 1);
        check(&["abcdefghijklmnopqrstuvwxyz"], "abcd\n[18 bytes left out]\nwxyz", 18);
        check(
            &["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n"],
            "abcd\n[6 bytes left out]\nklmn",
            6,
        );
    }

    #[test]
    fn memory_stays_within_its_bounds() {
        let mut log = CappedLog::new(1000, 1000);
        for _ in 0..10_000 {
            log.push(&[b'x'; 777]);
            assert!(log.head.len() <= 1000 && log.tail.len() <= 3000);
        }
        assert_eq!(log.finish().total, 7_770_000);
    }
}
