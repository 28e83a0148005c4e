//! What is exported as our own JSON comes back without loss, whatever is in it; other runners' forms come back with their verdicts; and foreign
//! text breaks no form.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod results_support;

use std::collections::{BTreeMap, BTreeSet};

use domain::comparison::{Baseline, Compared};
use domain::condition::Condition;
use domain::draw::Draw;
use domain::finding::Finding;
use domain::hash::ContentHash;
use domain::history::{EvaluationHistory, TrialHistory};
use domain::id::{SkillVersionId, TaskId, TrialId};
use domain::imported::{Imported, ResultFormat};
use domain::plan::{EvaluationPlan, SkillRef, Treatment};
use domain::time::Timestamp;
use formats::export::{ExportFormat, zipped};
use formats::import::{Files, Reading, read_files};

use crate::results_support::{Any, NOW, exported};

fn imported(bytes: Vec<u8>) -> Reading {
    let mut files = Files::at_hand("e.json", BTreeMap::from([("e.json".to_owned(), bytes)]));
    read_files(&mut files, None, NOW).unwrap_or_else(|findings| panic!("{findings:#?}"))
}

/// The same evaluation with the ids that an import gives.
fn renumbered(mut history: EvaluationHistory) -> EvaluationHistory {
    let ids: BTreeMap<TaskId, TaskId> =
        history.plan.tasks.iter().zip(1..).map(|(task, n)| (task.id, TaskId(-n))).collect();
    history.plan.tasks.iter_mut().for_each(|task| task.id = ids[&task.id]);
    for (trial, n) in history.trials.iter_mut().zip(1..) {
        (trial.id, trial.task) = (TrialId(-n), ids[&trial.task]);
    }
    let mut ids = 1..;
    let mut renumber = |versions: &mut Vec<SkillRef>| {
        versions.iter_mut().zip(&mut ids).for_each(|(skill, n)| skill.id = SkillVersionId(-n));
    };
    if let Treatment::Skills { versions } = &mut history.plan.treatment {
        renumber(versions);
    }
    if let Baseline::PreviousVersion { versions } | Baseline::Control { versions } =
        &mut history.plan.comparison.baseline
    {
        renumber(versions);
    }
    renumber(&mut history.plan.comparison.distractors);
    history
}

#[test]
fn our_own_json_comes_back_without_loss() {
    for seed in 0..400 {
        let (history, files) = Any(Draw::from_seed(seed)).evaluation();
        let bytes = exported(&history, &files, ExportFormat::Json).remove(0).bytes;
        let reading = imported(bytes.clone());
        let [read] = reading.evaluations.as_slice() else { panic!("{reading:#?}") };
        assert_eq!((&read.files, read.findings.len()), (&files, 0), "seed {seed}");
        let back = EvaluationHistory {
            id: history.id,
            created_at: read.created_at,
            plan: read.plan.clone(),
            imported: None,
            stopped: read.stopped.clone(),
            trials: read.trials.clone(),
        };
        assert_eq!(back, renumbered(history.clone()), "seed {seed}");
        let again = exported(&back, &read.files, ExportFormat::Json).remove(0).bytes;
        let without_report = |bytes: &[u8]| {
            let mut value: serde_json::Value = serde_json::from_slice(bytes).unwrap();
            value.as_object_mut().unwrap().remove("report").unwrap();
            value
        };
        assert_eq!(without_report(&again), without_report(&bytes), "seed {seed}");
        assert_eq!(back.report().totals, history.report().totals, "seed {seed}");
    }
}

#[test]
fn an_attempt_that_ends_before_it_starts_has_no_times() {
    let (mut history, files) = Any(Draw::from_seed(1)).evaluation();
    let attempt = history.trials.iter_mut().flat_map(|trial| &mut trial.attempts).next().unwrap();
    (attempt.started_at, attempt.ended_at) = (Some(Timestamp(2_000)), Some(Timestamp(1_999)));
    let reading = imported(exported(&history, &files, ExportFormat::Json).remove(0).bytes);
    let [read] = reading.evaluations.as_slice() else { panic!("{reading:#?}") };
    let attempt = read.trials.iter().flat_map(|trial| &trial.attempts).next().unwrap();
    assert_eq!((attempt.started_at, attempt.ended_at), (None, None));
    let [finding] = read.findings.as_slice() else { panic!("{:#?}", read.findings) };
    assert_eq!((finding.code.as_str(), finding.hint.is_some()), ("wrong_times", true));
    assert!(finding.message.starts_with("trials[") && finding.message.contains("attempt 1 ends before it starts"));
}

#[test]
fn an_imported_evaluation_keeps_where_it_came_from() {
    let (mut history, files) = Any(Draw::from_seed(1)).evaluation();
    let imported_before = Imported {
        format: ResultFormat::Harbor,
        source: "job".to_owned(),
        hash: ContentHash::of(b"job"),
        at: Timestamp(1),
        findings: vec![Finding::note("n", "f", "m")],
        before: None,
    };
    history.imported = Some(imported_before.clone());
    let bytes = exported(&history, &files, ExportFormat::Json).remove(0).bytes;
    let text = String::from_utf8(bytes.clone()).unwrap();
    assert!(text.contains("\"seed\": null") && text.contains("\"settings\": null"), "another runner's are unknown");
    let reading = imported(bytes);
    assert_eq!(reading.evaluations[0].before, Some(imported_before));
}

