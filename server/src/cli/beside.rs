//! The scheduler beside a command. One that comes to its end unasked, by a bug of ours, ends the command: nobody is to wait for trials that
//! nobody begins.

use anyhow::{Context as _, anyhow};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::Failure;
use crate::scheduler::Scheduler;

/// A scheduler under way.
pub struct Beside {
    stop: CancellationToken,
    running: JoinHandle<()>,
}

impl Beside {
    /// Starts it; it stops with `stop`.
    pub fn start(scheduler: Scheduler, stop: &CancellationToken) -> Self {
        Self { stop: stop.clone(), running: tokio::spawn(scheduler.run(stop.clone())) }
    }

    /// Waits for `work`, not longer than the scheduler runs, and stops it.
    ///
    /// # Errors
    /// The work's own, or the scheduler's end.
    pub async fn until<T>(mut self, work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
        let outcome = tokio::select! {
            outcome = work => outcome,
            ended = &mut self.running => {
                let why = ended.err().map(|error| format!(": {error}")).unwrap_or_default();
                return Err(anyhow!(
                    "the scheduler came to an end of its own, so no further trial is begun{why}; finished trials are kept, \
                     start again to go on"
                )
                .into());
            }
        };
        self.stop.cancel();
        self.running.await.context("the scheduler failed")?;
        outcome
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_scheduler_that_dies_ends_the_command_and_one_that_lives_is_stopped() {
        let stop = CancellationToken::new();
        let dying = Beside { stop: stop.clone(), running: tokio::spawn(async { panic!("a bug") }) };
        let failure = dying.until(std::future::pending::<Result<(), Failure>>()).await.unwrap_err();
        let text = format!("{failure:?}");
        assert!(text.contains("a bug") && text.contains("start again") && text.contains("Failed"), "{text}");
        let living = Beside { stop: stop.clone(), running: tokio::spawn(stop.clone().cancelled_owned()) };
        assert_eq!(living.until(async { Ok(5) }).await.unwrap(), 5);
        assert!(stop.is_cancelled());
    }
}
