//! What the forwarder says: that it is ready, and which names it was asked for.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bollard::container::LogOutput;
use futures::StreamExt;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::sandbox::SandboxError;
use crate::sandbox::docker::SidecarOutput;

const LONGEST_START: Duration = Duration::from_secs(30);
/// The forwarder tells no more than this; more would not be its.
const MOST_NAMES: usize = 200;
const LONGEST_LINE: usize = 4096;

/// A forwarder that listens.
pub(super) struct Heard {
    names: Arc<Mutex<Vec<String>>>,
    listening: JoinHandle<()>,
}

impl Heard {
    /// Waits until it is ready.
    ///
    /// # Errors
    /// What it said where it ended instead.
    pub(super) async fn once_ready(output: SidecarOutput) -> Result<Self, SandboxError> {
        let what = "start the forwarder of a closed network";
        let mut lines = Lines { output, rest: String::new() };
        let first = timeout(LONGEST_START, lines.next()).await;
        let first = first
            .map_err(|_elapsed| SandboxError::Timeout { what: what.to_owned(), seconds: LONGEST_START.as_secs() })?;
        match first.as_deref() {
            Some("ready") => {}
            Some(other) => return Err(SandboxError::other(what, other)),
            None => return Err(SandboxError::other(what, "it ended without a word")),
        }
        let names = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&names);
        let listening = tokio::spawn(async move {
            while let Some(line) = lines.next().await {
                if let Some(name) = line.strip_prefix("name ") {
                    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                    if kept.len() < MOST_NAMES {
                        kept.push(name.to_owned());
                    }
                }
            }
        });
        Ok(Self { names, listening })
    }

    pub(super) fn names(&self) -> Vec<String> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Heard {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

/// The output line by line.
struct Lines {
    output: SidecarOutput,
    rest: String,
}

impl Lines {
    async fn next(&mut self) -> Option<String> {
        loop {
            if let Some((line, rest)) = self.rest.split_once('\n') {
                let line = line.to_owned();
                self.rest = rest.to_owned();
                return Some(line);
            }
            match self.output.next().await {
                Some(Ok(LogOutput::StdOut { message } | LogOutput::StdErr { message }))
                    if self.rest.len() < LONGEST_LINE =>
                {
                    self.rest.push_str(&String::from_utf8_lossy(&message));
                }
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return Some(std::mem::take(&mut self.rest)).filter(|rest| !rest.is_empty()),
            }
        }
    }
}
