//! Tables: runs in shorthand, and what the audit says of them.

use super::*;
use crate::attempt::AttemptResult;
use crate::comparison::Comparison;
use crate::finding::Finding;
use crate::id::AttemptId;
use crate::plan::{RunSettings, Treatment};
use crate::trial::{Phase, TrialState};
use crate::verdict::{FailReason, InfraClass, Verdict};

/// One run: the verdict (`p`ass, `f`ail, `v`erifier error, `i`nfra error, `c`ancelled, `t`imed out, `.` still running), a space, and one word for
/// each test case, its last letter the status: `a+` passed, `a-` failed, `a~` skipped, `a!` other.
fn run(shorthand: &str, agent: AuditAgent, repeat: u32) -> TrialRecord {
    let (verdict, cases) = shorthand.split_once(' ').unwrap_or((shorthand, ""));
    let at = Timestamp(9);
    let verdict = match verdict {
        "p" => Some(Verdict::Pass),
        "f" => Some(Verdict::Fail { reason: FailReason::WrongResult }),
        "t" => Some(Verdict::Fail { reason: FailReason::TimedOut { limit_ms: 5000 } }),
        "v" => Some(Verdict::VerifierError { message: "no reward written (exit 0)".into() }),
        "i" => Some(Verdict::InfraError { class: InfraClass::Image, message: "the image could not be had.".into() }),
        "c" => Some(Verdict::Cancelled),
        "." => None,
        other => panic!("{other}"),
    };
    let case = |word: &str| {
        let (name, status) = word.split_at(word.len() - 1);
        let status = match status {
            "+" => TestStatus::Passed,
            "-" => TestStatus::Failed,
            "~" => TestStatus::Skipped,
            "!" => TestStatus::Other,
            other => panic!("{other}"),
        };
        TestCase { name: name.into(), status, duration_ms: None, message: None }
    };
    let tests = cases.split_whitespace().map(case).collect();
    let state = match &verdict {
        Some(verdict) => TrialState::Finished { attempts: 1, verdict: verdict.clone(), at },
        None => {
            TrialState::Running { attempts: 1, attempt: AttemptId(1), phase: Phase::Agent, since: at, lease_until: at }
        }
    };
    TrialRecord {
        id: TrialId(i64::from(repeat)),
        task_id: TaskId(1),
        task: "t".into(),
        condition: agent.condition(),
        repeat,
        state,
        result: verdict.map(|verdict| AttemptResult { tests, ..AttemptResult::bare(verdict) }),
    }
}

/// Audits one task; `oracle` is `None` where it has no solution.
fn audit(nop: &[&str], oracle: Option<&[&str]>) -> TaskAudit {
    report(nop, oracle).tasks.remove(0)
}

fn report(nop: &[&str], oracle: Option<&[&str]>) -> AuditReport {
    let task = TaskRef { id: TaskId(1), name: "t".into(), version: ContentHash::of(b"t") };
    let agent = |name: &str| AgentRef::new(name, "1");
    let solved = oracle.iter().map(|_| TaskId(1)).collect();
    let plan = EvaluationPlan {
        title: "audit".into(),
        treatment: Treatment::TasksOwn,
        comparison: Comparison::default(),
        tasks: vec![task],
        agent: agent("nop"),
        model: None,
        task_set: None,
        repeats: nop.len() as u32,
        seed: 1,
        settings: RunSettings::default(),
        kind: PlanKind::Audit { oracle: agent("oracle"), solved },
    };
    let runs = |agent, words: &[&str]| -> Vec<TrialRecord> {
        (1..).zip(words).map(|(repeat, words)| run(words, agent, repeat)).collect()
    };
    let mut trials = runs(AuditAgent::Nop, nop);
    trials.extend(runs(AuditAgent::Oracle, oracle.unwrap_or_default()));
    AuditReport::compute(EvaluationId(7), Timestamp(0), &plan, &trials).unwrap()
}

