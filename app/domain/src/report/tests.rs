//! Tables over whole reports: what is counted, what is left out, what is said.

use super::*;
use crate::attempt::AttemptResult;
use crate::hash::ContentHash;
use crate::id::AttemptId;
use crate::plan::{RunSettings, TaskRef};
use crate::verdict::{FailReason, InfraClass, Verdict};

/// One trial in shorthand: task, arm, verdict (`p`ass, `f`ail, `i`nfra, `.` running), total tokens.
type Row<'a> = (&'a str, Condition, char, Option<u64>);

use Condition::{NoSkill, WithSkill};

fn report(rows: &[Row<'_>]) -> EvaluationReport {
    let mut names: Vec<&str> = rows.iter().map(|row| row.0).collect();
    names.dedup();
    let task = |(i, name): (usize, &&str)| TaskRef {
        id: TaskId(i as i64),
        name: (*name).into(),
        version: ContentHash::of(&[]),
    };
    let plan = EvaluationPlan {
        title: "t".into(),
        treatment: Treatment::TasksOwn,
        tasks: names.iter().enumerate().map(task).collect(),
        task_set: None,
        agent: AgentRef { name: "bash".into(), version: "1".into() },
        model: None,
        repeats: 1,
        seed: 1,
        settings: RunSettings::default(),
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

#[test]
fn the_sentence_says_what_the_numbers_say() {
    let flips = |rescued: usize, broken: usize, both: usize, neither: usize| {
        let kinds = [(rescued, 'p', 'f'), (broken, 'f', 'p'), (both, 'p', 'p'), (neither, 'f', 'f')];
        let names: Vec<String> = (0..rescued + broken + both + neither).map(|i| format!("t{i:03}")).collect();
        let verdicts = kinds.iter().flat_map(|(n, with, without)| vec![(*with, *without); *n]);
        let rows: Vec<Row<'_>> = names
            .iter()
            .zip(verdicts)
            .flat_map(|(name, (with, without))| {
                [(name.as_str(), WithSkill, with, Some(110)), (name.as_str(), NoSkill, without, Some(100))]
            })
            .collect();
        let headline = headline(&report(&rows));
        (headline.class, headline.sentence)
    };
    for (counts, class, sentence) in [
        ((1, 0, 0, 0), "cannot_be_resolved", "Rescues 1 of 1 task, breaks 0; Δ +100 pp"),
        ((1, 0, 9, 0), "inconclusive", "Rescues 1 of 10 tasks, breaks 0; Δ +10 pp"),
        ((16, 2, 20, 2), "improves", "Rescues 16 of 40 tasks, breaks 2; Δ +35 pp"),
        ((2, 16, 20, 2), "harms", "Rescues 2 of 40 tasks, breaks 16; Δ −35 pp"),
        ((0, 0, 200, 200), "no_effect", "Rescues 0 of 400 tasks, breaks 0; Δ 0 pp"),
    ] {
        let got = flips(counts.0, counts.1, counts.2, counts.3);
        assert_eq!(got.0, class, "{counts:?}");
        assert!(got.1.starts_with(sentence), "{:?} does not start with {sentence:?}", got.1);
        assert!(got.1.ends_with("; costs 10 % more tokens."), "{:?}", got.1);
    }
}

#[test]
fn a_running_evaluation_gives_interim_numbers_and_no_verdict() {
    let report = report(&[
        ("t1", WithSkill, 'p', None),
        ("t1", NoSkill, 'f', None),
        ("t2", WithSkill, '.', None),
        ("t2", NoSkill, 'p', None),
    ]);
    let headline = headline(&report);
    assert_eq!((headline.class.as_str(), report.finished), ("interim", false));
    assert!(headline.advice.contains("1 pairs") || headline.advice.contains("still to come"), "{headline:?}");
}
