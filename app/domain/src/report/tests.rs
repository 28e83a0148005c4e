//! Tables over whole reports: what is counted, and what is left out.

use super::*;
use crate::attempt::AttemptResult;
use crate::comparison::Comparison;
use crate::hash::ContentHash;
use crate::id::AttemptId;
use crate::plan::{RunSettings, TaskRef, Treatment};
use crate::stop::StopRule;
use crate::verdict::{FailReason, InfraClass, Verdict};

/// One trial in shorthand: task, arm, verdict (`p`ass, `f`ail, `i`nfra, `.` running), total tokens.
pub(super) type Row<'a> = (&'a str, Condition, char, Option<u64>);

use Condition::{NoSkill, WithSkill};

pub(super) fn report(rows: &[Row<'_>]) -> EvaluationReport {
    report_of(Treatment::TasksOwn, Comparison::default(), rows)
}

pub(super) fn report_of(treatment: Treatment, comparison: Comparison, rows: &[Row<'_>]) -> EvaluationReport {
    report_under(StopRule::default(), treatment, comparison, rows)
}

pub(super) fn report_under(
    stop: StopRule,
    treatment: Treatment,
    comparison: Comparison,
    rows: &[Row<'_>],
) -> EvaluationReport {
    let mut names: Vec<&str> = rows.iter().map(|row| row.0).collect();
    names.dedup();
    let task = |(i, name): (usize, &&str)| TaskRef {
        id: TaskId(i as i64),
        name: (*name).into(),
        version: ContentHash::of(&[]),
    };
    let plan = EvaluationPlan {
        title: "t".into(),
        treatment,
        comparison,
        tasks: names.iter().enumerate().map(task).collect(),
        task_set: None,
        agent: AgentRef::new("bash", "1"),
        model: None,
        repeats: 1,
        seed: 1,
        settings: RunSettings { stop, ..RunSettings::default() },
        kind: Default::default(),
    };
    let trials: Vec<TrialRecord> = rows
        .iter()
        .enumerate()
        .map(|(i, (name, condition, verdict, tokens))| trial(i, &names, name, *condition, *verdict, *tokens))
        .collect();
    EvaluationReport::compute(EvaluationId(1), Timestamp(0), &plan, &trials)
}

fn trial(
    i: usize,
    names: &[&str],
    name: &str,
    condition: Condition,
    verdict: char,
    tokens: Option<u64>,
) -> TrialRecord {
    let verdict = match verdict {
        'p' => Some(Verdict::Pass),
        'f' => Some(Verdict::Fail { reason: FailReason::WrongResult }),
        'i' => Some(Verdict::InfraError { class: InfraClass::Engine, message: "engine gone".into() }),
        'c' => Some(Verdict::Cancelled),
        _ => None,
    };
    let usage = TokenUsage {
        input: tokens,
        cache_read: tokens.map(|_| 0),
        cache_write: tokens.map(|_| 0),
        output: tokens.map(|_| 0),
    };
    let at = Timestamp(0);
    let state = match &verdict {
        Some(verdict) => TrialState::Finished { attempts: 1, verdict: verdict.clone(), at },
        None => TrialState::Running {
            attempts: 1,
            attempt: AttemptId(1),
            phase: crate::trial::Phase::Agent,
            since: at,
            lease_until: at,
        },
    };
    TrialRecord {
        id: TrialId(i as i64),
        task_id: TaskId(names.iter().position(|n| *n == name).unwrap() as i64),
        task: name.into(),
        condition,
        repeat: 1,
        state,
        result: verdict.map(|verdict| AttemptResult { usage, ..AttemptResult::bare(verdict) }),
    }
}

/// Case: infrastructure errors counted as failures measure the cluster.
#[test]
fn infrastructure_errors_make_a_pair_incomplete_and_nothing_else() {
    let report = report(&[
        ("t1", WithSkill, 'p', Some(100)),
        ("t1", NoSkill, 'f', Some(80)),
        ("t2", WithSkill, 'i', None),
        ("t2", NoSkill, 'p', Some(80)),
        ("t3", WithSkill, 'i', None),
        ("t3", NoSkill, 'i', None),
        ("t4", WithSkill, 'p', Some(120)),
        ("t4", NoSkill, 'p', Some(90)),
    ]);
    let totals = &report.totals;
    assert_eq!((totals.pairs_complete, totals.pairs_incomplete, totals.trials_not_scored), (2, 2, 3));
    assert_eq!((totals.pass_rate_with, totals.pass_rate_without, totals.delta), (Some(1.0), Some(0.5), Some(0.5)));
    assert_eq!((totals.rescued, totals.broken, totals.both, totals.neither), (1, 0, 1, 0));
    // t2 lies between 0 − 1 and 1 − 1, t3 between −1 and 1.
    assert_eq!(totals.delta_bounds, Some([(1.0 - 1.0 - 1.0 + 0.0) / 4.0, (1.0 + 0.0 + 1.0 + 0.0) / 4.0]));
    assert_eq!(
        report.tasks.iter().filter(|task| task.delta.is_none()).map(|task| task.task.as_str()).collect::<Vec<_>>(),
        ["t2", "t3"]
    );
    assert!(headline(&report).advice.contains("2 pairs left out of Δ"), "{:?}", headline(&report));
}

/// Case: overhead against nothing.
#[test]
fn overhead_is_a_ratio_of_sums_over_pairs_that_can_be_compared() {
    let pair = |name, with, without| [(name, WithSkill, 'p', with), (name, NoSkill, 'p', without)];
    let rows: Vec<Row<'_>> = [
        pair("t1", Some(1200), Some(1000)),
        pair("t2", Some(500), Some(0)),
        pair("t3", Some(700), None),
        pair("t4", Some(0), Some(0)),
        pair("t5", Some(3000), Some(10)),
    ]
    .concat();
    let report = report(&rows);
    assert_eq!(report.totals.pairs_with_tokens, 2);
    assert!((report.totals.rho.unwrap() - 3.158_416).abs() < 1e-6, "{:?}", report.totals.rho);
    let json = serde_json::to_string(&report).unwrap();
    assert!(!json.contains("NaN") && !json.contains("inf"), "{json}");
}

/// A result written before there was anything to compare with but no skill.
#[test]
fn an_older_result_is_still_read() {
    let mut json = serde_json::to_value(report(&[("t1", WithSkill, 'p', None), ("t1", NoSkill, 'f', None)])).unwrap();
    json.as_object_mut().unwrap().remove("comparison");
    let read: EvaluationReport = serde_json::from_value(json).unwrap();
    assert!(read.comparison.is_plain() && headline(&read).sentence.starts_with("With the skill 1 of 1 task passes"));
}
