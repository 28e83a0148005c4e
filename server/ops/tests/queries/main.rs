//! What pages ask for as a part of what is stored is what the whole of it says, on a store that was filled at random.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod pairs;
mod rig;

use std::sync::Arc;

use domain::attempt::AttemptResult;
use domain::id::{EvaluationId, EventId, TrialId};
use domain::listing::VersionChoice;
use domain::order::Happening;
use domain::plan::{AgentRef, EvaluationPlan, ModelRef, PlanKind};
use domain::planner::PastRuns;
use domain::report::{EvaluationReport, TaskReport, headline, index, tasks_of};
use domain::trial::Phase;
use domain::verdict::Verdict;
use ops::{Ops, OpsConfig};
use store::Recorded;

use crate::rig::{NOW, Rig};

#[tokio::test]
async fn live_pages_tell_whose_each_event_is_and_go_on_behind_what_is_not_told() {
    let mut rig = Rig::new().await;
    let plan = rig.plan(0..3, 2).await;
    let id = rig.planned(&plan).await;
    rig.tell(&rig.claim().await.unwrap(), Happening::Log { phase: Phase::Agent, text: "hello".into() }).await;
    rig.run(0).await;
    let trials = rig.store().trials(id).await.unwrap();
    let name = |trial: TrialId| {
        let trial = trials.iter().find(|row| row.id == trial).unwrap();
        let task = plan.tasks.iter().find(|task| task.id == trial.task).unwrap();
        (task.name.clone(), trial.condition, trial.repeat)
    };
    let all = rig.store().events_after(id, EventId(0), 999).await.unwrap();
    let page = rig.ops.live_events(id, EventId(0)).await.unwrap();
    let told = all.iter().filter(|event| !matches!(event.what, Recorded::Ended { .. }));
    let want: Vec<_> = told.map(|event| (event.id, event.trial, name(event.trial))).collect();
    let got =
        page.events.iter().map(|event| (event.id, event.trial, (event.task.clone(), event.condition, event.repeat)));
    assert_eq!(got.collect::<Vec<_>>(), want);
    assert!(want.len() > 20 && want.len() < all.len());
    assert_eq!(page.last, all.last().map(|event| event.id), "the end of an attempt is looked at, and not told");
    assert_eq!(rig.ops.newest_event(id).await.unwrap(), page.last.unwrap());
    let nothing = rig.ops.live_events(id, page.last.unwrap()).await.unwrap();
    assert_eq!((nothing.events.len(), nothing.last), (0, None));
    assert_eq!(rig.ops.live_log(id).await.unwrap(), page.events);
}

#[tokio::test]
async fn who_follows_comes_to_the_end_however_many_events_are_not_told() {
    let rig = Rig::new().await;
    let id = rig.planned(&rig.plan(0..1, 1).await).await;
    let claim = rig.claim().await.unwrap();
    // More late reports than one page holds.
    for _ in 0..600 {
        let result = Box::new(AttemptResult::bare(Verdict::Pass));
        rig.tell(&claim, Happening::Ended { result }).await;
    }
    rig.ops.cancel(id).await.unwrap();
    let (mut after, mut told, mut pages) = (EventId(0), Vec::new(), 0);
    loop {
        let page = rig.ops.live_events(id, after).await.unwrap();
        let Some(last) = page.last else { break };
        (after, pages) = (last, pages + 1);
        told.extend(page.events);
    }
    assert!(pages > 1 && rig.ops.is_finished(id).await.unwrap());
    let ends = told.iter().filter(|event| matches!(event.what, Happening::Ended { .. })).count();
    assert_eq!(ends, 2, "one passed, one was cancelled");
}

#[tokio::test]
async fn a_history_has_every_attempt_of_every_trial() {
    let mut rig = Rig::new().await;
    let id = rig.planned(&rig.plan(0..6, 4).await).await;
    rig.run(3).await;
    let history = rig.ops.history(id).await.unwrap();
    let rows = rig.store().trials(id).await.unwrap();
    assert_eq!(history.trials.len(), 48);
    let mut attempts = Vec::new();
    for (trial, row) in history.trials.iter().zip(rows) {
        assert_eq!(
            (trial.id, trial.task, trial.condition, trial.repeat),
            (row.id, row.task, row.condition, row.repeat)
        );
        let stored = rig.store().attempts(row.id).await.unwrap();
        let of_stored = stored.iter().map(|one| (one.number, one.ended_at, one.verdict.clone(), one.result.clone()));
        let of_history =
            trial.attempts.iter().map(|one| (one.number, one.ended_at, one.verdict.clone(), one.result.clone()));
        assert_eq!(of_history.collect::<Vec<_>>(), of_stored.collect::<Vec<_>>());
        attempts.push(stored.len());
    }
    assert!(attempts.contains(&1) && attempts.contains(&2), "{attempts:?}");
    assert_eq!(history.records(), rig.store().records(&rig.store().evaluation(id).await.unwrap()).await.unwrap());
}

