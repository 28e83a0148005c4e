//! `evals.json`, as the agentskills.io guide and skill-creator write it: a case is a task whose verifier is its deterministic assertions, run by
//! a script of ours. What only a model can judge is not judged, and said so at its place; a case with nothing else is refused.

mod assertion;
mod inputs;
mod script;
mod source;

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use domain::finding::{Finding, Severity, has_errors};
use domain::path::RelPath;
use domain::skill::folder_name;
use domain::task::TaskLayout;
use domain::tree::{LoadedFile, LoadedTree};

use self::assertion::{Assertion, Check};
use self::inputs::Inputs;
use self::source::{Case, EvalsFile};
use super::copies::listed;
use super::{LoadedTask, config, dockerfile, lint, load};

/// The name of the file.
pub const FILE: &str = "evals.json";
/// What the cases run in where no Dockerfile lies beside the file: they name no container themselves.
const BASE: &str = "debian:bookworm-slim";
/// The working folder of every case.
const WORKDIR: &str = "/workspace";
/// Of a case that is left out.
const NOTHING_TO_CHECK: &str = "nothing_to_check";
const MAX_BYTES: u64 = 8 << 20;
const MAX_CASES: usize = 1_000;

/// Every case of the file at `path`, as a task or with the reasons against it. A file that holds none is one unusable entry.
#[must_use]
pub fn read_evals(path: &Path) -> Vec<LoadedTask> {
    let refusal = match inputs::read_file(path, MAX_BYTES).map(String::from_utf8) {
        Ok(Ok(text)) => return evals_of_text(&text, path),
        Ok(Err(_)) => Finding::error("not_utf8", FILE, "the file is not UTF-8").hint("save it as UTF-8"),
        Err(message) => Finding::error("unreadable", FILE, message).hint("check that it is there and may be read"),
    };
    vec![refused(FILE, vec![refusal])]
}

/// [`read_evals`] of a text at hand; `path` tells where it lies, for the files beside it.
#[must_use]
pub fn evals_of_text(text: &str, path: &Path) -> Vec<LoadedTask> {
    cases(text, path).unwrap_or_else(|finding| vec![refused(FILE, vec![finding])])
}

fn cases(text: &str, path: &Path) -> Result<Vec<LoadedTask>, Finding> {
    let text = text.trim_start_matches('\u{feff}');
    let file = EvalsFile::read(text)?;
    if file.cases.len() > MAX_CASES {
        let message = format!("{} cases, the limit is {MAX_CASES}", file.cases.len());
        return Err(Finding::error("too_many_cases", FILE, message).hint("part them into several files"));
    }
    let inputs = Inputs::beside(path);
    let skill = file.skill_name.clone().unwrap_or_else(|| inputs.owner());
    let mut taken = BTreeSet::new();
    let mut loaded: Vec<LoadedTask> = file
        .cases
        .iter()
        .enumerate()
        .map(|(index, case)| match file.case(case) {
            Ok(case) => one(&file, &case, &skill, &name(&skill, &case, index, &mut taken), &inputs),
            Err(finding) => refused(&format!("{}-{}", folder_name(&skill), index + 1), vec![finding]),
        })
        .collect();
    tell_left_out(&mut loaded);
    Ok(loaded)
}

/// Whoever looks at the tasks of a file later sees that they are not all of its cases.
fn tell_left_out(loaded: &mut [LoadedTask]) {
    let is_left_out = |task: &LoadedTask| task.findings.iter().any(|finding| finding.code == NOTHING_TO_CHECK);
    let (left, all) = (loaded.iter().filter(|task| is_left_out(task)).count(), loaded.len());
    if left == 0 {
        return;
    }
    let names = listed(loaded.iter().filter(|task| is_left_out(task)).map(|task| task.name.as_str()));
    let message =
        format!("{left} of the file's {all} cases cannot be decided without a model and are not run: {names}");
    for task in loaded.iter_mut().filter(|task| task.task.is_some()) {
        task.findings.push(Finding::note("cases_left_out", FILE, message.clone()));
    }
}

/// The skill's name and the case's id; a second one of a name gets its number in the file.
fn name(skill: &str, case: &Case<'_>, index: usize, taken: &mut BTreeSet<String>) -> String {
    let id = case.id.clone().unwrap_or_else(|| (index + 1).to_string());
    let name = folder_name(&format!("{skill}-{id}"));
    if taken.insert(name.clone()) { name } else { format!("{name}-{}", index + 1) }
}

