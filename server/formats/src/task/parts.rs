//! Which file each part of a task is taken from, and the task made of them. Settings, prompt, verifier and oracle are chosen apart from
//! each other: the newer spelling of a part wins where it is there, and is never fallen back from where it is broken.

use domain::finding::{Finding, Severity};
use domain::path::RelPath;
use domain::repository::TargetRepository;
use domain::skill::SkillPackage;
use domain::task::{OraclePhase, ResultPlace, Scoring, Task, TaskLayout, VerifierPhase};
use domain::tree::{LoadedFile, LoadedTree};

use super::checks::{self, Checks};
use super::config::{self, AGENT_TIMEOUT, Config, OracleConfig, VERIFIER_TIMEOUT, VerifierConfig};
use super::settings::Source;
use super::{container, leaks, lint, own_container, repository, scripts, skills, unsupported, v1_0, v1_1, verifier_md};

/// Settings and prompt, from whichever files they are in.
struct Head {
    layout: TaskLayout,
    source: Source,
    instruction_file: &'static str,
    /// `None` where its file could not be read (there is a finding then); may be empty.
    instruction: Option<String>,
    verifier: Option<RelPath>,
    oracle: Option<RelPath>,
}

/// The layout and the task; findings tell why there is none. A task with error findings is not to be used.
///
/// A verifier that is commands gets its script, which is from then on a file of the task.
pub(super) fn assemble(
    name: &str,
    files: &mut LoadedTree,
    out: &mut Vec<Finding>,
) -> (Option<TaskLayout>, Option<Task>) {
    let Some(head) = head(files, out) else {
        let message = "this folder is no task: it has neither `task.md` nor `instruction.md` with `task.toml`";
        out.push(
            Finding::error("not_a_task", ".", message).hint("name a folder of a task, or a folder of such folders"),
        );
        return (None, None);
    };
    let layout = head.layout;
    (Some(layout), task(name, head, files, out))
}

fn task(name: &str, head: Head, files: &mut LoadedTree, out: &mut Vec<Finding>) -> Option<Task> {
    let config = config::read(&head.source, out);
    let repository = repository::read(&head.source, out);
    let checks = checks::read(&head.source, out);
    let workdir = config.environment.workdir.as_deref().or(repository.as_ref().map(|found| found.folder.as_str()));
    if let Some(checks) = &checks {
        put_script(checks, workdir, files, out);
    }
    let files = &*files;
    unsupported::prompt_files(files, out);
    if !head.source.values.is_empty()
        && head.source.values.get("agent").and_then(|agent| agent.get("timeout_sec")).is_none()
    {
        let message = format!("`agent.timeout_sec` is not set; the agent gets {} s", AGENT_TIMEOUT.as_secs());
        out.push(Finding::note("default_timeout", head.source.file, message));
    }
    let skills = skills::read(files, out);
    leaks::check(name, files, out);
    let instruction = instruction(&head, &config, &skills, out);
    let own = config.verifier.own.clone();
    let verifier = verifier(config.verifier, head.verifier, checks.as_ref(), files, out);
    let oracle = oracle(config.oracle, head.oracle, files, &skills, out);
    let result_place = match own {
        Some(own) => own_container::place(head.layout, &head.source, own, files, out),
        None => {
            own_container::note_unused(&head.source, out);
            Some(result_place(repository.as_ref()))
        }
    };
    let environment = container::environment(config.environment, repository, files, out);
    Some(Task {
        name: name.to_owned(),
        layout: head.layout,
        instruction: instruction?,
        environment: environment?,
        agent: config.agent,
        verifier: verifier?,
        result_place: result_place?,
        oracle,
        bundled_skills: skills,
        metadata: config.metadata,
        tree: files.summary(),
    })
}

fn head(files: &LoadedTree, out: &mut Vec<Finding>) -> Option<Head> {
    let (prompt_file, prompt) = prompt(files, out);
    match (files.get(v1_1::CONFIG), files.get(v1_0::CONFIG), prompt) {
        (None, None, None) => None,
        (Some(document), toml, _) => {
            if toml.is_some() {
                let message = format!("{} is not read, because {} is there", v1_0::CONFIG, v1_1::CONFIG);
                out.push(Finding::note("two_configs", v1_0::CONFIG, message));
            }
            Some(newer_head(v1_1::document(document, out), files, out))
        }
        (None, toml, prompt) => {
            if toml.is_none() {
                let message = "there is no task.toml, so all limits are defaults";
                out.push(Finding::note("no_settings", prompt_file, message));
            }
            let source = toml.and_then(|file| v1_0::settings(file, out)).unwrap_or_else(|| Source::empty(v1_0::CONFIG));
            let layout = if repository::is_named(&source) { TaskLayout::Repository } else { TaskLayout::SkillsBench10 };
            Some(Head {
                layout,
                source,
                instruction_file: prompt_file,
                instruction: prompt.map_or(Some(String::new()), |file| v1_0::instruction(prompt_file, file, out)),
                verifier: None,
                oracle: None,
            })
        }
    }
}