#[tokio::test]
async fn past_runs_are_what_whole_results_tell_of_them() {
    let mut rig = Rig::new().await;
    let model = |name: &str, scripted| Some(ModelRef { name: name.into(), upstream: "u".into(), scripted });
    let base = rig.plan(0..5, 3).await;
    let mut known = Vec::new();
    for (agent, model) in [
        ("nop", None),
        ("nop", model("large", false)),
        ("nop", model("large", true)),
        ("nop", model("small", false)),
        ("other", model("large", false)),
        ("nop", model("large", false)),
        ("nop", None),
    ] {
        let plan = EvaluationPlan { agent: AgentRef::new(agent, "1"), model, ..base.clone() };
        known.push((rig.evaluated(&plan).await, plan));
    }
    let open = rig.planned(&base).await;
    rig.run(4).await;
    known.push((open, base));
    let (mut amounts, mut pairs) = (0, 0);
    for (id, plan) in &known {
        let row = rig.store().evaluation(*id).await.unwrap();
        let records = rig.store().records(&row).await.unwrap();
        let report = EvaluationReport::compute(*id, NOW, plan, &records);
        let mut want = PastRuns::default();
        want.add(&report.tasks, &records);
        assert_eq!(rig.ops.past_runs(&[*id]).await.unwrap(), want, "{id}");
        (amounts, pairs) = (amounts + want.tokens.len() + want.seconds.len(), pairs + want.pairs.len());

        let alike = |other: &EvaluationPlan| {
            let model = |plan: &EvaluationPlan| plan.model.as_ref().map(|model| (model.name.clone(), model.scripted));
            other.agent.name == plan.agent.name && model(other) == model(plan)
        };
        let want: Vec<EvaluationId> = known.iter().rev().filter(|(_, plan)| alike(plan)).map(|(id, _)| *id).collect();
        let by = async |most| {
            let rows = rig.store().evaluations_by(&plan.agent.name, plan.model.as_ref(), most).await.unwrap();
            rows.into_iter().map(|row| row.id).collect::<Vec<_>>()
        };
        assert_eq!(by(20).await, want);
        assert_eq!(by(1).await, want[..1]);
    }
    assert!(amounts > 200 && pairs > 20, "{amounts} {pairs}");
}

#[tokio::test]
async fn tasks_share_what_their_listing_says_and_versions_are_listed_by_their_skill() {
    let rig = Rig::new().await;
    let tasks = rig.tasks(0..7).await;
    let ids: Vec<_> = tasks.iter().skip(2).map(|task| task.id).collect();
    let labels = rig.store().task_labels(&ids).await.unwrap();
    let listed = rig.store().tasks().await.unwrap();
    assert_eq!(labels.len(), 5);
    for (id, labels) in labels {
        let task = listed.iter().find(|task| task.id == id).unwrap();
        assert!(
            ids.contains(&id) && (&labels.category, &labels.repository) == (&task.metadata.category, &task.repository)
        );
    }

    for (owner, name, text) in [
        ("ada", "sheep", "1"),
        ("ada", "sheep", "2"),
        ("bob", "sheep", "1"),
        ("ada", "goats", "1"),
        ("ada", "sheep", "3"),
    ] {
        let text = format!("---\nname: {name}\ndescription: Counts. {text}\n---\nbody\n");
        let files = vec![(format!("{name}/SKILL.md"), text.into_bytes())];
        let config = OpsConfig { upload_limit: 1 << 20, ..OpsConfig::default() };
        let ops = Ops::new(rig.store().clone(), Arc::new(|| NOW), config);
        let taken = ops.upload_skills(owner, ops::Upload::Files(files)).await.unwrap();
        assert_eq!(taken.accepted.len(), 1, "{taken:?}");
    }
    let mut want = Vec::new();
    for skill in rig.store().skills().await.unwrap() {
        want.extend(rig.store().versions(skill.id).await.unwrap().into_iter().map(|version| VersionChoice {
            id: version.id,
            name: skill.name.clone(),
            version: version.hash,
            number: version.number,
            newest: version.id == skill.latest.id,
            only_compared: version.only_compared,
        }));
    }
    assert_eq!(rig.ops.version_choices().await.unwrap(), want);
    assert_eq!(
        want.iter().map(|choice| (choice.number, choice.newest)).collect::<Vec<_>>()[1..4],
        [(3, true), (2, false), (1, false)]
    );
}

