//! Where a command's output goes while it runs.

use async_trait::async_trait;

/// Which of a command's two outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StdStream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// Takes output as it comes. Chunks end anywhere, also inside a character.
#[async_trait]
pub trait Sink: Send {
    /// Takes some bytes.
    fn write(&mut self, stream: StdStream, bytes: &[u8]);

    /// The command has ended; whatever was held back comes now.
    fn finish(&mut self) {}

    /// Waits until it can take more. Until then the command's output is not read, and the command waits.
    async fn ready(&mut self) {}
}

impl<F: FnMut(StdStream, &[u8]) + Send> Sink for F {
    fn write(&mut self, stream: StdStream, bytes: &[u8]) {
        self(stream, bytes);
    }
}

/// Throws output away.
#[derive(Debug, Clone, Copy, Default)]
pub struct Discard;

impl Sink for Discard {
    fn write(&mut self, _: StdStream, _: &[u8]) {}
}

/// Keeps the first bytes of each output, up to a cap; for short commands of our own.
#[derive(Debug, Clone)]
pub struct Collect {
    cap: usize,
    /// Standard output.
    pub out: Vec<u8>,
    /// Standard error.
    pub err: Vec<u8>,
}

impl Collect {
    /// Keeps up to `cap` bytes of each.
    #[must_use]
    pub const fn new(cap: usize) -> Self {
        Self { cap, out: Vec::new(), err: Vec::new() }
    }

    /// Standard output as text.
    #[must_use]
    pub fn out_text(&self) -> String {
        String::from_utf8_lossy(&self.out).into_owned()
    }

    /// Standard error as text.
    #[must_use]
    pub fn err_text(&self) -> String {
        String::from_utf8_lossy(&self.err).into_owned()
    }
}

impl Default for Collect {
    fn default() -> Self {
        Self::new(1 << 20)
    }
}

impl Sink for Collect {
    fn write(&mut self, stream: StdStream, bytes: &[u8]) {
        let kept = match stream {
            StdStream::Out => &mut self.out,
            StdStream::Err => &mut self.err,
        };
        let room = self.cap.saturating_sub(kept.len());
        kept.extend(bytes.iter().take(room));
    }
}