fn one(file: &EvalsFile<'_>, case: &Case<'_>, skill: &str, name: &str, inputs: &Inputs) -> LoadedTask {
    let mut findings = case.findings.clone();
    findings.extend(lint::names_skill(FILE, &case.prompt, skill).map(|finding| finding.at(case.line, None)));
    let checks = checks(file, case, &mut findings);
    let mut files = LoadedTree::new();
    let mut put = |path: &str, executable: bool, bytes: Vec<u8>| {
        RelPath::new(path).ok().and_then(|path| files.insert(path, LoadedFile { executable, bytes }));
    };
    put("instruction.md", false, case.prompt.clone().into_bytes());
    put("task.toml", false, settings(case).into_bytes());
    put("environment/Dockerfile", false, image(case, inputs, &mut findings).into_bytes());
    put("tests/test.sh", true, script::of(&checks).into_bytes());
    for (place, input) in inputs.of(case, &mut findings) {
        files.insert(place, input);
    }
    let usable = !has_errors(&findings);
    let mut loaded = load(name, files, Vec::new());
    loaded.layout = Some(TaskLayout::Evals);
    // Findings of the generic reader are about files that were made here; the case is what a person can mend.
    let ours = |finding: &Finding| !matches!(finding.code.as_str(), "no_oracle" | "not_executable");
    findings.extend(
        loaded
            .findings
            .into_iter()
            .filter(ours)
            .map(|finding| Finding { file: FILE.to_owned(), ..finding }.at(case.line, None)),
    );
    loaded.findings = findings;
    loaded.task = loaded.task.filter(|_| usable).map(|mut task| {
        task.layout = TaskLayout::Evals;
        task
    });
    loaded
}

fn refused(name: &str, findings: Vec<Finding>) -> LoadedTask {
    LoadedTask {
        name: name.to_owned(),
        layout: Some(TaskLayout::Evals),
        task: None,
        files: LoadedTree::new(),
        findings,
    }
}

/// What can be decided without a model. Each assertion that cannot is told at its line.
fn checks(file: &EvalsFile<'_>, case: &Case<'_>, findings: &mut Vec<Finding>) -> Vec<Check> {
    let mut checks = Vec::new();
    let mut left = 0_usize;
    for raw in case.expectations.iter().chain(&case.assertions) {
        let line = file.line(raw.get());
        match assertion::read(raw.get()) {
            Assertion::Decided(check) => checks.push(check),
            Assertion::Left(reason) => {
                left += 1;
                findings.push(Finding::warning("not_judged", FILE, reason).at(line, None).hint(
                    "write it as a check of files or of a command's exit code: `file_exists`, `regex` with a `path`, `command`",
                ));
            }
            Assertion::Wrong(message) => {
                findings.push(Finding::error("bad_assertion", FILE, message).at(line, None).hint(assertion::KNOWN));
            }
        }
    }
    if checks.is_empty() && !has_errors(findings) {
        let message = match left {
            0 => "the case has no assertion, so nothing decides whether it passed".to_owned(),
            _ => format!("none of the case's {left} assertions can be decided without a model, so it is not run"),
        };
        let hint =
            "add an assertion that a script can decide, such as {\"type\": \"file_exists\", \"path\": \"report.md\"}";
        findings.push(Finding::error(NOTHING_TO_CHECK, FILE, message).at(case.line, None).hint(hint));
    } else if left > 0 {
        let message = format!(
            "{} of the case's {} assertions decide it; {left} need a model and are left out",
            checks.len(),
            checks.len() + left
        );
        findings.push(Finding::new(Severity::Note, "partly_judged", FILE, message).at(case.line, None));
    }
    checks
}

fn settings(case: &Case<'_>) -> String {
    let agent = case.timeout.unwrap_or(config::AGENT_TIMEOUT);
    let verifier = case.timeout.unwrap_or(Duration::from_secs(600));
    format!(
        "version = \"1.0\"\n[agent]\ntimeout_sec = {:?}\n[verifier]\ntimeout_sec = {:?}\n",
        agent.as_secs_f64(),
        verifier.as_secs_f64()
    )
}

/// The Dockerfile beside the file, or the stand-in base; then the working folder with the case's inputs.
fn image(case: &Case<'_>, inputs: &Inputs, findings: &mut Vec<Finding>) -> String {
    let own = inputs.dockerfile();
    if let Some(text) = &own {
        dockerfile::check("Dockerfile", text.as_bytes(), findings);
    } else {
        let message = format!("the case names no container; it runs in {BASE}");
        let hint = "put a `Dockerfile` with what the work needs beside evals.json, or another image in its place by --image-stand-in";
        findings.push(Finding::note("default_image", FILE, message).at(case.line, None).hint(hint));
    }
    let copy = if case.files.is_empty() { "" } else { "COPY files/ ./\n" };
    format!("{}\nWORKDIR {WORKDIR}\n{copy}", own.unwrap_or_else(|| format!("FROM {BASE}")).trim_end())
}
