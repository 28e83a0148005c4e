//! Words for how a trial ended, and for its arm.

use domain::analysis::Outcome;
use domain::condition::Condition;

use super::cell::{Cell, Cells, Problem};
use super::column::Column;

/// What a status or verdict says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Said {
    /// This.
    Outcome(Outcome),
    /// That the trial ended; verdict or reward say how.
    Ended,
}

/// The arm.
pub(super) fn condition(cells: &Cells<'_>) -> Result<Condition, Problem> {
    let cell = cells.get(Column::Condition);
    let wrong = |hint| Err(cell.wrong(Column::Condition, "an arm of a pair", hint));
    match cell {
        Cell::Bool(with) => Ok(if with { Condition::WithSkill } else { Condition::NoSkill }),
        Cell::Number(0.0) => Ok(Condition::NoSkill),
        Cell::Number(1.0) => Ok(Condition::WithSkill),
        Cell::Text(text) => match plain(text).as_str() {
            "with_skill" | "with" | "skill" | "treatment" | "treated" | "on" | "true" | "yes" | "1" => {
                Ok(Condition::WithSkill)
            }
            "no_skill" | "without_skill" | "without" | "baseline" | "none" | "off" | "false" | "no" | "0" => {
                Ok(Condition::NoSkill)
            }
            "control" | "previous_version" | "previous" => wrong(
                "analyze compares two arms: keep the rows of no-skill and with-skill, or rename the two to compare",
            ),
            _ => wrong("write no-skill or with-skill"),
        },
        Cell::Empty | Cell::Number(_) | Cell::Nested(_) => wrong("write no-skill or with-skill"),
    }
}

/// How it ended, and whether verdict and reward contradict each other.
pub(super) fn outcome(cells: &Cells<'_>, reward: Option<f64>, pass_mark: f64) -> Result<(Outcome, bool), Problem> {
    let status = said(cells.get(Column::Status), Column::Status)?;
    let verdict = said(cells.get(Column::Verdict), Column::Verdict)?;
    let by_reward = reward.map(|reward| if reward >= pass_mark { Outcome::Pass } else { Outcome::Fail });
    let found = match (status, verdict) {
        // A status of trouble stands whatever else is filled in.
        (Some(Said::Outcome(status)), _) if status.scored().is_none() => status,
        (_, Some(Said::Outcome(verdict))) => verdict,
        (Some(Said::Outcome(status)), _) => status,
        (status, verdict) => match by_reward {
            Some(outcome) => outcome,
            None => return Err(silent(status.or(verdict).is_some())),
        },
    };
    let contradicted =
        found.scored().zip(by_reward).is_some_and(|(passed, reward)| passed != (reward == Outcome::Pass));
    Ok((found, contradicted))
}

fn silent(ended: bool) -> Problem {
    Problem {
        column: Column::Verdict,
        code: "no_verdict",
        message: if ended {
            "the trial ended, but has neither a verdict nor a reward".to_owned()
        } else {
            "the trial has neither a verdict nor a reward".to_owned()
        },
        hint: "write pass or fail; or infra_error, verifier_error, cancelled or unfinished where it was not scored"
            .to_owned(),
    }
}

fn said(cell: Cell<'_>, column: Column) -> Result<Option<Said>, Problem> {
    let known = match cell.known() {
        Cell::Empty => return Ok(None),
        Cell::Bool(passed) => Said::Outcome(if passed { Outcome::Pass } else { Outcome::Fail }),
        Cell::Number(1.0) => Said::Outcome(Outcome::Pass),
        Cell::Number(0.0) => Said::Outcome(Outcome::Fail),
        Cell::Text(text) => word(text, cell, column)?,
        Cell::Number(_) | Cell::Nested(_) => {
            return Err(cell.wrong(column, "a verdict", "write pass or fail; numbers belong in `reward`"));
        }
    };
    Ok(Some(known))
}

fn word(text: &str, cell: Cell<'_>, column: Column) -> Result<Said, Problem> {
    Ok(Said::Outcome(match plain(text).as_str() {
        "pass" | "passed" | "success" | "succeeded" | "solved" | "resolved" | "true" | "yes" | "1" => Outcome::Pass,
        "fail" | "failed" | "failure" | "unresolved" | "wrong" | "wrong_result" | "incorrect" | "false" | "no"
        | "0" => Outcome::Fail,
        "agent_timeout" | "timeout" | "timed_out" => Outcome::AgentTimeout,
        "agent_oom" | "oom" | "out_of_memory" => Outcome::AgentOom,
        "refused" | "refusal" | "agent_refusal" => Outcome::Refused,
        "budget_exceeded" | "token_limit" | "cost_limit" => Outcome::BudgetExceeded,
        "agent_error" => Outcome::AgentError,
        "infra_error" | "infra" | "infra_build" | "infra_container" | "infrastructure_error" | "environment_error" => {
            Outcome::InfraError
        }
        "provider_error" | "rate_limited" | "api_error" => Outcome::ProviderError,
        "verifier_error" | "grader_error" | "test_error" => Outcome::VerifierError,
        "cancelled" | "canceled" | "aborted" => Outcome::Cancelled,
        "unfinished" | "queued" | "pending" | "preparing" | "agent" | "verifying" | "running" | "in_progress" => {
            Outcome::Unfinished
        }
        "done" | "finished" | "completed" | "complete" | "ended" | "ok" => return Ok(Said::Ended),
        "error" | "errored" => {
            let hint = "write agent_error where the agent failed (it counts as a fail), infra_error or verifier_error where it was not its fault (the pair is left out)";
            return Err(cell.wrong(column, "clear enough: it does not say whose error it was", hint));
        }
        _ => {
            return Err(cell.wrong(
                column,
                "a verdict",
                "write pass, fail, agent_timeout, agent_error, infra_error, verifier_error or cancelled",
            ));
        }
    }))
}

fn plain(text: &str) -> String {
    text.to_lowercase().replace(['-', ' '], "_")
}