/// The file that holds the prompt of a task without a `task.md`.
fn prompt<'f>(files: &'f LoadedTree, out: &mut Vec<Finding>) -> (&'static str, Option<&'f LoadedFile>) {
    match (files.get(v1_0::PROMPT), files.get(repository::PROMPT)) {
        (None, Some(requirement)) => (repository::PROMPT, Some(requirement)),
        (instruction, requirement) => {
            if instruction.is_some() && requirement.is_some() {
                let message = format!("{} is not read, because {} is there", repository::PROMPT, v1_0::PROMPT);
                out.push(
                    Finding::warning("two_prompts", repository::PROMPT, message).hint("remove one of the two files"),
                );
            }
            (v1_0::PROMPT, instruction)
        }
    }
}

/// The result of work in a repository is what lies in it.
fn result_place(repository: Option<&TargetRepository>) -> ResultPlace {
    repository.map_or(ResultPlace::Anywhere, |found| ResultPlace::Workspace { path: found.folder.clone() })
}

/// Adds the script that a verifier's commands make.
fn put_script(checks: &Checks, workdir: Option<&str>, files: &mut LoadedTree, out: &mut Vec<Finding>) {
    let script = format!("{}/test.sh", v1_0::VERIFIER);
    if files.get(&script).is_some() {
        let message = format!("the verifier is both the commands in {} and this script", v1_0::CONFIG);
        return out.push(Finding::error("two_verifiers", script, message).hint("remove the script, or `test_command`"));
    }
    let bytes = checks.script(workdir.unwrap_or("/")).into_bytes();
    if let Ok(path) = RelPath::new(&script) {
        files.insert(path, LoadedFile { executable: true, bytes });
    }
}

/// The head of a task with a `task.md`. Its prompt may still stand in `instruction.md`.
fn newer_head(document: Option<v1_1::Document>, files: &LoadedTree, out: &mut Vec<Finding>) -> Head {
    let Some(document) = document else {
        return Head {
            layout: TaskLayout::SkillsBench11,
            source: Source::empty(v1_1::CONFIG),
            instruction_file: v1_1::CONFIG,
            instruction: None,
            verifier: None,
            oracle: None,
        };
    };
    let older = files.get(v1_0::PROMPT).and_then(|file| v1_0::instruction(v1_0::PROMPT, file, out));
    let (file, instruction) = match older {
        Some(older) if document.instruction.is_empty() => (v1_0::PROMPT, older),
        Some(older) => {
            if older != document.instruction {
                let message = format!("the prompt differs from that in {}, which is used", v1_1::CONFIG);
                out.push(Finding::warning("two_prompts", v1_0::PROMPT, message).hint("remove one of the two files"));
            }
            (v1_1::CONFIG, document.instruction)
        }
        None => (v1_1::CONFIG, document.instruction),
    };
    Head {
        layout: TaskLayout::SkillsBench11,
        source: document.source,
        instruction_file: file,
        instruction: Some(instruction),
        verifier: document.verifier,
        oracle: document.oracle,
    }
}

fn instruction(head: &Head, config: &Config, skills: &[SkillPackage], out: &mut Vec<Finding>) -> Option<String> {
    let instruction = head.instruction.as_ref()?;
    if instruction.is_empty() {
        let finding =
            Finding::error("no_instruction", head.instruction_file, "the task has no instruction for the agent");
        let hint = match head.layout {
            TaskLayout::SkillsBench10 => "write it in instruction.md",
            TaskLayout::Repository | TaskLayout::SweSkillsBench => "write it in requirement.md",
            TaskLayout::SkillsBench11 => "write it below the frontmatter of task.md",
            TaskLayout::Evals => "write it as the `prompt` of the case",
        };
        out.push(finding.hint(hint));
        return None;
    }
    lint::check(head.instruction_file, instruction, skills, out);
    Some(match &config.prompt_prefix {
        Some(prefix) => format!("{prefix}\n\n{instruction}"),
        None => instruction.clone(),
    })
}

