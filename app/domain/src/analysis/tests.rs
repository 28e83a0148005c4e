//! Groups, units, what is refused and told; and one row out of several evaluations.

use super::pool::{Member, PoolKey, TaskSetKey, pool};
use super::rank::{Fraction, Unranked};
use super::*;
use crate::attempt::AttemptResult;
use crate::comparison::{Baseline, Comparison};
use crate::condition::Condition::{self, NoSkill, WithSkill};
use crate::hash::ContentHash;
use crate::id::{EvaluationId, SkillVersionId, TaskId, TrialId};
use crate::plan::{AgentRef, EvaluationPlan, ModelRef, RunSettings, SkillRef, TaskRef, Treatment};
use crate::report::EvaluationReport;
use crate::test_case::{TestCase, TestStatus};
use crate::time::Timestamp;
use crate::usage::TokenUsage;

fn trial(line: u32, task: &str, condition: Condition, outcome: Outcome) -> FileTrial {
    FileTrial {
        line,
        column: 1,
        task: task.to_owned(),
        condition,
        repeat: None,
        attempt: None,
        outcome,
        reward: outcome.scored().map(|passed| f64::from(u8::from(passed))),
        usage: TokenUsage::UNKNOWN,
        cluster: None,
        skill: None,
        agent: None,
        model: None,
        scripted: false,
        activated: None,
        cases: None,
    }
}

/// Trials of single pairs: passed without, passed with.
fn pairs(results: &[(bool, bool)]) -> Vec<FileTrial> {
    let outcome = |passed| if passed { Outcome::Pass } else { Outcome::Fail };
    let pair = |(i, (without, with)): (usize, &(bool, bool))| {
        let (task, line) = (format!("t{i}"), i as u32 * 2 + 1);
        [trial(line, &task, NoSkill, outcome(*without)), trial(line + 1, &task, WithSkill, outcome(*with))]
    };
    results.iter().enumerate().flat_map(pair).collect()
}

fn analyzed(trials: Vec<FileTrial>) -> Analysis {
    analyze("f.csv", TrialTable { trials, ..TrialTable::default() }).unwrap()
}

fn refused(trials: Vec<FileTrial>) -> String {
    let findings = analyze("f.csv", TrialTable { trials, ..TrialTable::default() }).unwrap_err();
    findings.iter().map(ToString::to_string).collect::<Vec<String>>().join("\n")
}

fn codes(analysis: &Analysis) -> Vec<&str> {
    analysis.findings.iter().map(|finding| finding.code.as_str()).collect()
}

#[test]
fn the_order_of_rows_and_the_labels_of_repeats_do_not_matter() {
    let mut rows: Vec<FileTrial> = Vec::new();
    for repeat in [7, 3, 11] {
        for (task, row) in pairs(&[(true, true), (false, true), (true, false)]).into_iter().enumerate() {
            rows.push(FileTrial { repeat: Some(repeat), line: task as u32 + 1, ..row });
        }
    }
    let forward = analyzed(rows.clone());
    rows.reverse();
    rows.iter_mut().for_each(|row| row.repeat = row.repeat.map(|repeat| repeat * 10 - 30));
    let backward = analyzed(rows);
    assert_eq!(forward.totals, backward.totals);
    assert_eq!((forward.totals.pairs_complete, forward.tasks.len(), forward.totals.rescued), (9, 3, 3));
}

#[test]
fn exchanged_arms_mirror_the_result() {
    let results =
        [(true, true), (false, true), (false, true), (true, false), (false, false), (false, true), (false, true)];
    let found = analyzed(pairs(&results)).totals;
    let mirrored = analyzed(pairs(&results.map(|(without, with)| (with, without)))).totals;
    assert_eq!((found.rescued, found.broken), (mirrored.broken, mirrored.rescued));
    assert_eq!((found.p_value, found.p_mid), (mirrored.p_value, mirrored.p_mid));
    assert!((found.delta.unwrap() + mirrored.delta.unwrap()).abs() < 1e-15);
    assert!((found.delta_ci.unwrap().low + mirrored.delta_ci.unwrap().high).abs() < 1e-12);
}

