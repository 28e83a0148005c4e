//! Tables over whole reports: what is counted, what is left out, what is said.

use super::*;
use crate::attempt::AttemptResult;
use crate::comparison::{Baseline, Comparison};
use crate::hash::ContentHash;
use crate::id::{AttemptId, SkillVersionId};
use crate::plan::{RunSettings, SkillRef, TaskRef, Treatment};
use crate::stop::{Seen, StopReason, StopRule, Stopped};
use crate::verdict::{FailReason, InfraClass, Verdict};

/// One trial in shorthand: task, arm, verdict (`p`ass, `f`ail, `i`nfra, `.` running), total tokens.
type Row<'a> = (&'a str, Condition, char, Option<u64>);

use Condition::{NoSkill, WithSkill};

fn report(rows: &[Row<'_>]) -> EvaluationReport {
    report_of(Treatment::TasksOwn, Comparison::default(), rows)
}

fn report_of(treatment: Treatment, comparison: Comparison, rows: &[Row<'_>]) -> EvaluationReport {
    report_under(StopRule::default(), treatment, comparison, rows)
}

fn report_under(stop: StopRule, treatment: Treatment, comparison: Comparison, rows: &[Row<'_>]) -> EvaluationReport {
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

/// Rows of `rescued`, `broken` and both-passed tasks, in this order.
fn rows_of(rescued: usize, broken: usize, both: usize) -> Vec<(String, Condition, char, Option<u64>)> {
    let kinds = [(rescued, 'p', 'f'), (broken, 'f', 'p'), (both, 'p', 'p')];
    let verdicts = kinds.iter().flat_map(|(n, with, without)| vec![(*with, *without); *n]);
    let task = |(i, (with, without)): (usize, (char, char))| {
        let name = format!("t{i:03}");
        [(name.clone(), WithSkill, with, Some(110)), (name, NoSkill, without, Some(100))]
    };
    verdicts.enumerate().flat_map(task).collect()
}

fn headline_compared(
    treatment: Treatment,
    baseline: Baseline,
    distractors: &[SkillRef],
    [rescued, broken, both]: [usize; 3],
) -> Headline {
    let rows = rows_of(rescued, broken, both);
    let rows: Vec<Row<'_>> =
        rows.iter().map(|(name, arm, verdict, tokens)| (name.as_str(), *arm, *verdict, *tokens)).collect();
    headline(&report_of(treatment, Comparison { baseline, distractors: distractors.to_vec() }, &rows))
}

#[test]
fn the_sentence_names_what_was_compared() {
    let skill = |name: &str, bytes: &[u8]| SkillRef {
        id: SkillVersionId(1),
        name: name.into(),
        version: ContentHash::of(bytes),
    };
    let (new, old, other) = (skill("sheep", b"new"), skill("sheep", b"old"), skill("goats", b"g"));
    let [at_new, at_old, at_other] =
        [&new, &old, &other].map(|skill| format!("{}@{}", skill.name, skill.version.short()));
    let treatment = || Treatment::Skills { versions: vec![new.clone()] };
    for (treatment, baseline, distractors, class, sentence) in [
        (treatment(), Baseline::NoSkill, vec![], "improves", "Rescues 12 of 20 tasks, breaks 0; Δ +60 pp".to_owned()),
        (
            treatment(),
            Baseline::NoSkill,
            vec![other.clone()],
            "improves",
            format!("{at_new} against no skill, beside 1 distractor skill: rescues 12 of 20 tasks, breaks 0; Δ +60 pp"),
        ),
        (
            treatment(),
            Baseline::PreviousVersion { versions: vec![old.clone()] },
            vec![],
            "improves",
            format!("{at_new} against {at_old}: rescues 12 of 20 tasks, breaks 0; Δ +60 pp"),
        ),
        (
            treatment(),
            Baseline::Control { versions: vec![other.clone()] },
            vec![],
            "improves",
            format!("{at_new} against the unrelated {at_other}: rescues 12 of 20 tasks, breaks 0; Δ +60 pp"),
        ),
        (
            Treatment::Nothing,
            Baseline::Same,
            vec![],
            "noise_floor",
            "A/A: no skill against no skill: 12 of 20 tasks flipped; Δ +60 pp, 95 % interval".to_owned(),
        ),
        (
            treatment(),
            Baseline::Same,
            vec![],
            "noise_floor",
            format!("A/A: {at_new} against {at_new}: 12 of 20 tasks flipped; Δ +60 pp"),
        ),
    ] {
        let headline = headline_compared(treatment, baseline, &distractors, [12, 0, 8]);
        assert_eq!(headline.class, class);
        assert!(headline.sentence.starts_with(&sentence), "{:?} does not start with {sentence:?}", headline.sentence);
        let costs = headline.sentence.ends_with("; costs 10 % more tokens.");
        assert_eq!(costs, class != "noise_floor", "{:?}", headline.sentence);
    }
}

#[test]
fn two_arms_that_are_the_same_show_noise_and_never_a_skill() {
    let quiet = headline_compared(Treatment::Nothing, Baseline::Same, &[], [1, 1, 8]);
    assert_eq!((quiet.class.as_str(), quiet.word.as_str()), ("noise_floor", "Noise floor"));
    // q = 2.5/11, √(q/10) = 15.08 pp, ±29.5 pp.
    assert_eq!(
        quiet.advice,
        "Both arms were alike, so every flip is chance: the standard deviation of Δ is 15 pp, and on these tasks a Δ within ±30 pp is what chance gives 19 times in 20."
    );
    let loud = headline_compared(Treatment::Nothing, Baseline::Same, &[], [9, 0, 1]);
    assert!(loud.advice.ends_with("look whether the arms were alike indeed."), "{:?}", loud.advice);
}

/// A result written before there was anything to compare with but no skill.
#[test]
fn an_older_result_is_still_read() {
    let mut json = serde_json::to_value(report(&[("t1", WithSkill, 'p', None), ("t1", NoSkill, 'f', None)])).unwrap();
    json.as_object_mut().unwrap().remove("comparison");
    let read: EvaluationReport = serde_json::from_value(json).unwrap();
    assert!(read.comparison.is_plain() && headline(&read).sentence.starts_with("Rescues 1 of 1 task"));
}

/// An early end is told with its reason; the p of a fixed number of tasks is not, since it would not hold.
#[test]
fn an_early_end_is_marked_and_judged_by_the_evidence() {
    const NONE: StopRule = StopRule { futility: false, evidence: false };
    const EVIDENCE: StopRule = StopRule { futility: false, evidence: true };
    const FUTILITY: StopRule = StopRule { futility: true, evidence: false };
    let seen = |rescued: u32, broken: u32, e_value: f64| Seen { tasks: 10, rescued, broken, e_value };
    for (rule, why, [rescued, broken, both], class, e_value, sentence, advice) in [
        (NONE, None, [8, 0, 2], "improves", None, "Rescues 8 of 10 tasks", ""),
        (
            EVIDENCE,
            Some((StopReason::Evidence, seen(8, 0, 50.3))),
            [8, 0, 2],
            "improves",
            Some(50.273_437_5),
            "; ended early.",
            "Ended after 10 of 10 tasks because the evidence sufficed (e-value 50, at least 20 needed)",
        ),
        (
            EVIDENCE,
            Some((StopReason::Evidence, seen(0, 8, 50.3))),
            [0, 8, 2],
            "harms",
            Some(50.273_437_5),
            "; ended early.",
            "Ended after 10 of 10",
        ),
        // Six of six is enough for McNemar's test (p = 0.031), and not for the e-value (14).
        (
            EVIDENCE,
            None,
            [6, 0, 4],
            "inconclusive",
            Some(14.4375),
            "Rescues 6 of 10 tasks",
            "Judged by the evidence (e-value 14, at least 20 needed)",
        ),
        (FUTILITY, None, [6, 0, 4], "improves", None, "Rescues 6 of 10 tasks", ""),
        (
            FUTILITY,
            Some((StopReason::Futility, seen(2, 1, 0.5))),
            [2, 1, 7],
            "inconclusive",
            Some(1.5),
            "; ended early.",
            "Ended after 10 of 10 tasks because no outcome of the others",
        ),
        (
            NONE,
            Some((StopReason::OutOfTime, seen(6, 0, 14.4))),
            [6, 0, 4],
            "improves",
            None,
            "; ended early.",
            "Ended after 10 of 10 tasks: the plan's time was over.",
        ),
    ] {
        let rows = rows_of(rescued, broken, both);
        let rows: Vec<Row<'_>> =
            rows.iter().map(|(name, arm, verdict, tokens)| (name.as_str(), *arm, *verdict, *tokens)).collect();
        let stopped = why.map(|(why, seen)| Stopped { why, at: Timestamp(1), seen });
        let report = report_under(rule, Treatment::TasksOwn, Comparison::default(), &rows).ended_early(stopped);
        let without_tasks = EvaluationReport { tasks: Vec::new(), ..report.clone() };
        assert_eq!(headline(&without_tasks), headline(&report), "pages get a report without its tasks");
        let headline = headline(&report);
        let name = format!("{rule:?} {why:?}");
        assert_eq!((headline.class.as_str(), report.totals.p_value.is_none()), (class, e_value.is_some()), "{name}");
        assert!(headline.sentence.contains(sentence), "{name}: {}", headline.sentence);
        assert!(headline.advice.starts_with(advice), "{name}: {}", headline.advice);
        let told = report.totals.e_value;
        assert!(
            told.zip(e_value).is_none_or(|(told, want)| (told / want - 1.0).abs() < 0.01)
                && told.is_some() == e_value.is_some(),
            "{name}: {told:?}"
        );
        let again: EvaluationReport = serde_json::from_value(serde_json::to_value(&report).unwrap()).unwrap();
        assert_eq!(again, report, "{name}");
    }
}
