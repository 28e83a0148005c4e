//! One task of the benchmark as the files of a repository task of our own form, which then is read like any other.

use domain::finding::Finding;
use domain::path::RelPath;
use domain::tree::{LoadedFile, LoadedTree};
use toml::{Table, Value};

use super::config::{Command, Config, Skill};
use crate::task::{repository, skills, v1_0};

/// Where the original puts the tests: outside of the repository, so that nothing of it is imported by accident.
const TESTS: &str = "/tmp/benchmark_tests";
/// The original installs pytest before the tests where it is missing; here it is part of the image, for both arms and before the agent.
const PYTEST: &str =
    "python -m pytest --version >/dev/null 2>&1 || python -m pip install pytest -q --break-system-packages";

/// What a task is made of.
pub(super) struct Parts {
    pub(super) batch: String,
    pub(super) requirement: Vec<u8>,
    /// The test file and its helper, by file name.
    pub(super) tests: Vec<(String, Vec<u8>)>,
    /// The files of the skill, by path in its folder.
    pub(super) skill: LoadedTree,
}

/// The test file that a skill's test command names, such as `test_fix.py`.
pub(super) fn test_file(command: &str) -> Option<&str> {
    let word = command.split_whitespace().find(|word| word.contains("/tests/") && word.ends_with(".py"))?;
    word.rsplit('/').next()
}

/// The files.
pub(super) fn make(config: &Config, skill: &Skill, parts: Parts) -> Result<LoadedTree, Box<Finding>> {
    let mut files = LoadedTree::new();
    let mut put = |path: String, bytes: Vec<u8>| {
        let path = RelPath::new(&path).map_err(|error| {
            Box::new(Finding::error("bad_path", path.as_str(), format!("the name cannot be used: {error}")))
        })?;
        files.insert(path, LoadedFile { executable: false, bytes });
        Ok::<(), Box<Finding>>(())
    };
    put(v1_0::CONFIG.to_owned(), settings(config, skill, &parts.batch).to_string().into_bytes())?;
    put(repository::PROMPT.to_owned(), parts.requirement)?;
    for (name, bytes) in parts.tests {
        put(format!("{}/{name}", v1_0::VERIFIER), bytes)?;
    }
    for (path, file) in parts.skill.iter() {
        put(format!("{}/{}/{path}", skills::FOLDER, skill.id), file.bytes.clone())?;
    }
    Ok(files)
}

fn settings(config: &Config, skill: &Skill, batch: &str) -> Table {
    let text = |text: &str| Value::String(text.to_owned());
    let texts = |texts: &[String]| Value::Array(texts.iter().map(|item| text(item)).collect());
    let network = text(if config.network { "public" } else { "none" });
    let mut metadata = Table::new();
    metadata.extend(skill.kind.as_ref().map(|kind| ("category".to_owned(), text(kind))));
    metadata.insert("tags".to_owned(), texts(&[skill.id.clone(), batch.to_owned()]));

    let mut environment = Table::new();
    environment.extend(skill.image.as_ref().map(|image| ("docker_image".to_owned(), text(image))));
    environment.insert("cpus".to_owned(), Value::Float(skill.cpus));
    environment.insert("memory_mb".to_owned(), Value::Integer(i64::try_from(skill.memory_mb).unwrap_or(i64::MAX)));
    environment.insert("network_mode".to_owned(), network.clone());
    let env: Table = skill.env.iter().map(|(name, value)| (name.clone(), text(value))).collect();
    if !env.is_empty() {
        environment.insert("env".to_owned(), Value::Table(env));
    }

    let mut agent = Table::new();
    agent.insert("timeout_sec".to_owned(), Value::Float(skill.agent_time.as_secs_f64()));

    let mut verifier = Table::new();
    if let Some(tests) = &skill.tests {
        verifier.insert("test_command".to_owned(), text(&moved(&tests.command)));
        verifier.insert("test_timeout_sec".to_owned(), Value::Float(tests.seconds));
    }
    verifier.insert("tests_folder".to_owned(), text(TESTS));
    verifier.insert("min_pass_rate".to_owned(), Value::Float(skill.min_pass_rate));
    verifier.insert("network_mode".to_owned(), network);
    if !skill.builds.is_empty() {
        verifier.insert("builds".to_owned(), Value::Array(skill.builds.iter().map(build).collect()));
    }

    let mut all = Table::new();
    if let Some(url) = &skill.url {
        let name = url.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let mut table = Table::new();
        table.insert("url".to_owned(), text(url));
        table.extend(skill.commit.as_ref().map(|commit| ("commit".to_owned(), text(commit))));
        let folder = format!("{}/{}", config.workspace, name.strip_suffix(".git").unwrap_or(name));
        table.insert("folder".to_owned(), text(&folder));
        table.insert("sparse".to_owned(), texts(&skill.sparse));
        let mut setup = vec![PYTEST.to_owned()];
        setup.extend(skill.setup.iter().cloned());
        table.insert("setup".to_owned(), texts(&setup));
        all.insert(repository::TABLE.to_owned(), Value::Table(table));
    } else {
        environment.insert("workdir".to_owned(), text(&config.workspace));
    }
    for (name, table) in
        [("metadata", metadata), ("environment", environment), ("agent", agent), ("verifier", verifier)]
    {
        all.insert(name.to_owned(), Value::Table(table));
    }
    all
}

/// The original's own change of the command: the test file lies in [`TESTS`], and the command starts there.
fn moved(command: &str) -> String {
    let words = command.split_whitespace().map(|word| match test_file(word) {
        Some(file) => format!("{TESTS}/{file}"),
        None => word.to_owned(),
    });
    format!("cd {TESTS} && unset PYTHONPATH && {}", words.collect::<Vec<_>>().join(" "))
}

fn build(build: &Command) -> Value {
    let mut table = Table::new();
    table.insert("command".to_owned(), Value::String(build.command.clone()));
    table.insert("expected_exit_code".to_owned(), Value::Integer(build.wanted));
    table.insert("timeout_sec".to_owned(), Value::Float(build.seconds));
    Value::Table(table)
}
