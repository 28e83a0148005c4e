//! Report folders of SWE-Skills-Bench: `eval_report*.json` with the agent's reports and the token report beside them, or `compare.json` alone. A
//! task is a skill's requirement of one batch; the treatment is that skill. Reports of one arm over again are repeats, in order of time; one that
//! ended with an exception is an earlier attempt of the next.

use std::collections::BTreeMap;

use domain::attempt::AttemptResult;
use domain::condition::Condition;
use domain::finding::Finding;
use domain::time::Timestamp;
use domain::usage::TokenUsage;
use domain::verdict::{FailReason, InfraClass, Verdict};

use super::draft::{Draft, Run, Try};
use super::swe_reports::{CompareRow, EvalReport, RunReport, TokenReport, Tokens, Who, who_of_container, who_of_path};
use super::{Files, ReadEvaluation, number};

/// Folders below a batch's, by what lies in them.
const KINDS: [&str; 5] = ["eval", "interactive", "compare", "failed_test", "token_and_duration"];

/// One report of one run.
struct Seen {
    file: String,
    /// The batch's folder.
    base: String,
    skill: String,
    who: Who,
    attempt: Try,
}

pub(super) fn candidates(files: &Files) -> Vec<String> {
    let evals = named(files, "eval_report");
    if evals.is_empty() { named(files, "compare") } else { evals }
}

fn named(files: &Files, start: &str) -> Vec<String> {
    let ours = |path: &String| {
        let name = path.rsplit('/').next().unwrap_or_default();
        name.starts_with(start) && name.ends_with(".json")
    };
    files.paths().into_iter().filter(ours).collect()
}

pub(super) fn read(files: &mut Files, now: Timestamp, findings: &mut Vec<Finding>) -> Vec<ReadEvaluation> {
    let evals = named(files, "eval_report");
    if evals.is_empty() {
        return named(files, "compare").iter().filter_map(|path| compared(files, path, now, findings)).collect();
    }
    let mut seen: Vec<Seen> = evals.iter().filter_map(|path| evaluated(files, path, findings)).collect();
    ran(files, &mut seen, findings);
    seen.sort_by(|a, b| (a.attempt.started_at, &a.file).cmp(&(b.attempt.started_at, &b.file)));
    for path in named(files, "token_report") {
        match files.json::<TokenReport>(&path) {
            Ok(report) => tokens(&path, &report, &mut seen, findings),
            Err(finding) => findings.push(*finding),
        }
    }
    let mut groups: BTreeMap<(String, bool), Vec<Seen>> = BTreeMap::new();
    for one in seen {
        groups.entry((one.who.model.clone().unwrap_or_default(), one.who.with_agent)).or_default().push(one);
    }
    groups.into_values().filter_map(|group| draft(group).finish(now, findings)).collect()
}

fn evaluated(files: &mut Files, path: &str, findings: &mut Vec<Finding>) -> Option<Seen> {
    let report: EvalReport = files.json(path).map_err(|finding| findings.push(*finding)).ok()?;
    let container = report.container_name.as_deref();
    let Some(who) = container.and_then(|name| who_of_container(name, &report.skill_id)).or_else(|| who_of_path(path))
    else {
        let message = "neither the container's name nor the file's tells which arm this is";
        let hint = "the file is called eval_report_{skill}_use-agent-{true|false}_use-skill-{true|false}_{time}.json";
        findings.push(Finding::error("unknown_arm", path, message).hint(hint));
        return None;
    };
    let attempt = Try {
        started_at: number::instant(report.start_time.as_deref()),
        ended_at: number::instant(report.end_time.as_deref()),
        result: report.result(path, findings),
    };
    Some(Seen { file: path.to_owned(), base: base(path), skill: report.skill_id, who, attempt })
}

/// The batch's folder of a report.
fn base(path: &str) -> String {
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    match folder.rsplit_once('/') {
        Some((base, kind)) if KINDS.contains(&kind) => base.to_owned(),
        None if KINDS.contains(&folder) => String::new(),
        _ => folder.to_owned(),
    }
}

