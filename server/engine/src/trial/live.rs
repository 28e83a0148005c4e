//! Output on its way: redacted, kept up to a cap, and shown live at a bounded rate, so that a flood neither fills memory nor the page.

use std::time::{Duration, Instant};

use domain::attempt::{AttemptResult, BlobRef};
use domain::finding::Finding;
use domain::trial::Phase;

use super::reporter::Reporter;
use crate::blobs::Blobs;
use crate::sandbox::{CappedLog, Redactor, Sink, StdStream, TextDecoder};

/// Bytes kept of each end of a log.
const KEPT: usize = 1 << 20;
/// Live bytes per phase in one burst, and again after each pause.
const BURST: usize = 16 << 10;
/// After how long a burst may come again.
const PAUSE: Duration = Duration::from_secs(2);

/// One of the two outputs on its way: each holds back what may be the start of a secret or of a character, whatever the other says meanwhile.
struct Cleaning {
    redactor: Redactor,
    decoder: TextDecoder,
}

/// Takes a phase's output.
pub(super) struct PhaseLog {
    phase: Phase,
    reporter: Reporter,
    out: Cleaning,
    err: Cleaning,
    kept: CappedLog,
    room: usize,
    refilled: Instant,
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
            room: BURST,
            refilled: Instant::now(),
        }
    }

    fn take(&mut self, stream: StdStream, clean: &[u8]) {
        self.kept.push(clean);
        if self.refilled.elapsed() > PAUSE {
            self.room = BURST;
            self.refilled = Instant::now();
        }
        let shown = clean.len().min(self.room);
        self.room -= shown;
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

impl Sink for PhaseLog {
    fn write(&mut self, stream: StdStream, bytes: &[u8]) {
        let clean = self.of(stream).redactor.push(bytes);
        self.take(stream, &clean);
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
        let (events, mut told) = tokio::sync::mpsc::unbounded_channel();
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
}
