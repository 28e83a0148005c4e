//! Which file each part of a task is taken from, and the task made of them. Settings, prompt, verifier and oracle are chosen apart from
//! each other: the newer spelling of a part wins where it is there, and is never fallen back from where it is broken.

use domain::finding::{Finding, Severity};
use domain::path::RelPath;
use domain::skill::SkillPackage;
use domain::task::{OraclePhase, ResultPlace, Task, TaskLayout, VerifierPhase};
use domain::tree::LoadedTree;

use super::config::{self, AGENT_TIMEOUT, Config, OracleConfig, VerifierConfig};
use super::settings::Source;
use super::{container, lint, scripts, skills, unsupported, v1_0, v1_1, verifier_md};

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
pub(super) fn assemble(name: &str, files: &LoadedTree, out: &mut Vec<Finding>) -> (Option<TaskLayout>, Option<Task>) {
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

fn task(name: &str, head: Head, files: &LoadedTree, out: &mut Vec<Finding>) -> Option<Task> {
    let config = config::read(&head.source, out);
    unsupported::prompt_files(files, out);
    if !head.source.values.is_empty()
        && head.source.values.get("agent").and_then(|agent| agent.get("timeout_sec")).is_none()
    {
        let message = format!("`agent.timeout_sec` is not set; the agent gets {} s", AGENT_TIMEOUT.as_secs());
        out.push(Finding::note("default_timeout", head.source.file, message));
    }
    let skills = skills::read(files, out);
    let instruction = instruction(&head, &config, &skills, out);
    let verifier = verifier(config.verifier, head.verifier, files, out);
    let oracle = oracle(config.oracle, head.oracle, files, &skills, out);
    let environment = container::environment(config.environment, files, out);
    Some(Task {
        name: name.to_owned(),
        layout: head.layout,
        instruction: instruction?,
        environment: environment?,
        agent: config.agent,
        verifier: verifier?,
        result_place: ResultPlace::Anywhere,
        oracle,
        bundled_skills: skills,
        metadata: config.metadata,
        tree: files.summary(),
    })
}

fn head(files: &LoadedTree, out: &mut Vec<Finding>) -> Option<Head> {
    match (files.get(v1_1::CONFIG), files.get(v1_0::CONFIG), files.get(v1_0::PROMPT)) {
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
                out.push(Finding::note("no_settings", v1_0::PROMPT, message));
            }
            Some(Head {
                layout: TaskLayout::SkillsBench10,
                source: toml.and_then(|file| v1_0::settings(file, out)).unwrap_or_else(|| Source::empty(v1_0::CONFIG)),
                instruction_file: v1_0::PROMPT,
                instruction: prompt.map_or(Some(String::new()), |file| v1_0::instruction(file, out)),
                verifier: None,
                oracle: None,
            })
        }
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
    let older = files.get(v1_0::PROMPT).and_then(|file| v1_0::instruction(file, out));
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
            TaskLayout::SkillsBench11 => "write it below the frontmatter of task.md",
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
        timeout: config.timeout,
        env: config.env.literal,
        env_from_host: config.env.from_host,
        user: config.user,
        network: config.network,
        keeps_test_settings: config.keeps_test_settings,
        pass_mark: 1.0,
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