/// The agent's runs: their time goes to the evaluation that followed; a run that broke and was never evaluated is a trial of its own.
fn ran(files: &mut Files, seen: &mut Vec<Seen>, findings: &mut Vec<Finding>) {
    for path in named(files, "report_") {
        let report: RunReport = match files.json(&path) {
            Ok(report) => report,
            Err(finding) => {
                findings.push(*finding);
                continue;
            }
        };
        let Some(who) = who_of_path(&path) else {
            let message = "the file's name does not tell which arm this is; the run's time was left out";
            findings.push(Finding::warning("unknown_arm", &path, message).hint("keep the names that the runner gives"));
            continue;
        };
        let (started_at, ended_at) =
            (number::instant(report.start_time.as_deref()), number::instant(report.end_time.as_deref()));
        let base = base(&path);
        let followed = seen
            .iter_mut()
            .filter(|one| one.base == base && one.skill == report.skill_id)
            .filter(|one| (one.who.condition, one.who.with_agent) == (who.condition, who.with_agent))
            .filter(|one| one.attempt.result.phases.agent.is_none() && one.attempt.started_at >= ended_at)
            .min_by_key(|one| one.attempt.started_at);
        if let Some(one) = followed {
            one.attempt.result.phases.agent = number::seconds(report.duration_sec);
        } else if !report.success {
            let message = report.error.unwrap_or_else(|| "the agent's run ended with an exception".to_owned());
            let result = AttemptResult::bare(Verdict::InfraError { class: InfraClass::Engine, message });
            seen.push(Seen {
                file: path,
                base,
                skill: report.skill_id,
                who,
                attempt: Try { started_at, ended_at, result },
            });
        } else {
            let message = "the agent ran and was not evaluated: there is no eval_report of this run";
            findings.push(
                Finding::warning("not_evaluated", &path, message).hint("run eval.py for it, or bring its report"),
            );
        }
    }
}

/// Tokens go to the newest run of each skill and arm in the report's folder.
fn tokens(path: &str, report: &TokenReport, seen: &mut [Seen], findings: &mut Vec<Finding>) {
    let base = base(path);
    for (skill, arms) in &report.skills {
        for (condition, tokens) in [(Condition::WithSkill, arms.with), (Condition::NoSkill, arms.without)] {
            let Some(tokens) = tokens else { continue };
            let mut runs: Vec<&mut Seen> = seen
                .iter_mut()
                .filter(|one| one.base == base && one.skill == *skill && one.who.with_agent)
                .filter(|one| one.who.condition == condition)
                .collect();
            let batches: std::collections::BTreeSet<_> = runs.iter().map(|one| one.who.batch.clone()).collect();
            if batches.len() > 1 {
                let message = format!(
                    "{skill}: runs of several batches lie beside the report, so its tokens belong to none of them for sure"
                );
                findings
                    .push(Finding::warning("tokens_left_out", path, message).hint("keep one folder for each batch"));
            } else if let Some(last) = runs.last_mut() {
                last.attempt.result.usage = usage(tokens);
            }
        }
    }
}

/// The report writes 0 for an arm that is not there.
const fn usage(tokens: Tokens) -> TokenUsage {
    match tokens {
        Tokens { input: 0, cache_create: 0, cache_read: 0, output: 0 } => TokenUsage::UNKNOWN,
        Tokens { input, cache_create, cache_read, output } => TokenUsage {
            input: Some(input),
            cache_read: Some(cache_read),
            cache_write: Some(cache_create),
            output: Some(output),
        },
    }
}

