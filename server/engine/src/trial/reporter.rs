//! Says what happens to an attempt, in order, to whoever ordered it. No more may wait than a few hundred events, however much an agent prints.

use std::sync::Arc;

use domain::id::AttemptId;
use domain::order::{Happening, TrialEvent};
use domain::time::Timestamp;
use domain::trace::TraceStep;
use domain::trial::Phase;
use tokio::sync::mpsc;
use tokio::sync::mpsc::error::TrySendError;

/// Asks what time it is.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// Events that may wait for whoever stores them: the size of the channel that an attempt is given.
pub const EVENTS_AHEAD: usize = 256;
/// Places that are free again before more output is read: more than one piece of it fills.
const ROOM: usize = EVENTS_AHEAD / 2;

/// Sends events of one attempt. Cheap to clone. A receiver that is gone is no error: the attempt is then about to be cancelled.
#[derive(Clone)]
pub(crate) struct Reporter {
    attempt: AttemptId,
    clock: Clock,
    events: mpsc::Sender<TrialEvent>,
}

impl Reporter {
    pub(crate) fn new(attempt: AttemptId, clock: Clock, events: mpsc::Sender<TrialEvent>) -> Self {
        Self { attempt, clock, events }
    }

    pub(crate) fn now(&self) -> Timestamp {
        (self.clock)()
    }

    /// Says what must not be missed: waits for a place.
    pub(crate) async fn say(&self, what: Happening) {
        if self.events.send(self.event(what)).await.is_err() {
            self.is_alone();
        }
    }

    pub(crate) async fn phase(&self, phase: Phase) {
        self.say(Happening::PhaseReached { phase }).await;
    }

    pub(crate) fn log(&self, phase: Phase, text: String) {
        self.show(Happening::Log { phase, text });
    }

    pub(crate) fn step(&self, step: TraceStep) {
        self.show(Happening::StepDone { step: Box::new(step) });
    }

    /// Waits until there is room for what the next piece of output may hold.
    pub(crate) async fn room(&self) {
        if self.events.reserve_many(ROOM).await.is_err() {
            self.is_alone();
        }
    }

    /// Shows live what is kept in a file as well: where there is no place it is passed by.
    fn show(&self, what: Happening) {
        match self.events.try_send(self.event(what)) {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => tracing::debug!(attempt = self.attempt.0, "too much to show at once"),
            Err(TrySendError::Closed(_)) => self.is_alone(),
        }
    }

    fn event(&self, what: Happening) -> TrialEvent {
        TrialEvent { attempt: self.attempt, at: self.now(), what }
    }

    fn is_alone(&self) {
        tracing::debug!(attempt = self.attempt.0, "nobody listens to this attempt any more");
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    fn reporter() -> (Reporter, mpsc::Receiver<TrialEvent>) {
        let (events, received) = mpsc::channel(EVENTS_AHEAD);
        (Reporter::new(AttemptId(1), Arc::new(|| Timestamp(0)), events), received)
    }

    #[tokio::test]
    async fn what_is_shown_takes_no_more_than_the_room_and_what_is_said_waits_for_it() {
        let (reporter, mut received) = reporter();
        for _ in 0..10 * EVENTS_AHEAD {
            reporter.log(Phase::Agent, "baa".to_owned());
        }
        assert_eq!(received.len(), EVENTS_AHEAD);
        let said = async {
            reporter.phase(Phase::Verifying).await;
            drop(reporter);
        };
        let heard = async {
            let mut last = None;
            while let Some(event) = received.recv().await {
                last = Some(event.what);
            }
            last
        };
        let ((), last) = tokio::join!(said, heard);
        assert_eq!(last, Some(Happening::PhaseReached { phase: Phase::Verifying }));
    }

    #[tokio::test]
    async fn output_waits_for_room_and_takes_none() {
        let (reporter, mut received) = reporter();
        assert_eq!(reporter.room().now_or_never(), Some(()));
        for _ in 0..EVENTS_AHEAD {
            reporter.log(Phase::Agent, "baa".to_owned());
        }
        assert_eq!(reporter.room().now_or_never(), None, "full");
        for _ in 0..ROOM {
            received.recv().await.unwrap();
        }
        assert_eq!(reporter.room().now_or_never(), Some(()));
        assert_eq!(reporter.room().now_or_never(), Some(()), "the first has taken no place");
        drop(received);
        assert_eq!(reporter.room().now_or_never(), Some(()), "nobody is waited for who is gone");
    }
}