#[test]
fn the_last_attempt_counts_and_the_others_are_told() {
    let mut rows = pairs(&[(false, true)]);
    rows.iter_mut().for_each(|row| row.repeat = Some(1));
    rows[1].attempt = Some(2);
    rows.push(FileTrial { attempt: Some(1), line: 3, ..trial(3, "t0", WithSkill, Outcome::InfraError) });
    rows[2].repeat = Some(1);
    let found = analyzed(rows);
    assert_eq!((found.trials.superseded, found.totals.rescued, found.totals.trials_not_scored), (1, 1, 0));
}

#[test]
fn rows_that_contradict_each_other_are_refused_with_their_places() {
    let mut twice = pairs(&[(false, true)]);
    twice.iter_mut().for_each(|row| row.repeat = Some(1));
    twice.push(FileTrial { repeat: Some(1), ..trial(9, "t0", NoSkill, Outcome::Pass) });
    let text = refused(twice);
    assert!(
        text.starts_with(
            "f.csv:9: error[trial_twice]: the no-skill trial of task \"t0\", repeat 1 stands here and in line 1"
        ),
        "{text}"
    );

    let mut clusters = pairs(&[(false, true)]);
    clusters[0].cluster = Some("a".into());
    clusters[1].cluster = Some("b".into());
    assert!(refused(clusters).contains("f.csv:2: error[two_clusters]"));

    let mut unnamed = pairs(&[(false, true)]);
    unnamed[0].skill = Some("s".into());
    assert!(refused(unnamed).contains("f.csv:2: error[no_skill_named]"));
    assert!(refused(Vec::new()).contains("there are no trials"));
}

#[test]
fn a_shared_baseline_serves_every_skill_that_was_tried_on_its_task() {
    let mut rows = pairs(&[(false, true), (true, true)]);
    rows.iter_mut().filter(|row| row.condition == WithSkill).for_each(|row| row.skill = Some("a".into()));
    rows.push(FileTrial { skill: Some("b".into()), ..trial(5, "t0", WithSkill, Outcome::Fail) });
    rows.push(trial(6, "alone", NoSkill, Outcome::Pass));
    let found = analyzed(rows);
    let pairs: Vec<(Option<&str>, u64)> =
        found.rows.iter().map(|row| (row.key.skill.as_deref(), row.totals.pairs_complete)).collect();
    assert_eq!(pairs, [(Some("a"), 2), (Some("b"), 1)]);
    assert_eq!(found.trials.unused_baselines, 1);
    assert!(
        codes(&found).contains(&"shared_baseline") && codes(&found).contains(&"unused_baseline"),
        "{:?}",
        codes(&found)
    );
}

#[test]
fn several_skills_are_never_summed_up_as_independent_tasks() {
    let mut rows = Vec::new();
    for (skill, results) in [("a", [(false, true); 12]), ("b", [(true, true); 12])] {
        rows.extend(pairs(&results).into_iter().map(|row| FileTrial { skill: Some(skill.into()), ..row }));
    }
    let found = analyzed(rows);
    assert_eq!((found.unit.as_str(), found.totals.delta, found.totals.p_value), ("skill", Some(0.5), Some(1.0)));
    assert_eq!(found.headline.class, "cannot_be_resolved");
    assert!(found.headline.meaning.contains("2 skills"), "{}", found.headline.meaning);
    let a = &found.rows[0];
    assert_eq!((a.totals.verdict.unwrap().word(), a.family), ("improves", 2));
    assert!((a.p_holm.unwrap() - 2.0_f64.powi(-10)).abs() < 1e-12);
    assert_eq!(a.verdict_holm.unwrap().word(), "improves");
    let b = &found.rows[1];
    assert_eq!((b.q_bh, b.p_holm, b.place.rank, b.place.tier), (Some(1.0), Some(1.0), Some(2), Some(2)));
}

