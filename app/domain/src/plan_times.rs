//! How long the phases of a plan's trials may take.

use std::time::Duration;

use crate::plan::RunSettings;
use crate::task::Task;

/// Longest that anything of a trial may take, ten years: times above it could not be added to a clock.
const LONGEST: Duration = Duration::from_secs(10 * 365 * 86_400);

impl RunSettings {
    /// The task with the limits that hold here, before they are multiplied.
    #[must_use]
    pub fn limited(&self, mut task: Task) -> Task {
        task.agent.timeout = self.agent_seconds.map_or(task.agent.timeout, Duration::from_secs);
        task.verifier.timeout = self.verifier_seconds.map_or(task.verifier.timeout, Duration::from_secs);
        task
    }

    /// A time that the plan's multiplier applies to, however long.
    #[must_use]
    pub fn multiplied(&self, time: Duration) -> Duration {
        let seconds = (time.as_secs_f64() * self.timeout_multiplier).min(LONGEST.as_secs_f64());
        Duration::try_from_secs_f64(seconds).unwrap_or(LONGEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_multiplied_as_far_as_clocks_go() {
        let seconds = Duration::from_secs;
        for (time, by, want) in [
            (seconds(600), 1.0, seconds(600)),
            (seconds(600), 0.5, seconds(300)),
            (Duration::ZERO, 10.0, Duration::ZERO),
            (Duration::MAX, 1.0, LONGEST),
            (Duration::MAX, 10.0, LONGEST),
            (seconds(600), f64::INFINITY, LONGEST),
        ] {
            let settings = RunSettings { timeout_multiplier: by, ..RunSettings::default() };
            assert_eq!(settings.multiplied(time), want, "{time:?} × {by}");
        }
    }
}
