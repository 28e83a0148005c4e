//! One effect that somebody wants to find: the chance that a plan finds it, and what finds it in 4 of 5 evaluations.

use serde::{Deserialize, Serialize};

use super::power::{Needed, PowerPlan, WANTED_POWER};
use crate::report::number;

/// An effect beside the plan that is to find it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Wanted {
    /// Chance that p ≤ 5 % if it is true; `None` = so much cannot be gained where so many pairs are broken.
    pub power: Option<f64>,
    /// What it takes.
    pub needed: Needed,
}

impl Wanted {
    /// `delta` is a share above 0.
    #[must_use]
    pub fn of(plan: &PowerPlan, delta: f64) -> Self {
        Self { power: PowerPlan::power_of(plan.tasks, plan.repeats, delta, plan.noise), needed: plan.needed_for(delta) }
    }

    /// Whether the plan finds it in 4 of 5 evaluations.
    #[must_use]
    pub fn is_found(&self) -> bool {
        self.power.is_some_and(|power| power >= WANTED_POWER)
    }

    /// All of it in words; `plan` is the one that it was made of.
    #[must_use]
    pub fn words(&self, plan: &PowerPlan) -> String {
        let points = number::bare_points(self.needed.delta);
        let delta = format!("A true Δ of {} pp", points.trim_start_matches('+'));
        let Some(power) = self.power else {
            let broken = number::percent(Some(plan.noise.broken_rate));
            return format!("{delta} is not possible where {broken} of pairs are broken.");
        };
        let found = format!("{delta} will be found in {} of such evaluations", number::percent(Some(power)));
        let Some(tasks) = self.needed.tasks else {
            return format!("{found}. To find it in 4 of 5 takes more tasks than anybody runs.");
        };
        if self.is_found() && tasks >= plan.tasks {
            return format!("{found}, which is enough.");
        }
        let tasks = number::counted(tasks, "task");
        if self.is_found() {
            return format!("{found}, which is enough; about {tasks} would do.");
        }
        let repeats = match self.needed.repeats {
            Some(repeats) => format!(", or {} of these", number::counted(repeats, "repeat")),
            None if plan.noise.within_share.is_none() => {
                "; whether more repeats of these would do is not known".to_owned()
            }
            None => "; no number of repeats of these would do".to_owned(),
        };
        format!("{found}. To find it in 4 of 5 takes about {tasks}{repeats}.")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planner::Noise;

    #[test]
    fn an_effect_is_told_with_what_finds_it() {
        let noise = |broken_rate: f64, within_share: Option<f64>| Some(Noise { broken_rate, within_share });
        for (tasks, repeats, noise, delta, words) in [
            (
                20,
                1,
                noise(0.0, None),
                0.3,
                "A true Δ of 30 pp will be found in 58 % of such evaluations. To find it in 4 of 5 takes about 25 tasks; whether more repeats of these would do is not known.",
            ),
            (
                30,
                1,
                noise(0.0, None),
                0.3,
                "A true Δ of 30 pp will be found in 92 % of such evaluations, which is enough; about 25 tasks would do.",
            ),
            (25, 1, noise(0.0, None), 0.3, " of such evaluations, which is enough."),
            (30, 1, noise(0.1, Some(1.0)), 0.2, ", or 3 repeats of these."),
            (30, 1, noise(0.1, Some(0.0)), 0.2, "; no number of repeats of these would do."),
            (
                4,
                1,
                noise(0.0, None),
                0.9,
                "A true Δ of 90 pp will be found in 0 % of such evaluations. To find it in 4 of 5 takes about ",
            ),
            (20, 1, noise(0.1, None), 0.9, "A true Δ of 90 pp is not possible where 10 % of pairs are broken."),
            (20, 1, noise(0.49, None), 0.001, "takes more tasks than anybody runs."),
        ] {
            let plan = PowerPlan::of(tasks, repeats, noise);
            let said = Wanted::of(&plan, delta).words(&plan);
            assert!(said.contains(words), "{said}");
        }
    }

    #[test]
    fn what_is_needed_finds_it() {
        for delta in [0.05, 0.125, 0.4] {
            let tasks = PowerPlan::of(20, 1, None).needed_for(delta).tasks.unwrap();
            assert!(Wanted::of(&PowerPlan::of(tasks, 1, None), delta).is_found(), "{delta}: {tasks}");
        }
    }
}