#[test]
fn tasks_of_one_repository_count_as_one_observation() {
    let mut rows = pairs(&[(false, true); 12]);
    rows.iter_mut().for_each(|row| row.cluster = Some(format!("repo{}", row.task.len())));
    let found = analyzed(rows);
    assert_eq!(found.totals.verdict.unwrap().word(), "improves");
    let clustered = found.clustered.as_ref().unwrap();
    assert_eq!((clustered.clusters, clustered.p_value), (2, 0.5));
    assert!(
        codes(&found).contains(&"few_clusters") && codes(&found).contains(&"clusters_decide"),
        "{:?}",
        codes(&found)
    );
}

#[test]
fn test_cases_are_the_other_unit_and_say_so() {
    let case = |name: &str, passed: bool| TestCase {
        name: name.into(),
        status: if passed { TestStatus::Passed } else { TestStatus::Failed },
        duration_ms: None,
        message: None,
    };
    let mut rows = pairs(&[(false, true), (true, true)]);
    for (row, passed) in rows.iter_mut().zip([[true, false], [true, true], [true, true], [true, true]]) {
        row.cases = Some(CaseResults::Named(vec![case("one", passed[0]), case("two", passed[1])]));
    }
    rows[1].cases = Some(CaseResults::Named(vec![case("one", true), case("two", true), case("three", true)]));
    let cases = analyzed(rows.clone()).test_cases.unwrap();
    assert_eq!((cases.cases, cases.unmatched, cases.rescued, cases.broken), (4, 1, Some(1), Some(0)));
    assert_eq!((cases.pass_rate_without, cases.pass_rate_with, cases.delta), (0.75, 1.0, 0.25));
    assert!(cases.warning.contains("not independent") && cases.delta_ci.unwrap().contains(0.0));

    for (row, passed) in rows.iter_mut().zip([7, 10, 10, 10]) {
        row.cases = Some(CaseResults::Counted { passed, total: 10 });
    }
    let counted = analyzed(rows).test_cases.unwrap();
    assert_eq!((counted.cases, counted.rescued), (20, None));
    assert!((counted.delta - 0.15).abs() < 1e-12, "{counted:?}");
}

#[test]
fn trouble_in_one_arm_is_told() {
    let mut rows = pairs(&[(false, true); 20]);
    rows.iter_mut()
        .filter(|row| row.condition == WithSkill)
        .take(5)
        .for_each(|row| row.outcome = Outcome::ProviderError);
    let found = analyzed(rows);
    let rates = found.error_rates.unwrap();
    assert_eq!((rates.troubled_with, rates.troubled_without, rates.differ), (5, 0, true));
    assert!(codes(&found).contains(&"error_rates_differ"));
    assert_eq!(found.rows[0].unranked, Some(Unranked::Incomplete { complete: 0.75 }));
    assert_eq!(found.incomplete_pairs.len(), 5);
}

// One row out of several evaluations.

pub(super) fn plan(tasks: &[i64], repeats: u32, scripted: bool) -> EvaluationPlan {
    let task =
        |id: &i64| TaskRef { id: TaskId(*id), name: format!("t{id}"), version: ContentHash::of(&id.to_le_bytes()) };
    let skill = SkillRef { id: SkillVersionId(1), name: "s".into(), version: ContentHash::of(b"s") };
    EvaluationPlan {
        title: String::new(),
        treatment: Treatment::Skills { versions: vec![skill] },
        comparison: Comparison::default(),
        tasks: tasks.iter().map(task).collect(),
        task_set: None,
        agent: AgentRef::new("bash", "1"),
        model: Some(ModelRef { name: "m".into(), upstream: "u".into(), scripted }),
        repeats,
        seed: 1,
        settings: RunSettings::default(),
        kind: Default::default(),
    }
}

/// The same on tasks of a named set.
fn in_set(plan: &EvaluationPlan) -> EvaluationPlan {
    EvaluationPlan { task_set: Some("set".into()), ..plan.clone() }
}