#[tokio::test]
async fn the_list_of_tasks_says_of_each_what_its_newest_whole_audit_says() {
    let mut rig = Rig::new().await;
    let base = rig.plan(0..4, 2).await;
    let audit = async |rig: &Rig, tasks: std::ops::Range<usize>| {
        let tasks = rig.tasks(tasks).await;
        let kind = PlanKind::Audit {
            oracle: AgentRef::new("oracle", "1"),
            solved: tasks.iter().map(|task| task.id).collect(),
        };
        rig.planned(&EvaluationPlan { kind, tasks, ..base.clone() }).await
    };
    let first = audit(&rig, 0..4).await;
    rig.run(0).await;
    let second = audit(&rig, 2..6).await;
    rig.run(0).await;
    let running = audit(&rig, 5..7).await;
    let whole = [rig.ops.audit(first).await.unwrap(), rig.ops.audit(second).await.unwrap()];
    for look in ["read", "held"] {
        let listed = rig.ops.tasks().await.unwrap();
        for (number, (settled, open)) in [
            (Some(0), None),
            (Some(0), None),
            (Some(1), None),
            (Some(1), None),
            (Some(1), None),
            (Some(1), Some(running)),
            (None, Some(running)),
        ]
        .into_iter()
        .enumerate()
        {
            let task = listed.iter().find(|task| task.name == format!("t{number}")).unwrap();
            let want = settled.map(|audit: usize| whole[audit].summary(task.id).unwrap());
            assert_eq!((&task.audit.settled, task.audit.running), (&want, open), "{look}: t{number}");
            let detail = rig.ops.task(task.id).await.unwrap();
            let want =
                settled.map(|audit: usize| whole[audit].tasks.iter().find(|one| one.task_id == task.id).unwrap());
            assert_eq!(detail.audit.as_ref().map(|audit| &audit.tasks[0]), want, "{look}: t{number}");
        }
    }
    rig.store().request_cancel(running, NOW).await.unwrap();
    rig.store().delete_evaluation(second).await.unwrap();
    let listed = rig.ops.tasks().await.unwrap();
    let task = listed.iter().find(|task| task.name == "t2").unwrap();
    assert_eq!(task.audit.settled, whole[0].summary(task.id), "the older one counts again");
}

#[tokio::test]
async fn the_list_of_evaluations_says_what_their_whole_results_say() {
    let mut rig = Rig::new().await;
    let plan = rig.plan(0..9, 2).await;
    for _ in 0..3 {
        rig.evaluated(&plan).await;
    }
    rig.planned(&plan).await;
    rig.run(5).await;
    let mut void = 0;
    for listed in rig.ops.evaluations(1, 9).await.unwrap().evaluations {
        let report = rig.ops.report(listed.id).await.unwrap();
        assert_eq!(listed.delta, report.totals.delta);
        assert_eq!(listed.headline, headline(&report).into());
        assert_eq!(listed.counts.total(), report.trials.len() as u64);
        let finished = report.trials.iter().filter(|trial| trial.verdict.is_some()).count();
        assert_eq!(listed.counts.finished(), finished as u64);
        let row = rig.store().evaluation(listed.id).await.unwrap();
        let outcomes = rig.store().outcomes(&row).await.unwrap();
        let flips = |tasks: &[TaskReport]| tasks.iter().map(TaskReport::counts).collect::<Vec<_>>();
        assert_eq!(flips(&tasks_of(&plan, &index(&outcomes))), flips(&report.tasks));
        void += report.tasks.iter().flat_map(|task| &task.pairs).filter(|pair| pair.void.is_some()).count();
    }
    assert!(void > 5, "{void}");
}
