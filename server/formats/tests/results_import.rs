//! Results of other runners, one folder of cases for each: what goes in, what is refused, and with what words.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use domain::finding::{Finding, has_errors};
use domain::history::{EvaluationHistory, TrialHistory};
use domain::id::EvaluationId;
use domain::imported::ResultFormat;
use domain::plan::Treatment;
use domain::time::Timestamp;
use formats::import::{Files, ReadEvaluation, Reading, read, read_files};

const NOW: Timestamp = Timestamp(1_800_000_000_000);

fn cases(below: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/import_cases").join(below)
}

/// Reads a folder of cases; its form must be told by its files.
fn case(folder: &str, format: ResultFormat) -> Reading {
    let reading = read(&cases(folder), None, NOW).unwrap_or_else(|findings| panic!("{findings:#?}"));
    assert_eq!(reading.format, format);
    assert!(!has_errors(&reading.findings));
    reading
}

fn report(evaluation: &ReadEvaluation) -> domain::report::EvaluationReport {
    let evaluation = evaluation.clone();
    let history = EvaluationHistory {
        id: EvaluationId(1),
        created_at: evaluation.created_at,
        plan: evaluation.plan,
        imported: None,
        stopped: evaluation.stopped,
        trials: evaluation.trials,
    };
    history.report()
}

/// One line per trial: task, arm, repeat, attempts, verdict, reward, tokens, tests.
fn lines(evaluation: &ReadEvaluation) -> Vec<String> {
    let line = |trial: &TrialHistory| {
        let task = evaluation.plan.tasks.iter().find(|task| task.id == trial.task).unwrap();
        let verdict = trial.state.verdict().unwrap();
        let result = trial.attempts.last().unwrap().result.as_ref().unwrap();
        let known = |number: Option<String>| number.unwrap_or_else(|| "—".to_owned());
        format!(
            "{} {} {} a{} {}{} r{} t{} c{}",
            task.name,
            trial.condition,
            trial.repeat,
            trial.attempts.len(),
            verdict.word(),
            verdict.detail().map(|detail| format!(" ({detail})")).unwrap_or_default(),
            known(result.reward.map(|reward| format!("{reward:.3}"))),
            known(result.usage.total().map(|tokens| tokens.to_string())),
            result.tests.len(),
        )
    };
    evaluation.trials.iter().map(line).collect()
}

fn codes(findings: &[Finding]) -> Vec<&str> {
    findings.iter().map(|finding| finding.code.as_str()).collect()
}

#[test]
fn swe_skills_bench_reports_become_repeats_and_attempts() {
    let reading = case("swe-skills-bench", ResultFormat::SweSkillsBench);
    let [evaluation] = reading.evaluations.as_slice() else { panic!("{reading:#?}") };
    assert_eq!(evaluation.plan.title, "SWE-Skills-Bench, claude-test-4");
    assert_eq!(
        (evaluation.plan.agent.name.as_str(), evaluation.plan.agent.version.as_str()),
        ("claude-code", "unknown")
    );
    assert_eq!(evaluation.plan.treatment, Treatment::TasksOwn);
    assert_eq!(
        lines(evaluation),
        [
            "batch1/count-sheep no-skill 1 a1 fail r0.429 t791 c1",
            "batch1/count-sheep with-skill 1 a2 pass r1.000 t24592 c0",
            "batch1/herd-goats with-skill 1 a1 infra_error (Failed to create container) r— t— c0",
            "batch1/name-clouds no-skill 1 a1 pass r1.000 t— c0",
            "batch1/name-clouds with-skill 1 a1 fail r0.667 t10 c1",
        ]
    );
    let first = &evaluation.trials[1].attempts[0];
    assert_eq!(first.verdict.as_ref().unwrap().detail().unwrap(), "Container not found: gone");
    let agent_ms = evaluation.trials[0].attempts[0].result.as_ref().unwrap().phases.agent;
    assert_eq!(agent_ms, Some(480_000), "the time of the agent's own report");
    assert!(codes(&evaluation.findings).contains(&"treatment_unverified"));
    assert_eq!(codes(&reading.findings), ["not_read"], "compare.json is made from the others");
    let totals = report(evaluation).totals;
    assert_eq!((totals.rescued, totals.broken, totals.pairs_incomplete), (1, 1, 1));
}

