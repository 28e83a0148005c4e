//! The limits that a plan set in place of its tasks' own, or beside them: alike in both arms, and still part of what a number means.

use serde::{Deserialize, Serialize};

use crate::plan::RunSettings;
use crate::report::number::counted;
use crate::spending::SpendingCaps;

/// What a plan changed; the default is a plan that left everything as its tasks say.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ChangedLimits {
    /// Multiplies the time of agents and verifiers.
    pub timeout_multiplier: f64,
    /// Seconds that agents got in place of their tasks' own limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_seconds: Option<u64>,
    /// Seconds that verifiers got in place of their tasks' own limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verifier_seconds: Option<u64>,
    /// Most tokens of a trial.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_cap: Option<u64>,
    /// Further caps.
    #[serde(skip_serializing_if = "SpendingCaps::is_none")]
    pub spending: SpendingCaps,
}

impl Default for ChangedLimits {
    fn default() -> Self {
        Self::of(&RunSettings::default())
    }
}

impl ChangedLimits {
    /// Those of these settings.
    #[must_use]
    pub const fn of(settings: &RunSettings) -> Self {
        Self {
            timeout_multiplier: settings.timeout_multiplier,
            agent_seconds: settings.agent_seconds,
            verifier_seconds: settings.verifier_seconds,
            token_cap: settings.token_cap,
            spending: settings.spending,
        }
    }

    /// Whether everything is as the tasks say.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Whether trials had as much time as their tasks say. A cap is another matter: where none is reached it changes nothing.
    #[must_use]
    pub fn is_time_as_said(&self) -> bool {
        self.timeout_multiplier == 1.0 && self.agent_seconds.is_none() && self.verifier_seconds.is_none()
    }

    /// In words: `agent 1200 s; all times × 2; at most 50000 tokens a trial`. `None` where everything is as the tasks say.
    #[must_use]
    pub fn words(&self) -> Option<String> {
        let time = |who: &str, seconds: Option<u64>| seconds.map(|seconds| format!("{who} {seconds} s"));
        let most =
            |what: &str, cap: Option<u64>, of: &str| cap.map(|cap| format!("at most {} {of}", counted(cap, what)));
        let money = |cap: Option<f64>, of: &str| cap.map(|cap| format!("at most {cap} in money {of}"));
        let SpendingCaps {
            trial_calls,
            trial_money,
            trial_seconds,
            evaluation_tokens,
            evaluation_money,
            evaluation_calls,
            evaluation_seconds,
        } = self.spending;
        let (trial, all) = ("a trial", "in all");
        let said: Vec<String> = [
            time("agent", self.agent_seconds),
            time("verifier", self.verifier_seconds),
            (self.timeout_multiplier != 1.0).then(|| format!("all times × {}", self.timeout_multiplier)),
            most("token", self.token_cap, trial),
            most("model call", trial_calls, trial),
            money(trial_money, trial),
            most("second", trial_seconds, trial),
            most("token", evaluation_tokens, all),
            most("model call", evaluation_calls, all),
            money(evaluation_money, all),
            most("second", evaluation_seconds, all),
        ]
        .into_iter()
        .flatten()
        .collect();
        (!said.is_empty()).then(|| said.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_plan_changed_is_said() {
        let plain = RunSettings::default();
        let capped = SpendingCaps { trial_money: Some(0.5), evaluation_seconds: Some(60), ..SpendingCaps::default() };
        for (settings, words, time_as_said) in [
            (plain.clone(), None, true),
            (RunSettings { timeout_multiplier: 0.5, ..plain.clone() }, Some("all times × 0.5"), false),
            (
                RunSettings { agent_seconds: Some(1200), verifier_seconds: Some(9), ..plain.clone() },
                Some("agent 1200 s; verifier 9 s"),
                false,
            ),
            (
                RunSettings { token_cap: Some(1), spending: capped, ..plain },
                Some("at most 1 token a trial; at most 0.5 in money a trial; at most 60 seconds in all"),
                true,
            ),
        ] {
            let limits = ChangedLimits::of(&settings);
            assert_eq!(limits.words().as_deref(), words);
            assert_eq!((limits.is_none(), limits.is_time_as_said()), (words.is_none(), time_as_said), "{words:?}");
        }
    }
}