/// AgentCompass and skill-creator exports can be imported as what those runners write.
#[test]
fn other_runners_forms_come_back_with_their_verdicts() {
    for seed in 0..100 {
        let (history, files) = Any(Draw::from_seed(seed)).evaluation();
        let verdicts = |trials: &[TrialHistory], plan: &EvaluationPlan, scored_only: bool| {
            let name =
                |trial: &TrialHistory| plan.tasks.iter().find(|task| task.id == trial.task).unwrap().name.clone();
            let mut all: Vec<(String, Condition, u32, Option<bool>)> = trials
                .iter()
                .map(|trial| (name(trial), trial.condition, trial.repeat, trial.state.verdict().unwrap().scored()))
                .filter(|row| !scored_only || row.3.is_some())
                .collect();
            all.sort();
            all
        };
        let names: BTreeSet<&str> = history.plan.tasks.iter().map(|task| task.name.trim()).collect();
        if names.len() < history.plan.tasks.len() || names.contains("") || history.trials.is_empty() {
            continue;
        }
        let compass = exported(&history, &files, ExportFormat::Agentcompass);
        let paths: BTreeSet<&str> = compass.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths.len(), compass.len(), "seed {seed}: two files of one name");
        let at_hand = compass.iter().map(|file| (file.path.clone(), file.bytes.clone())).collect();
        let reading =
            read_files(&mut Files::at_hand("x", at_hand), None, NOW).unwrap_or_else(|findings| panic!("{findings:#?}"));
        let read = &reading.evaluations[0];
        assert_eq!(
            verdicts(&read.trials, &read.plan, false),
            verdicts(&history.trials, &history.plan, false),
            "seed {seed}"
        );
        let compared = history.plan.comparison.kind();
        let arms = [compared.arms().without, compared.arms().with];
        let told =
            |file: &&formats::export::ExportFile| arms.iter().any(|arm| file.path.starts_with(&format!("{arm}/")));
        assert!(compass.iter().all(|file| told(&file)), "seed {seed}: {arms:?} {paths:?}");
        assert_eq!(read.plan.comparison.kind(), compared, "seed {seed}");
        let versions = |plan: &EvaluationPlan| {
            plan.comparison.versions().map(|skill| (skill.name.clone(), skill.version)).collect::<Vec<_>>()
        };
        assert_eq!(versions(&read.plan), versions(&history.plan), "seed {seed}");
        let benchmark = exported(&history, &files, ExportFormat::SkillCreator).remove(0);
        let scored = verdicts(&history.trials, &history.plan, true);
        if scored.is_empty() {
            continue;
        }
        let named = |name: &str| String::from_utf8_lossy(&benchmark.bytes).contains(&format!("\"{name}\": {{"));
        let names = match compared {
            Compared::NoSkill => ["without_skill", "with_skill"],
            Compared::PreviousVersion => ["old_skill", "new_skill"],
            Compared::Control => ["with_unrelated_skill", "with_skill"],
            Compared::Same => ["arm_a", "arm_b"],
        };
        assert!(names.into_iter().all(named), "seed {seed}: {compared:?}");
        let at_hand = BTreeMap::from([("benchmark.json".to_owned(), benchmark.bytes)]);
        let reading = read_files(&mut Files::at_hand("x", at_hand), None, NOW);
        let [without, with] = names;
        let configuration = |arm| if arm == Condition::WithSkill { with } else { without };
        if !scored.iter().all(|row| ["without_skill", "with_skill"].contains(&configuration(row.1))) {
            let findings = reading.unwrap_err();
            assert!(findings.iter().any(|finding| finding.code == "unknown_arm"), "seed {seed}: {findings:#?}");
            continue;
        }
        let reading = reading.unwrap_or_else(|findings| panic!("{findings:#?}"));
        let read = &reading.evaluations[0];
        assert_eq!(verdicts(&read.trials, &read.plan, false), scored, "seed {seed}");
    }
}

#[test]
fn foreign_text_breaks_no_format() {
    for seed in 0..100 {
        let (history, files) = Any(Draw::from_seed(seed)).evaluation();
        let table = exported(&history, &files, ExportFormat::Csv).remove(0).bytes;
        let mut reader = csv::Reader::from_reader(table.as_slice());
        let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        assert_eq!(rows.len(), history.trials.len());
        let formula = |cell: &str| cell.starts_with(['=', '@']) || cell.starts_with("-x");
        assert!(rows.iter().flat_map(csv::StringRecord::iter).all(|cell| !formula(cell)), "seed {seed}");
        let page = String::from_utf8(exported(&history, &files, ExportFormat::Html).remove(0).bytes).unwrap();
        assert!(!page.contains("<script") && !page.contains("</script") && !page.contains("<b>x"), "seed {seed}");
        assert!(
            !page.contains("http://") && !page.contains("https://") && !page.contains("url("),
            "a page that opens offline"
        );
        let markdown = String::from_utf8(exported(&history, &files, ExportFormat::Markdown).remove(0).bytes).unwrap();
        assert!(!markdown.contains("<b>") && !markdown.contains("[x](y)"), "seed {seed}");
        assert_eq!(markdown.lines().filter(|line| line.starts_with("| task |")).count(), 1);
        let widths = markdown
            .lines()
            .filter(|line| line.starts_with('|'))
            .map(|line| line.replace("\\|", "").matches('|').count());
        assert!(widths.into_iter().all(|bars| bars == 3 || bars == 9), "seed {seed}: {markdown}");
        let compass = exported(&history, &files, ExportFormat::Agentcompass);
        assert!(compass.iter().all(|file| domain::path::RelPath::new(&file.path).is_ok()), "seed {seed}");
        assert_eq!(zipped("folder", &compass).unwrap(), zipped("folder", &compass).unwrap());
    }
}
