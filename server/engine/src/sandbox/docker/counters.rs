//! What a container has used, as its own control group counts it.

use std::sync::{Mutex, PoisonError};

use crate::sandbox::Usage;

/// One reading of the control group.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Reading {
    pub oom_kills: Option<u64>,
    pub peak_memory: Option<u64>,
}

/// Sums readings over restarts, which set the control group's own counters back.
#[derive(Debug, Default)]
pub(super) struct Counters(Mutex<Sums>);

#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    before_restart: u64,
    last: Option<u64>,
    peak: Option<u64>,
}

impl Counters {
    /// Takes a reading in; answers the memory kills since the one before.
    pub fn take(&self, reading: Reading) -> Option<u64> {
        let mut sums = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let since = reading.oom_kills.map(|now| now.saturating_sub(sums.last.unwrap_or(0)));
        sums.last = reading.oom_kills.or(sums.last);
        sums.peak = sums.peak.max(reading.peak_memory);
        since
    }

    /// The container was restarted.
    pub fn restarted(&self) {
        let mut sums = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sums.before_restart += sums.last.unwrap_or(0);
        sums.last = None;
    }

    /// Everything so far.
    pub fn usage(&self) -> Usage {
        let sums = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Usage { oom_kills: sums.last.map(|last| last + sums.before_restart), peak_memory: sums.peak }
    }
}