/// The trials of a plan; `outcome` says how each ends.
pub(super) fn trials(
    plan: &EvaluationPlan,
    first: i64,
    outcome: impl Fn(i64, Condition, u32) -> Outcome,
) -> Vec<TrialRecord> {
    let mut records = Vec::new();
    for slot in plan.order() {
        let task = &plan.tasks[slot.task];
        let ended = outcome(task.id.0, slot.condition, slot.repeat);
        records.push(TrialRecord {
            id: TrialId(first + records.len() as i64),
            task_id: task.id,
            task: task.name.clone(),
            condition: slot.condition,
            repeat: slot.repeat,
            state: ended.state(),
            result: ended.verdict().map(AttemptResult::bare),
        });
    }
    records
}

fn passes(with: bool) -> impl Fn(i64, Condition, u32) -> Outcome {
    move |_, condition, _| if with == (condition == WithSkill) { Outcome::Pass } else { Outcome::Fail }
}

pub(super) fn member<'a>(id: i64, plan: &'a EvaluationPlan, trials: &'a [TrialRecord]) -> Member<'a> {
    Member { id: EvaluationId(id), created_at: Timestamp(id * 1000), plan, trials, stopped: None }
}

#[test]
fn newer_runs_add_tasks_and_repeats_and_never_replace() {
    let (old, new) = (plan(&[1, 2, 3, 4], 1, false), plan(&[3, 4, 5], 2, false));
    let (lost, won) = (trials(&old, 0, passes(false)), trials(&new, 100, passes(true)));
    let members = [member(2, &new, &won), member(1, &old, &lost), member(2, &new, &won)];
    let row = pool(PoolKey::of(&in_set(&old)), &members);
    assert_eq!(row.evaluations, [1, 2].map(EvaluationId));
    let counts: Vec<(&str, usize, Option<f64>)> =
        row.tasks.iter().map(|task| (task.task.as_str(), task.pairs.len(), task.delta)).collect();
    let third = Some(1.0 / 3.0);
    let near = |a: Option<f64>, b: Option<f64>| a.zip(b).is_some_and(|(a, b)| (a - b).abs() < 1e-12);
    assert_eq!(
        counts.iter().map(|(task, pairs, _)| (*task, *pairs)).collect::<Vec<_>>(),
        [("t1", 1), ("t2", 1), ("t3", 3), ("t4", 3), ("t5", 2)]
    );
    assert!(near(counts[2].2, third) && near(counts[0].2, Some(-1.0)) && near(counts[4].2, Some(1.0)), "{counts:?}");
    assert_eq!((row.totals.rescued, row.totals.broken, row.totals.pairs_complete), (6, 4, 10));
    // (−1 −1 +⅓ +⅓ +1) / 5
    assert_eq!(row.exact_delta, Fraction::new(-1, 15));
    assert_eq!(row.unranked, Some(Unranked::TooFewTasks { tasks: 5, needed: 6 }));
}

#[test]
fn a_pool_of_one_is_the_evaluation_itself() {
    let plan = plan(&[1, 2, 3, 4, 5, 6, 7], 2, false);
    let records = trials(&plan, 0, |task, condition, repeat| match (task, condition) {
        (7, WithSkill) => Outcome::InfraError,
        (task, NoSkill) if task % 2 == 0 && repeat == 1 => Outcome::Fail,
        _ => Outcome::Pass,
    });
    let report = EvaluationReport::compute(EvaluationId(1), Timestamp(1000), &plan, &records);
    let row = pool(PoolKey::of(&plan), &[member(1, &plan, &records)]);
    assert_eq!(row.totals, report.totals);
    assert_eq!(row.totals.trials_not_scored, 2);
    assert!(matches!(row.key.task_set, TaskSetKey::Listed { .. }));
    assert_eq!(row.unranked, None);
}

#[test]
fn stopped_evaluations_stay_in_and_running_ones_wait() {
    let plan = plan(&[1, 2, 3, 4, 5, 6], 1, false);
    let stopped = trials(&plan, 0, |task, condition, _| match (task, condition) {
        (6, _) => Outcome::Cancelled,
        (_, NoSkill) => Outcome::Pass,
        _ => Outcome::Fail,
    });
    let running = trials(&plan, 50, |_, _, _| Outcome::Unfinished);
    let row = pool(PoolKey::of(&plan), &[member(1, &plan, &stopped), member(2, &plan, &running)]);
    assert_eq!((row.evaluations, row.unfinished), (vec![EvaluationId(1)], vec![EvaluationId(2)]));
    assert_eq!((row.totals.broken, row.totals.pairs_incomplete), (5, 1));
}

