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

/// Takes a phase's output.
pub(super) struct PhaseLog {
    phase: Phase,
    reporter: Reporter,
    redactor: Redactor,
    decoder: TextDecoder,
    kept: CappedLog,
    room: usize,
    refilled: Instant,
}

impl PhaseLog {
    pub(super) fn new(phase: Phase, reporter: Reporter, redactor: &Redactor) -> Self {
        Self {
            phase,
            reporter,
            redactor: redactor.clone(),
            decoder: TextDecoder::default(),
            kept: CappedLog::new(KEPT, KEPT),
            room: BURST,
            refilled: Instant::now(),
        }
    }

    fn take(&mut self, clean: &[u8]) {
        self.kept.push(clean);
        if self.refilled.elapsed() > PAUSE {
            self.room = BURST;
            self.refilled = Instant::now();
        }
        let shown = clean.len().min(self.room);
        self.room -= shown;
        let (head, _) = clean.split_at(shown);
        let text = self.decoder.push(head);
        if !text.is_empty() {
            self.reporter.log(self.phase, text);
        }
    }

    /// Ends the log: what was kept, as text for judging, and how often a secret was taken out.
    pub(super) fn end(mut self) -> EndedLog {
        let rest = self.redactor.finish();
        self.take(&rest);
        let secrets = self.redactor.hits();
        let bytes = self.kept.finish().bytes;
        EndedLog { bytes, secrets }
    }
}

impl Sink for PhaseLog {
    fn write(&mut self, _: StdStream, bytes: &[u8]) {
        let clean = self.redactor.push(bytes);
        self.take(&clean);
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
