//! A program's output while it runs: all of it to the log, standard output to the reader of its record, and each step that this completes to
//! the trace.

use async_trait::async_trait;
use formats::trace::{Reading, TraceReader};

use super::Record;
use crate::agent::recorder::Recorder;
use crate::sandbox::{CappedLog, Sink, StdStream, plain_text};

/// Bytes kept of the end of standard error.
const WORDS: usize = 2048;

/// Takes the output of one run.
pub(super) struct Output<'a, 'r> {
    /// `None` where the record is not on standard output.
    reader: Option<TraceReader>,
    log: &'a mut dyn Sink,
    recorder: &'a mut Recorder<'r>,
    errors: CappedLog,
}

impl<'a, 'r> Output<'a, 'r> {
    pub(super) fn new(record: Record, log: &'a mut dyn Sink, recorder: &'a mut Recorder<'r>) -> Self {
        let reader = match record {
            Record::Output(format) => Some(TraceReader::new(format)),
            Record::File(..) => None,
        };
        Self { reader, log, recorder, errors: CappedLog::new(0, WORDS) }
    }

    /// The end of the record, and the last words on standard error.
    pub(super) fn end(self) -> (Reading, String) {
        let errors = self.errors.finish().bytes;
        let words = plain_text(&String::from_utf8_lossy(&errors));
        (self.reader.map(TraceReader::finish).unwrap_or_default(), words.trim().to_owned())
    }
}

#[async_trait]
impl Sink for Output<'_, '_> {
    fn write(&mut self, stream: StdStream, bytes: &[u8]) {
        self.log.write(stream, bytes);
        match stream {
            StdStream::Err => self.errors.push(bytes),
            StdStream::Out => {
                let Some(reader) = &mut self.reader else { return };
                reader.push(bytes);
                for step in reader.take_steps() {
                    self.recorder.record(step);
                }
            }
        }
    }

    fn finish(&mut self) {
        self.log.finish();
    }

    async fn ready(&mut self) {
        self.log.ready().await;
    }
}