#[test]
fn what_is_no_measurement_is_never_ranked_and_the_key_tells_models_apart() {
    let (real, scripted) = (plan(&[1, 2, 3, 4, 5, 6], 1, false), plan(&[1, 2, 3, 4, 5, 6], 1, true));
    assert_ne!(PoolKey::of(&real), PoolKey::of(&scripted));
    let records = trials(&scripted, 0, passes(true));
    let row = pool(PoolKey::of(&scripted), &[member(1, &scripted, &records)]);
    assert_eq!(row.unranked, Some(Unranked::Scripted));
    let oracle = EvaluationPlan { agent: AgentRef::new("oracle", "1"), model: None, ..real.clone() };
    let unranked = pool(PoolKey::of(&oracle), &[member(1, &oracle, &records)]).unranked;
    assert_eq!(unranked, Some(Unranked::NoCodingAgent));
    assert!(!row.contender("s").ranked && row.contender("s").value == Fraction::new(1, 1));
    assert_eq!(pool(PoolKey::of(&real), &[]).unranked, Some(Unranked::NoResult));
}

#[test]
fn an_edited_task_is_another_task() {
    let (old, mut new) = (plan(&[1, 2], 1, false), plan(&[1, 2], 1, false));
    new.tasks[1].version = ContentHash::of(b"edited");
    let (first, second) = (trials(&old, 0, passes(true)), trials(&new, 10, passes(true)));
    let row = pool(PoolKey::of(&in_set(&old)), &[member(1, &old, &first), member(2, &new, &second)]);
    assert_eq!((row.tasks.len(), row.tasks_in_versions), (3, vec!["t2".to_owned()]));
}

/// Other runners tell names of tasks and not their bytes.
#[test]
fn tasks_of_unknown_bytes_are_told_apart_by_their_names() {
    let unknown = |ids: &[i64]| {
        let mut plan = plan(ids, 2, false);
        plan.tasks.iter_mut().for_each(|task| task.version = ContentHash::UNKNOWN);
        plan
    };
    let seven = unknown(&[1, 2, 3, 4, 5, 6, 7]);
    let records = trials(
        &seven,
        0,
        |task, condition, _| {
            if task > 2 || condition == WithSkill { Outcome::Pass } else { Outcome::Fail }
        },
    );
    let report = EvaluationReport::compute(EvaluationId(1), Timestamp(1000), &seven, &records);
    let row = pool(PoolKey::of(&seven), &[member(1, &seven, &records)]);
    assert_eq!((row.tasks.len(), row.totals), (7, report.totals));
    let other = unknown(&[1, 2, 3, 4, 5, 6, 8]);
    assert_ne!(PoolKey::of(&seven), PoolKey::of(&other), "seven tasks are not any seven tasks");
    assert_eq!(PoolKey::of(&seven), PoolKey::of(&unknown(&[7, 6, 5, 4, 3, 2, 1])));
}

#[test]
fn another_comparison_is_another_row_and_has_no_rank() {
    let plain = plan(&[1, 2, 3, 4, 5, 6], 1, false);
    let old = SkillRef { id: SkillVersionId(2), name: "s".into(), version: ContentHash::of(b"old") };
    for (baseline, distractors, words) in [
        (Baseline::PreviousVersion { versions: vec![old.clone()] }, vec![], "compared: previous-version"),
        (Baseline::Same, vec![], "compared: a-a"),
        (Baseline::NoSkill, vec![old], "beside distractor skills"),
    ] {
        let other = EvaluationPlan { comparison: Comparison { baseline, distractors }, ..plain.clone() };
        assert_ne!(PoolKey::of(&other), PoolKey::of(&plain));
        let records = trials(&other, 0, passes(true));
        let row = pool(PoolKey::of(&other), &[member(1, &other, &records)]);
        assert_eq!(row.unranked.map(|why| why.to_string()).as_deref(), Some(words));
    }
}
