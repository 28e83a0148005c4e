//! Output on its way: redacted, kept up to a cap, and shown live at a bounded rate, so that a flood neither fills memory nor the page.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use domain::attempt::{AttemptResult, BlobRef};
use domain::finding::Finding;
use domain::trial::Phase;

use super::image;
use super::reporter::Reporter;
use crate::blobs::Blobs;
use crate::image::BuildEvent;
use crate::sandbox::{CappedLog, Redactor, Sink, StdStream, TextDecoder};

/// Bytes kept of each end of a log.
const KEPT: usize = 1 << 20;
/// Live bytes per phase in one burst, and again after each pause.
const BURST: usize = 16 << 10;
/// Bytes that the smallest piece counts for: each is an event, and a write.
const LEAST: usize = 64;
/// After how long a burst may come again.
const PAUSE: Duration = Duration::from_secs(2);

/// One of the two outputs on its way: each holds back what may be the start of a secret or of a character, whatever the other says meanwhile.
struct Cleaning {
    redactor: Redactor,
    decoder: TextDecoder,
}

/// How much may be shown now.
struct Meter {
    room: usize,
    refilled: Instant,
}

impl Default for Meter {
    fn default() -> Self {
        Self { room: BURST, refilled: Instant::now() }
    }
}

impl Meter {
    /// How many of so many bytes are shown.
    fn take(&mut self, bytes: usize) -> usize {
        if self.refilled.elapsed() > PAUSE {
            *self = Self::default();
        }
        let shown = bytes.min(self.room);
        self.room = self.room.saturating_sub(shown.max(LEAST));
        shown
    }
}

/// Takes a phase's output.
pub(super) struct PhaseLog {
    phase: Phase,
    reporter: Reporter,
    out: Cleaning,
    err: Cleaning,
    kept: CappedLog,
    meter: Meter,
}

impl PhaseLog {
    pub(super) fn new(phase: Phase, reporter: Reporter, redactor: &Redactor) -> Self {
        let cleaning = || Cleaning { redactor: redactor.clone(), decoder: TextDecoder::default() };
        Self {
            phase,
            reporter,
            out: cleaning(),
            err: cleaning(),
            kept: CappedLog::new(KEPT, KEPT),
            meter: Meter::default(),
        }
    }

    fn take(&mut self, stream: StdStream, clean: &[u8]) {
        self.kept.push(clean);
        let shown = self.meter.take(clean.len());
        let (head, _) = clean.split_at(shown);
        let text = self.of(stream).decoder.push(head);
        if !text.is_empty() {
            self.reporter.log(self.phase, text);
        }
    }

    fn of(&mut self, stream: StdStream) -> &mut Cleaning {
        match stream {
            StdStream::Out => &mut self.out,
            StdStream::Err => &mut self.err,
        }
    }

    /// Ends the log: what was kept, as text for judging, and how often a secret was taken out.
    pub(super) fn end(mut self) -> EndedLog {
        for stream in [StdStream::Out, StdStream::Err] {
            let rest = self.of(stream).redactor.finish();
            self.take(stream, &rest);
        }
        let secrets = self.out.redactor.hits() + self.err.redactor.hits();
        let bytes = self.kept.finish().bytes;
        EndedLog { bytes, secrets }
    }
}

#[async_trait]
impl Sink for PhaseLog {
    fn write(&mut self, stream: StdStream, bytes: &[u8]) {
        let clean = self.of(stream).redactor.push(bytes);
        self.take(stream, &clean);
    }

    async fn ready(&mut self) {
        self.reporter.room().await;
    }
}

/// Shows what happens to an image, as much of it as of a phase's output.
pub(super) fn progress(reporter: Reporter, redactor: Redactor) -> impl Fn(BuildEvent) + Send + Sync {
    let meter = Mutex::new(Meter::default());
    move |event| {
        let text = image::line(event);
        let shown = meter.lock().unwrap_or_else(PoisonError::into_inner).take(text.len());
        if shown == text.len() {
            reporter.log(Phase::Preparing, redactor.clean_text(&text));
        }
    }
}

/// A phase's output after its end.
pub(super) struct EndedLog {
    pub(super) bytes: Vec<u8>,
    /// Secrets taken out.
    pub(super) secrets: u64,
}

impl EndedLog {
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    /// Stores it; an empty log is no blob.
    pub(super) async fn store(self, blobs: &dyn Blobs) -> std::io::Result<Option<BlobRef>> {
        if self.bytes.is_empty() {
            return Ok(None);
        }
        blobs.put(self.bytes).await.map(Some)
    }
}

/// Takes secrets out of everything that others have said, whoever passed it on: names of files and tests, last words.
pub(super) fn clean(result: &mut AttemptResult, redactor: &Redactor) {
    let mut found = 0;
    for text in result.texts_mut() {
        let clean = redactor.clean_text(text);
        if clean != *text {
            found += 1;
            *text = clean;
        }
    }
    if found > 0 {
        result.findings.push(secret_printed("a name or message", found));
    }
}

/// For a person who gave the secret.
pub(super) fn secret_printed(who: &str, times: u64) -> Finding {
    let message = format!(
        "{who} held a secret of this run (a key of the settings, or the trial's own); it was taken out {times} times before anything was kept"
    );
    Finding::warning("secret_printed", "output", message).hint("change the secret if others have seen the container")
}

/// Milliseconds.
pub(super) fn ms(since: Instant) -> u64 {
    u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use domain::id::AttemptId;
    use domain::order::Happening;
    use domain::time::Timestamp;

    use super::*;

    #[test]
    fn a_secret_is_found_although_the_other_output_speaks_within_it() {
        let (events, mut told) = tokio::sync::mpsc::channel(crate::trial::EVENTS_AHEAD);
        let reporter = Reporter::new(AttemptId(1), Arc::new(|| Timestamp(0)), events);
        let redactor = Redactor::new(["sk-test-0000EXAMPLE0000KEY"]);
        let mut log = PhaseLog::new(Phase::Verifying, reporter, &redactor);
        for (stream, bytes) in [
            (StdStream::Out, &b"key sk-test-0000"[..]),
            (StdStream::Err, b"warning: gr\xc3"),
            (StdStream::Out, b"EXAMPLE0000KEY."),
            (StdStream::Err, b"\xbcn"),
            (StdStream::Out, b" sk-te"),
        ] {
            log.write(stream, bytes);
        }
        let ended = log.end();
        assert_eq!((ended.text().as_str(), ended.secrets), ("key warning: gr\u{fffd}[secret].\u{fffd}n sk-te", 1));
        let mut live = String::new();
        while let Ok(event) = told.try_recv() {
            if let Happening::Log { text, .. } = event.what {
                live.push_str(&text);
            }
        }
        assert_eq!(live, "key warning: gr[secret].\u{fc}n sk-te");
    }

    #[test]
    fn a_flood_is_shown_at_a_bounded_rate_of_bytes_and_of_pieces() {
        for (name, piece, most) in [("long pieces", 4096, 4), ("bytes", 1, 256), ("all at once", 1 << 20, 1)] {
            let mut meter = Meter::default();
            let shown: Vec<usize> = (0..1000).map(|_| meter.take(piece)).filter(|shown| *shown > 0).collect();
            assert_eq!(shown.len(), most, "{name}");
            assert!(shown.iter().sum::<usize>() <= BURST, "{name}");
        }
    }
}
