//! Evaluations that end before all of their trials: who decides, what is left, what the result says.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use domain::attempt::AttemptResult;
use domain::condition::Condition;
use domain::hash::ContentHash;
use domain::id::EvaluationId;
use domain::order::{Happening, TrialEvent};
use domain::plan::{AgentRef, EvaluationPlan, ModelRef, PlanKind, RunSettings, TaskRef, Treatment};
use domain::report::headline;
use domain::spending::SpendingCaps;
use domain::stop::{StopReason, StopRule};
use domain::time::Timestamp;
use domain::verdict::{FailReason, InfraClass, Verdict};
use ops::{Ops, OpsConfig};
use store::Store;

/// A clock that stands still until it is moved on, in milliseconds.
#[derive(Clone, Default)]
struct Clock(Arc<AtomicI64>);

impl Clock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::Relaxed))
    }
}

/// A started evaluation of `tasks` tasks.
async fn started(clock: &Clock, tasks: usize, settings: RunSettings) -> (Ops, EvaluationId) {
    started_with(clock, tasks, settings, None).await
}

/// The same, with a model.
async fn started_with(
    clock: &Clock,
    tasks: usize,
    settings: RunSettings,
    model: Option<ModelRef>,
) -> (Ops, EvaluationId) {
    let ops = Ops::new(
        Store::temp().await.unwrap(),
        Arc::new({
            let clock = clock.clone();
            move || clock.now()
        }),
        OpsConfig::default(),
    );
    let examples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let intake = ops.add_task_folders(&[examples.join("tasks")], domain::task::DataVersion::Auto).await.unwrap();
    let task = ops.store().task(intake.accepted[0].id).await.unwrap().task;
    let mut refs = Vec::new();
    for number in 0..tasks {
        let mut task = task.clone();
        task.name = format!("t{number}");
        task.instruction = format!("task {number}");
        task.bundled_skills.clear();
        let mut tree = domain::tree::Tree::new();
        let entry = domain::tree::TreeEntry { executable: false, size: 1, hash: ContentHash::of(task.name.as_bytes()) };
        tree.insert(domain::path::RelPath::new("instruction.md").unwrap(), entry);
        task.tree = tree;
        let (id, _) = ops.store().put_task(&task, &[], "tests", clock.now()).await.unwrap();
        refs.push(TaskRef { id, name: task.name.clone(), version: task.version() });
    }
    let plan = EvaluationPlan {
        title: "T".into(),
        treatment: Treatment::TasksOwn,
        comparison: domain::comparison::Comparison::default(),
        tasks: refs,
        task_set: None,
        agent: AgentRef::new("nop", "1"),
        model,
        repeats: 1,
        seed: 3,
        settings: RunSettings { concurrency: 2, ..settings },
        kind: PlanKind::Evaluation,
    };
    let id = ops.store().create_evaluation(&plan, clock.now()).await.unwrap();
    (ops, id)
}

/// Makes one pair after the other, asking after each trial as the scheduler does, until nothing is left; answers how many trials were made.
async fn run(ops: &Ops, id: EvaluationId, clock: &Clock, passes: impl Fn(usize, Condition) -> bool) -> usize {
    let wrong = || Verdict::Fail { reason: FailReason::WrongResult };
    run_to(ops, id, clock, |pair, arm| if passes(pair, arm) { Verdict::Pass } else { wrong() }).await
}

/// The same with any verdicts. Only an attempt that is not made again makes a trial.
async fn run_to(ops: &Ops, id: EvaluationId, clock: &Clock, ends: impl Fn(usize, Condition) -> Verdict) -> usize {
    let mut made = 0;
    while one(ops, id, clock, |arm| ends(made / 2, arm)).await {
        made += 1;
        ops.end_early(id).await.unwrap();
    }
    made
}

/// Makes the next trial; false where none waits.
async fn one(ops: &Ops, id: EvaluationId, clock: &Clock, ends: impl Fn(Condition) -> Verdict) -> bool {
    let claim = ops.store().claim_next(clock.now(), clock.now().plus_ms(60_000), 100).await.unwrap();
    let Some(claim) = claim else { return false };
    clock.0.fetch_add(1000, Ordering::Relaxed);
    let verdict = ends(claim.trial.condition);
    let what = Happening::Ended { result: Box::new(AttemptResult::bare(verdict)) };
    let event = TrialEvent { attempt: claim.attempt, at: clock.now(), what };
    ops.store().record_event(id, claim.trial.id, &event).await.unwrap();
    true
}