#[test]
fn agentcompass_details_are_with_skill_runs() {
    let reading = case("agentcompass", ResultFormat::Agentcompass);
    let [evaluation] = reading.evaluations.as_slice() else { panic!("{reading:#?}") };
    assert_eq!(evaluation.plan.model.as_ref().unwrap().name, "test-model-1");
    assert_eq!(
        lines(evaluation),
        [
            "count-sheep with-skill 1 a1 pass r1.000 t— c1",
            "herd-goats with-skill 1 a1 verifier_error (reward.txt could not be read) r— t— c0",
            "name-clouds with-skill 1 a1 fail r0.500 t— c2",
            "shear-sheep with-skill 1 a1 infra_error (connection reset by peer) r— t— c0",
        ]
    );
    assert_eq!(report(evaluation).totals.delta, None, "one arm alone has no Δ");
    assert_eq!(evaluation.files.len(), 3, "the verifier's output of each that has one");
    assert_eq!(codes(&evaluation.findings), ["arm_by_runner"]);
}

#[test]
fn evalscope_runs_of_both_modes_are_one_evaluation() {
    let reading = case("evalscope", ResultFormat::Evalscope);
    let [evaluation] = reading.evaluations.as_slice() else { panic!("{reading:#?}") };
    assert_eq!(
        lines(evaluation),
        [
            "count-sheep no-skill 1 a1 fail r0.000 t— c0",
            "name-clouds no-skill 1 a1 fail r0.500 t— c0",
            "count-sheep with-skill 1 a1 pass r1.000 t— c0",
            "name-clouds with-skill 1 a1 verifier_error (Verifier timed out) r— t— c0",
        ]
    );
    let totals = report(evaluation).totals;
    assert_eq!((totals.rescued, totals.pairs_complete, totals.pairs_incomplete), (1, 1, 1));
}

#[test]
fn harbor_jobs_are_paired_and_no_key_is_read() {
    let reading = case("harbor", ResultFormat::Harbor);
    let [evaluation] = reading.evaluations.as_slice() else { panic!("{reading:#?}") };
    assert_eq!(
        lines(evaluation),
        [
            "count-sheep no-skill 1 a1 fail r0.000 t1050 c0",
            "name-clouds no-skill 1 a1 fail (timed out (limit 900 s)) r1.000 t1050 c0",
            "count-sheep with-skill 1 a1 pass r1.000 t2100 c1",
            "name-clouds with-skill 1 a1 verifier_error (RewardFileNotFoundError: No reward file) r— t1050 c0",
        ]
    );
    let Treatment::Skills { versions } = &evaluation.plan.treatment else { panic!("{:?}", evaluation.plan) };
    assert_eq!(versions[0].name, "sheep");
    let result = evaluation.trials[2].attempts[0].result.as_ref().unwrap();
    assert_eq!(
        (result.phases.preparing, result.phases.agent, result.phases.verifying),
        (Some(5_000), Some(90_000), Some(2_000))
    );
    let trace = String::from_utf8(evaluation.files[&result.trace.unwrap().hash].clone()).unwrap();
    assert!(trace.contains("Three."), "{trace}");
    assert_eq!(codes(&evaluation.findings), ["cache_writes", "arm_by_config"]);
    assert!(!format!("{reading:?}").contains("sk-never"), "{reading:#?}");
}

