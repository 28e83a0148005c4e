//! Says what happens to an attempt, in order, to whoever ordered it.

use std::sync::Arc;

use domain::id::AttemptId;
use domain::order::{Happening, TrialEvent};
use domain::time::Timestamp;
use domain::trace::TraceStep;
use domain::trial::Phase;
use tokio::sync::mpsc;

/// Asks what time it is.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// Sends events of one attempt. Cheap to clone. A receiver that is gone is no error: the attempt is then about to be cancelled.
#[derive(Clone)]
pub(crate) struct Reporter {
    attempt: AttemptId,
    clock: Clock,
    events: mpsc::UnboundedSender<TrialEvent>,
}

impl Reporter {
    pub(crate) fn new(attempt: AttemptId, clock: Clock, events: mpsc::UnboundedSender<TrialEvent>) -> Self {
        Self { attempt, clock, events }
    }

    pub(crate) fn now(&self) -> Timestamp {
        (self.clock)()
    }

    pub(crate) fn say(&self, what: Happening) {
        let event = TrialEvent { attempt: self.attempt, at: self.now(), what };
        if self.events.send(event).is_err() {
            tracing::debug!(attempt = self.attempt.0, "nobody listens to this attempt any more");
        }
    }

    pub(crate) fn phase(&self, phase: Phase) {
        self.say(Happening::PhaseReached { phase });
    }

    pub(crate) fn log(&self, phase: Phase, text: String) {
        self.say(Happening::Log { phase, text });
    }

    pub(crate) fn step(&self, step: TraceStep) {
        self.say(Happening::StepDone { step: Box::new(step) });
    }
}