#[test]
fn a_task_is_what_its_runs_say() {
    use AuditOutcome::{AtCeiling, Discriminating, Flaky, Undecided, Unjudged, Unsolvable};
    type Case<'a> = (&'a [&'a str], Option<&'a [&'a str]>, Option<AuditOutcome>, &'a str);
    let cases: &[Case<'_>] = &[
        (&["f"], Some(&["p"]), Some(Discriminating), "run once only"),
        (&["f", "f"], Some(&["p", "p"]), Some(Discriminating), "passes with its own solution"),
        (&["f", "f"], None, Some(Discriminating), "nothing shows that it can be passed"),
        (&["p", "p"], Some(&["p", "p"]), Some(AtCeiling), "in 2 of 2 runs"),
        (&["p"], None, Some(AtCeiling), "although nothing was done"),
        (&["p"], Some(&["f"]), Some(AtCeiling), "although nothing was done"),
        (&["p"], Some(&["i"]), Some(AtCeiling), "1 run could not be scored"),
        (&["f", "f"], Some(&["f", "f"]), Some(Unsolvable), "in 2 of 2 runs"),
        (&["f"], Some(&["t"]), Some(Unsolvable), "timed out (limit 5 s)"),
        (&["v", "v"], Some(&["v", "v"]), Some(Unsolvable), "no reward written"),
        (&["f"], Some(&["v"]), Some(Unsolvable), "no result, not even for its own solution: no reward written"),
        (&["f", "p"], Some(&["p", "p"]), Some(Flaky), "nop passed 1 of 2 runs"),
        (&["f", "f", "f"], Some(&["p", "p", "f"]), Some(Flaky), "the solution passed 2 of 3 runs"),
        (&["f", "f"], Some(&["p", "v"]), Some(Flaky), "1 gave no result"),
        (&["f a-", "f a+"], Some(&["p a+", "p a+"]), Some(Flaky), "1 test case (a)"),
        (&["p a-", "p a+"], None, Some(AtCeiling), "although nothing was done"),
        (&["v", "v"], Some(&["p", "p"]), Some(Unjudged), "no result where nothing was done: no reward written"),
        (&["v"], None, Some(Unjudged), "no result"),
        (&["i"], Some(&["p"]), Some(Undecided), "could not be audited: the image could not be had."),
        (&["f"], Some(&["i"]), Some(Undecided), "could not be audited: the image could not be had."),
        (&["f", "f"], Some(&["c", "c"]), Some(Undecided), "could not be audited."),
        (&["f", "i"], Some(&["p", "p"]), Some(Discriminating), "1 run could not be scored"),
        (&["f", "."], Some(&["p", "p"]), None, "under way"),
    ];
    for (nop, oracle, outcome, words) in cases {
        let audit = audit(nop, *oracle);
        assert_eq!(audit.outcome, *outcome, "{nop:?} {oracle:?}: {}", audit.sentence);
        assert!(audit.sentence.contains(words), "{nop:?} {oracle:?}: {}", audit.sentence);
        assert_eq!(audit.trusted, outcome.map(|outcome| outcome == Discriminating), "{nop:?} {oracle:?}");
        let without_remedy = outcome.is_none() || (*outcome == Some(Discriminating) && oracle.is_some());
        assert_eq!(audit.remedy.is_none(), without_remedy, "{nop:?} {oracle:?}: {:?}", audit.remedy);
    }
}

#[test]
fn a_test_case_measures_what_its_runs_say() {
    use TestClass::{Broken, FailToPass, Flaky, PassToPass, Unproven};
    type Case<'a> = (&'a [&'a str], Option<&'a [&'a str]>, Option<TestClass>);
    let cases: &[Case<'_>] = &[
        (&["f a-"], Some(&["p a+"]), Some(FailToPass)),
        (&["f a-", "f a-", "f a!"], Some(&["p a+", "p a+", "p a+"]), Some(FailToPass)),
        // Where nothing was done, tests often cannot be collected, or are skipped.
        (&["f"], Some(&["p a+"]), Some(FailToPass)),
        (&["f", "f a~"], Some(&["p a+", "p a+"]), Some(FailToPass)),
        (&["f a+"], Some(&["p a+"]), Some(PassToPass)),
        (&["f a+"], Some(&["p a~"]), Some(PassToPass)),
        (&["f a+"], Some(&["p b+"]), Some(PassToPass)),
        (&["f a+"], None, Some(PassToPass)),
        (&["f a-"], Some(&["p a-"]), Some(Broken)),
        (&["f a+"], Some(&["p a-"]), Some(Broken)),
        (&["f a-", "f a-"], Some(&["p a!", "p"]), Some(Broken)),
        (&["f a+", "f a-"], None, Some(Flaky)),
        (&["f a+", "f"], Some(&["p a+", "p a+"]), Some(Flaky)),
        (&["f a-", "f a-"], Some(&["p a+", "p"]), Some(Flaky)),
        (&["f a-"], None, Some(Unproven)),
        (&["f a-"], Some(&["p b+"]), Some(Unproven)),
        (&["f a-"], Some(&["p a~"]), Some(Unproven)),
        // Runs without a score say nothing about a test case.
        (&["f a-", "i a+"], Some(&["p a+", "v a-"]), Some(FailToPass)),
        (&["v a-"], Some(&["p a+"]), Some(Unproven)),
        (&["f a-"], Some(&["i a+"]), Some(Unproven)),
        (&["v a-"], None, None),
        // Two of one name are one, and pass together.
        (&["f a- a-"], Some(&["p a+ a+"]), Some(FailToPass)),
        (&["f a+ a-"], Some(&["p a+ a+"]), Some(FailToPass)),
        (&["f a-"], Some(&["p a+ a-"]), Some(Broken)),
    ];
    for (nop, oracle, class) in cases {
        let audit = audit(nop, *oracle);
        let found = audit.tests.iter().find(|test| test.name == "a").map(|test| test.class);
        assert_eq!(found, *class, "{nop:?} {oracle:?}");
        assert_eq!(audit.classes.total() as usize, audit.tests.len());
    }
}

#[test]
fn numbers_of_runs_stand_beside_the_class() {
    let audit = audit(&["f a- b+", "f b+", "i"], Some(&["p a+ b+", "p a+ b+", "p a+ b+"]));
    let shown: Vec<_> = audit.tests.iter().map(|test| (test.name.as_str(), test.nop, test.oracle)).collect();
    let passes = |passed, ran, runs| Passes { passed, ran, runs };
    let all = Some(passes(3, 3, 3));
    assert_eq!(shown, [("a", passes(0, 1, 2), all), ("b", passes(2, 2, 2), all)]);
    assert_eq!(audit.pass_to_pass().collect::<Vec<_>>(), ["b"]);
    assert!(
        audit.sentence.ends_with(
            "1 of 2 test cases passes without doing anything: it measures nothing. 1 run could not be scored."
        ),
        "{}",
        audit.sentence
    );
    assert!(audit.remedy.is_some_and(|remedy| remedy.starts_with("Tighten the test cases")));
    assert_eq!(
        audit.runs.iter().map(|run| (run.agent.word(), run.repeat)).collect::<Vec<_>>(),
        [("nop", 1), ("nop", 2), ("nop", 3), ("oracle", 1), ("oracle", 2), ("oracle", 3)]
    );
}

#[test]
fn an_evaluation_is_no_audit_and_a_report_counts_its_outcomes() {
    let report = report(&["f a-"], Some(&["p a+"]));
    assert_eq!((report.count(AuditOutcome::Discriminating), report.count(AuditOutcome::Flaky)), (1, 0));
    let summary = report.summary(TaskId(1)).unwrap();
    assert_eq!((summary.audit, summary.outcome), (EvaluationId(7), AuditOutcome::Discriminating));
    assert_eq!(report.summary(TaskId(2)), None);
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!((&json["schema"], &json["tasks"][0]["outcome"]), (&SCHEMA.into(), &"discriminating".into()));
    assert_eq!(json["tasks"][0]["tests"][0]["class"], "fail-to-pass");
    assert_eq!(serde_json::from_value::<AuditReport>(json).unwrap(), report);
    let plan = EvaluationPlan {
        title: String::new(),
        treatment: Treatment::TasksOwn,
        comparison: Comparison::default(),
        tasks: vec![],
        agent: report.nop.clone(),
        model: None,
        task_set: None,
        repeats: 1,
        seed: 1,
        settings: RunSettings::default(),
        kind: PlanKind::Evaluation,
    };
    assert_eq!(AuditReport::compute(EvaluationId(1), Timestamp(0), &plan, &[]), None);
}

#[test]
fn runs_that_passed_are_counted_among_those_that_were_scored() {
    for (nop, oracle, said) in [
        (&["f", "f"][..], Some(&["p", "f"][..]), ["0/2", "1/2"]),
        (&["i", "v"], Some(&["i", "p"]), ["not scored", "1/1"]),
        (&["f"], None, ["0/1", "—"]),
        (&["."], Some(&["."]), ["—", "—"]),
    ] {
        let report = report(nop, oracle);
        let passed = |agent| report.tasks[0].passed(agent, |passed, scored| format!("{passed}/{scored}"));
        assert_eq!(AuditAgent::BOTH.map(passed), said, "{nop:?} {oracle:?}");
    }
}

#[test]
fn a_solution_that_stumbles_says_how() {
    let mut failed = run("f", AuditAgent::Oracle, 1);
    let note = Finding::note("agent_note", "agent", "solve.sh: exit 3");
    failed.result.as_mut().unwrap().findings.push(note);
    assert_eq!(AuditRun::of(&failed).detail.as_deref(), Some("solve.sh: exit 3"));
    let task = TaskRef { id: TaskId(1), name: "t".into(), version: ContentHash::of(b"t") };
    let nothing = run("f", AuditAgent::Nop, 1);
    let audit = TaskAudit::of(&task, true, &[&nothing, &failed]);
    assert_eq!(audit.sentence, "Its own solution does not pass, in 1 of 1 run: solve.sh: exit 3.");
}