#[test]
fn skill_creator_runs_keep_their_numbers() {
    let reading = case("skill-creator", ResultFormat::SkillCreator);
    let [evaluation] = reading.evaluations.as_slice() else { panic!("{reading:#?}") };
    assert_eq!(evaluation.created_at, Timestamp(1_772_357_400_000));
    assert_eq!(
        lines(evaluation),
        [
            "Flock with-skill 1 a1 pass r1.000 t— c2",
            "Flock with-skill 2 a1 fail r0.500 t— c2",
            "Flock no-skill 1 a1 fail r0.500 t— c2",
            "Flock no-skill 2 a1 pass r1.000 t— c2",
            "eval-2 with-skill 1 a1 pass r1.000 t— c1",
            "eval-2 no-skill 1 a1 fail r0.000 t— c1",
        ]
    );
    assert_eq!(codes(&evaluation.findings), ["tokens_left_out", "runner_note"]);
}

/// The original program's own files, one of each kind, as they lie in one folder.
#[test]
fn the_real_reports_are_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/swe-skills-bench-reports");
    if !folder.is_dir() {
        eprintln!("left out: {} is not there", folder.display());
        return;
    }
    let reading = read(&folder, None, NOW).unwrap_or_else(|findings| panic!("{findings:#?}"));
    assert_eq!(reading.format, ResultFormat::SweSkillsBench);
    let all: Vec<Vec<String>> = reading.evaluations.iter().map(lines).collect();
    assert_eq!(
        all,
        [
            vec![
                "batch1/risk-metrics-calculation with-skill 1 a1 infra_error (Container not found: benchmark_batch1_risk-metrics-calculation_use-skill-true_use-agent-false_claude-haiku-4-5-20251001) r— t— c0"
            ],
            vec![
                "batch1/risk-metrics-calculation with-skill 1 a1 pass r1.000 t— c0",
                "batch2/risk-metrics-calculation with-skill 1 a1 fail r0.429 t— c8",
            ],
        ]
    );
    let codes = codes(&reading.findings);
    assert!(codes.contains(&"tokens_left_out"), "two batches in one folder: {codes:?}");
    assert!(codes.contains(&"not_read"), "{codes:?}");
}

/// Reads files at hand and answers `code file:line` of what is wrong.
fn refusal(files: &[(&str, &str)], format: Option<ResultFormat>) -> Vec<String> {
    let files: BTreeMap<String, Vec<u8>> =
        files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect();
    let findings = match read_files(&mut Files::at_hand("source", files), format, NOW) {
        Ok(reading) => panic!("{reading:#?}"),
        Err(findings) => findings,
    };
    let errors: Vec<&Finding> = findings.iter().filter(|finding| finding.is_error()).collect();
    assert!(errors.iter().all(|finding| finding.hint.is_some() && !finding.file.is_empty()), "{errors:#?}");
    let place = |finding: &&Finding| {
        format!("{} {}{}", finding.code, finding.file, finding.line.map(|line| format!(":{line}")).unwrap_or_default())
    };
    errors.iter().map(place).collect()
}