fn verifier(
    config: VerifierConfig,
    named: Option<RelPath>,
    checks: Option<&Checks>,
    files: &LoadedTree,
    out: &mut Vec<Finding>,
) -> Option<VerifierPhase> {
    let folder = folder(named, [v1_1::VERIFIER, v1_0::VERIFIER], files);
    let Some(folder) = folder else {
        out.push(no_verifier(files));
        return None;
    };
    let script = format!("{folder}/test.sh");
    let Some(file) = files.get(&script) else {
        out.push(no_script(&folder, files));
        return None;
    };
    scripts::check_entry(&script, file, Severity::Error, out);
    scripts::check_others(files, &folder, &script, out);
    let description = format!("{folder}/verifier.md");
    if let Some(file) = files.get(&description) {
        verifier_md::check(&description, file, out);
    }
    Some(VerifierPhase {
        folder,
        timeout: config.timeout.unwrap_or_else(|| checks.map_or(VERIFIER_TIMEOUT, Checks::time)),
        env: config.env.literal,
        env_from_host: config.env.from_host,
        user: config.user,
        network: config.network,
        keeps_test_settings: config.keeps_test_settings,
        pass_mark: checks.map_or(1.0, |checks| checks.pass_mark),
        scoring: if checks.is_some() { Checks::SCORING } else { Scoring::Reward },
    })
}

fn no_verifier(files: &LoadedTree) -> Finding {
    let message = "the task has no verifier: neither `verifier/test.sh` nor `tests/test.sh`";
    let finding = Finding::error("no_verifier", "tests/test.sh", message);
    let found = files
        .iter()
        .map(|(path, _)| path)
        .find(|path| path.file_name() == "test.sh" || path.file_name() == "run-tests.sh");
    finding.hint(match found {
        Some(path) => format!("there is `{path}`: it must be called `tests/test.sh`"),
        None => "add `tests/test.sh`, which writes a number from 0 to 1 to /logs/verifier/reward.txt".to_owned(),
    })
}

fn no_script(folder: &RelPath, files: &LoadedTree) -> Finding {
    let script = format!("{folder}/test.sh");
    let finding = Finding::error("no_verifier", script.as_str(), format!("the verifier in `{folder}/` has no test.sh"));
    let older = format!("{}/test.sh", v1_0::VERIFIER);
    if script != older && files.get(&older).is_some() {
        return finding
            .hint(format!("`{older}` is not used in its place: remove `{folder}/`, or add the script there"));
    }
    finding.hint(format!("add `{script}`, which writes a number from 0 to 1 to /logs/verifier/reward.txt"))
}

fn oracle(
    config: OracleConfig,
    named: Option<RelPath>,
    files: &LoadedTree,
    skills: &[SkillPackage],
    out: &mut Vec<Finding>,
) -> Option<OraclePhase> {
    let hint = "without it the task audit cannot show that the task can be solved";
    let Some(folder) = folder(named, [v1_1::ORACLE, v1_0::ORACLE], files) else {
        out.push(Finding::note("no_oracle", "solution/solve.sh", "the task has no solution of its own").hint(hint));
        return None;
    };
    let script = format!("{folder}/solve.sh");
    let Some(file) = files.get(&script) else {
        let message = format!("the solution in `{folder}/` has no solve.sh and is not used");
        out.push(Finding::warning("no_oracle", script, message).hint(hint));
        return None;
    };
    scripts::check_entry(&script, file, Severity::Warning, out);
    scripts::check_others(files, &folder, &script, out);
    // Solutions of the older layout may import the bundled skills; newer ones are complete in themselves.
    let needs_skills = folder.as_str() == v1_0::ORACLE && !skills.is_empty();
    Some(OraclePhase { folder, timeout: config.timeout, env: config.env, needs_skills })
}

/// The folder that is named, or else the first one that has files.
fn folder(named: Option<RelPath>, usual: [&str; 2], files: &LoadedTree) -> Option<RelPath> {
    let has_files = |folder: &&str| files.iter().any(|(path, _)| path.below(folder).is_some());
    named.or_else(|| usual.iter().find(|folder| has_files(folder)).and_then(|folder| RelPath::new(folder).ok()))
}