fn draft(group: Vec<Seen>) -> Draft {
    let first = group.first();
    let model = first.and_then(|one| one.who.model.clone());
    let with_agent = first.is_some_and(|one| one.who.with_agent);
    let file = first.map(|one| one.file.clone()).unwrap_or_default();
    let created_at = group.iter().filter_map(|one| one.attempt.started_at).min();
    let mut by_run: BTreeMap<(String, Condition), Vec<Seen>> = BTreeMap::new();
    for one in group {
        let task = match &one.who.batch {
            Some(batch) => format!("{batch}/{}", one.skill),
            None => one.skill.clone(),
        };
        by_run.entry((task, one.who.condition)).or_default().push(one);
    }
    let runs = by_run.into_iter().flat_map(|((task, condition), seen)| repeats(&task, condition, seen)).collect();
    let agent = if with_agent { "claude-code" } else { "nop" };
    Draft {
        title: format!("SWE-Skills-Bench, {}", model.as_deref().unwrap_or("unknown model")),
        agent: Some(agent.to_owned()),
        model: model.filter(|_| with_agent),
        created_at,
        runs,
        findings: known_troubles(&file),
        ..Draft::default()
    }
}

/// What is to be known about every report of this runner.
fn known_troubles(file: &str) -> Vec<Finding> {
    vec![
        Finding::warning(
            "treatment_unverified",
            file,
            "this runner puts its whole folder of skills into the with-skill arm (and put none into it for a while), and does not check what was there",
        ),
        Finding::warning(
            "tokens_doubtful",
            file,
            "this runner counts the tokens of one session file of several, so ρ may be far off",
        ),
        Finding::note(
            "times_without_zone",
            file,
            "times are the runner's local ones without a zone; they are shown as UTC",
        ),
    ]
}

/// Reports in order of time as runs with their attempts.
fn repeats(task: &str, condition: Condition, seen: Vec<Seen>) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let mut open = false;
    for one in seen {
        let retried = one.attempt.result.verdict.is_retried();
        match runs.last_mut() {
            Some(run) if open => run.attempts.push(one.attempt),
            _ => runs.push(Run {
                file: one.file,
                task: task.to_owned(),
                condition,
                repeat: None,
                attempts: vec![one.attempt],
            }),
        }
        open = retried;
    }
    runs
}

/// `compare.json` alone: counts of test cases, and no more.
fn compared(files: &mut Files, path: &str, now: Timestamp, findings: &mut Vec<Finding>) -> Option<ReadEvaluation> {
    let rows: Vec<CompareRow> = files.json(path).map_err(|finding| findings.push(*finding)).ok()?;
    let mut draft = Draft {
        title: "SWE-Skills-Bench, comparison".to_owned(),
        agent: Some("claude-code".to_owned()),
        ..Draft::default()
    };
    let note = "a comparison tells counts of test cases only: a run passes where all of them did, whatever pass rate its skill asks for";
    draft.findings = known_troubles(path);
    draft.findings.push(Finding::warning("counts_only", path, note).hint("bring the eval_report files"));
    for row in rows {
        let arms = [
            (Condition::NoSkill, row.no_skill_passed, row.no_skill_total),
            (Condition::WithSkill, row.use_skill_passed, row.use_skill_total),
        ];
        for (condition, passed, total) in arms {
            let (Some(passed), Some(total)) = (passed, total) else { continue };
            if total == 0 || passed > total {
                let message =
                    format!("{}: {passed} of {total} test cases is no result; the run was left out", row.skill_id);
                findings.push(Finding::warning("counts", path, message).hint("bring the eval_report files"));
                continue;
            }
            let verdict =
                if passed == total { Verdict::Pass } else { Verdict::Fail { reason: FailReason::WrongResult } };
            let result = AttemptResult { reward: Some(passed as f64 / total as f64), ..AttemptResult::bare(verdict) };
            let attempts = vec![Try { started_at: None, ended_at: None, result }];
            draft.runs.push(Run {
                file: path.to_owned(),
                task: row.skill_id.clone(),
                condition,
                repeat: None,
                attempts,
            });
        }
    }
    (!draft.runs.is_empty()).then(|| draft.finish(now, findings))?
}