#[test]
fn every_refusal_names_file_line_reason_and_remedy() {
    let run = |configuration: &str, number: u32| {
        format!(
            r#"{{"eval_id": 1, "configuration": "{configuration}", "run_number": {number}, "result": {{"pass_rate": 1, "passed": 1, "total": 1}}}}"#
        )
    };
    // Of two expectations.
    let graded = |rate: &str, passed: u32, held: &str| {
        let expectations: Vec<String> = held
            .split(", ")
            .filter(|held| !held.is_empty())
            .map(|held| format!(r#"{{"text": "It holds", "passed": {held}}}"#))
            .collect();
        format!(
            r#"{{"eval_id": 1, "configuration": "with_skill", "result": {{"pass_rate": {rate}, "passed": {passed}, "total": 2}}, "expectations": [{}]}}"#,
            expectations.join(", ")
        )
    };
    let benchmark = |runs: &[String]| format!("{{\"metadata\": {{}},\n\"runs\": [{}]}}", runs.join(",\n"));
    let trial = r#"{"task_name": "a", "trial_name": "a__1", "verifier_result": {"rewards": {"reward": 1.0}}}"#;
    let review = |mode: &str| {
        format!(
            r#"{{"sample_score": {{"score": {{"value": {{"score": 1.0}}, "metadata": {{"task_id": "a", "skill_mode": "{mode}"}}}}}}}}"#
        )
    };
    let detail = r#"{"correct": true, "score": 0.5, "status": "COMPLETED"}"#;
    let export = |text: &str| format!("{{\"schema\": \"skilldelta.export.v1\",\n{text}}}");
    let creator = Some(ResultFormat::SkillCreator);
    let good_review = review("no-skill");
    for (files, format, want) in [
        (vec![("readme.txt", String::new())], None, vec!["unknown_results source"]),
        (
            vec![("a/benchmark.json", String::new()), ("details/a.json", String::new())],
            None,
            vec!["several_results source"],
        ),
        (
            vec![("benchmark.json", "{\"metadata\": {},\n\"runs\": [\n{]}".to_owned())],
            None,
            vec!["json_syntax benchmark.json:3"],
        ),
        (vec![("benchmark.json", benchmark(&[]))], None, vec!["no_results benchmark.json"]),
        (
            vec![("benchmark.json", benchmark(&["{\"eval_id\": 1}".to_owned()]))],
            None,
            vec!["json_shape benchmark.json:2"],
        ),
        (vec![("benchmark.json", benchmark(&[run("old_skill", 1)]))], None, vec!["unknown_arm benchmark.json"]),
        (
            vec![("benchmark.json", benchmark(&[run("with_skill", 1), run("with_skill", 1)]))],
            None,
            vec!["repeated_run benchmark.json"],
        ),
        (
            vec![("benchmark.json", benchmark(&[run("with_skill", 4_000_000_000)]))],
            None,
            vec!["too_many_pairs benchmark.json"],
        ),
        (
            vec![("benchmark.json", benchmark(&[graded("1", 1, "true, true"), graded("0.5", 1, "true, false")]))],
            None,
            vec!["contradiction benchmark.json"],
        ),
        (
            vec![("benchmark.json", benchmark(&[graded("0.5", 2, "true, true")]))],
            None,
            vec!["contradiction benchmark.json"],
        ),
        (
            vec![("benchmark.json", benchmark(&[graded("1.0", 1, "true, false")]))],
            None,
            vec!["contradiction benchmark.json"],
        ),
        (vec![("benchmark.json", benchmark(&[graded("0.5", 2, "")]))], None, vec!["contradiction benchmark.json"]),
        (vec![("x.txt", String::new())], creator, vec!["no_results source"]),
        (vec![("job/a__1/result.json", trial.to_owned())], None, vec!["unknown_arm job/a__1/result.json"]),
        (
            vec![("reviews/m/skillsbench_default.jsonl", format!("{good_review}\nnull\n"))],
            None,
            vec!["json_shape reviews/m/skillsbench_default.jsonl:2"],
        ),
        (
            vec![("reviews/m/skillsbench_default.jsonl", format!("{good_review}\n\n{}\n", review("self-gen")))],
            None,
            vec!["unknown_arm reviews/m/skillsbench_default.jsonl:3"],
        ),
        (vec![("details/a.json", detail.to_owned())], None, vec!["contradiction details/a.json"]),
        (vec![("details/a.json", detail.replace("COMPLETED", "DONE"))], None, vec!["unknown_status details/a.json"]),
        (
            vec![("eval_report.json", r#"{"skill_id": "a", "success": true}"#.to_owned())],
            None,
            vec!["unknown_arm eval_report.json"],
        ),
        (vec![("e.json", export("\"trials\": []"))], None, vec!["json_shape e.json:2"]),
        (vec![("e.json", "{\"schema\": \"skilldelta.export.v9\"}".to_owned())], None, vec!["unknown_schema e.json"]),
    ] {
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
        assert_eq!(refusal(&files, format), want, "{files:?}");
    }
}