#[tokio::test]
async fn plans_end_when_they_say_and_tell_why() {
    let rule = |futility, evidence| RunSettings { stop: StopRule { futility, evidence }, ..RunSettings::default() };
    let in_time = |seconds| RunSettings {
        spending: SpendingCaps { evaluation_seconds: Some(seconds), ..SpendingCaps::default() },
        ..RunSettings::default()
    };
    type Passes = fn(usize, Condition) -> bool;
    let rescues: Passes = |_, arm| arm == Condition::WithSkill;
    let alike: Passes = |_, _| true;
    for (settings, passes, made, why, class) in [
        (RunSettings::default(), rescues, 24, None, "improves"),
        // Seven of seven: 26.8 ≥ 20.
        (rule(false, true), rescues, 14, Some(StopReason::Evidence), "improves"),
        (rule(true, true), rescues, 14, Some(StopReason::Evidence), "improves"),
        // Seven ties: five tasks are left, and six would be needed.
        (rule(true, false), alike, 14, Some(StopReason::Futility), "inconclusive"),
        (rule(true, true), alike, 12, Some(StopReason::Futility), "inconclusive"),
        (rule(false, true), alike, 24, None, "inconclusive"),
        (in_time(9), rescues, 9, Some(StopReason::OutOfTime), "cannot_be_resolved"),
    ] {
        let name = format!("{settings:?}");
        let clock = Clock::default();
        let (ops, id) = started(&clock, 12, settings).await;
        assert_eq!(run(&ops, id, &clock, passes).await, made, "{name}");
        let report = ops.report(id).await.unwrap();
        assert_eq!((report.finished, report.stopped.as_ref().map(|stopped| stopped.why)), (true, why), "{name}");
        let headline = headline(&report);
        assert_eq!(headline.class, class, "{name}: {headline:?}");
        assert_eq!(headline.sentence.ends_with("; ended early."), why.is_some(), "{name}: {headline:?}");
        assert!(ops.end_early(id).await.unwrap(), "{name}: it is over");
    }
}

/// Whoever cancels may have waited for the moment: six of six would do for the test, and are too little for evidence that was looked at.
#[tokio::test]
async fn what_a_person_cancels_is_judged_by_the_evidence() {
    for (cancelled_after, class) in [(12, "inconclusive"), (14, "improves")] {
        let clock = Clock::default();
        let (ops, id) = started(&clock, 12, RunSettings::default()).await;
        for _ in 0..cancelled_after {
            let rescued = |arm| match arm {
                Condition::WithSkill => Verdict::Pass,
                Condition::NoSkill => Verdict::Fail { reason: FailReason::WrongResult },
            };
            assert!(one(&ops, id, &clock, rescued).await);
        }
        ops.cancel(id).await.unwrap();
        let report = ops.report(id).await.unwrap();
        assert_eq!(
            (report.finished, report.stopped.as_ref().map(|stopped| stopped.why)),
            (true, Some(StopReason::ByHand))
        );
        let headline = headline(&report);
        assert_eq!((headline.class.as_str(), report.totals.p_value), (class, None), "{headline:?}");
        assert!(headline.advice.starts_with("Cancelled after "), "{headline:?}");
    }
}

/// Whom the model's provider refuses in both arms gets no further container; who was let in once, or is refused in one arm alone, does.
#[tokio::test]
async fn an_evaluation_whose_model_is_denied_is_ended_after_its_first_pair() {
    const WORDS: &str = "the model's provider denies access (401): no such key";
    let trouble = |class| Verdict::InfraError { class, message: WORDS.to_owned() };
    type Ends = fn(usize, Condition, Verdict) -> Verdict;
    let always: Ends = |_, _, denied| denied;
    let later: Ends = |pair, _, denied| if pair == 0 { Verdict::Pass } else { denied };
    let with_skill: Ends = |_, arm, denied| if arm == Condition::WithSkill { denied } else { Verdict::Pass };
    for (name, class, ends, made, is_ended) in [
        ("a refused key", InfraClass::ProviderDenied, always, 2, true),
        ("a key revoked meanwhile", InfraClass::ProviderDenied, later, 12, false),
        ("denied to one arm", InfraClass::ProviderDenied, with_skill, 12, false),
        ("one image says nothing of another task's", InfraClass::NoImage, always, 12, false),
    ] {
        let clock = Clock::default();
        let model = ModelRef { name: "m".to_owned(), upstream: "anthropic".to_owned(), scripted: false };
        let (ops, id) = started_with(&clock, 6, RunSettings::default(), Some(model)).await;
        let got = run_to(&ops, id, &clock, |pair, arm| ends(pair, arm, trouble(class))).await;
        assert_eq!(got, made, "{name}");
        let report = ops.report(id).await.unwrap();
        assert!(report.finished && report.trials.iter().all(|trial| trial.attempts <= 1), "{name}: {report:?}");
        assert_eq!(report.denied(), is_ended.then_some(WORDS), "{name}");
        assert!(ops.end_early(id).await.unwrap(), "{name}: it is over");
        let plan = ops.planned(id).await.unwrap();
        assert_eq!(ops.same_plan(&plan).await.unwrap(), (!is_ended).then_some(id), "{name}");
    }
}
