//! Settings of a task from one file, layout-neutral: what the phases need, with defaults for what is not said.

use std::collections::BTreeMap;
use std::time::Duration;

use domain::finding::{Finding, Severity};
use domain::task::{AgentPhase, NetworkPolicy, TaskMetadata};
use serde_json::Value;

use super::env_vars::{self, EnvVars};
use super::own_container::{self, Mode};
use super::settings::{Section, Source, brief, scalar};
use super::{checks, limits, network, unsupported};

/// The agent's time where a task does not say: 15 minutes, as EvalScope has it.
pub(super) const AGENT_TIMEOUT: Duration = Duration::from_secs(900);
/// The verifier's time where a task does not say.
pub(super) const VERIFIER_TIMEOUT: Duration = Duration::from_secs(600);
const BUILD_TIMEOUT: Duration = Duration::from_secs(600);
const CPUS: f64 = 1.0;
const MEMORY_MB: u64 = 2048;
const STORAGE_MB: u64 = 10240;

const TOP: [&str; 19] = [
    "schema_version",
    "metadata",
    "verifier",
    "agent",
    "environment",
    super::repository::TABLE,
    "oracle",
    "task",
    "source",
    "artifacts",
    "reward",
    "steps",
    "agents",
    "scenes",
    "user",
    "benchflow",
    "multi_step_reward_strategy",
    "profile",
    "profiles",
];
const VERIFIER: [&str; 18] = [
    "type",
    "timeout_sec",
    "env",
    "service",
    "user",
    "network_mode",
    "allowed_hosts",
    "allow_internet",
    "pytest_plugins",
    "reward_range",
    "hardening",
    "judge",
    "memory",
    "sandbox",
    "sandbox_mode",
    "environment",
    "environment_mode",
    "collect",
];
const AGENT: [&str; 6] = ["timeout_sec", "user", "prompt_prefix", "network_mode", "allowed_hosts", "allow_internet"];
const ENVIRONMENT: [&str; 22] = [
    "network_mode",
    "allowed_hosts",
    "allow_internet",
    "build_timeout_sec",
    "docker_image",
    "image",
    "os",
    "cpus",
    "memory_mb",
    "memory",
    "storage_mb",
    "storage",
    "gpus",
    "gpu_types",
    "tpu",
    "env",
    "skills_dir",
    "workdir",
    "healthcheck",
    "setup_commands",
    "mcp_servers",
    "bugswarm_image_tag",
];

/// The settings of a task.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Config {
    pub(super) agent: AgentPhase,
    /// Stands before the instruction.
    pub(super) prompt_prefix: Option<String>,
    pub(super) verifier: VerifierConfig,
    pub(super) oracle: OracleConfig,
    pub(super) environment: EnvironmentConfig,
    pub(super) metadata: TaskMetadata,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct VerifierConfig {
    /// `None` where it is not said.
    pub(super) timeout: Option<Duration>,
    pub(super) env: EnvVars,
    pub(super) user: Option<String>,
    pub(super) network: Option<NetworkPolicy>,
    pub(super) keeps_test_settings: bool,
    /// The container that it has for itself; `None` = it has the task's.
    pub(super) own: Option<EnvironmentConfig>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct OracleConfig {
    pub(super) timeout: Option<Duration>,
    pub(super) env: BTreeMap<String, String>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct EnvironmentConfig {
    pub(super) image: Option<String>,
    pub(super) env: BTreeMap<String, String>,
    pub(super) workdir: Option<String>,
    pub(super) cpus: f64,
    pub(super) memory_mb: u64,
    pub(super) storage_mb: u64,
    pub(super) gpus: u32,
    pub(super) build_timeout: Duration,
    pub(super) network: NetworkPolicy,
}

/// Reads the settings. A wrong value is an error and replaced by the default, so that all of them are found in one go.
pub(super) fn read(source: &Source, out: &mut Vec<Finding>) -> Config {
    schema_version(source, out);
    unsupported::top_level(source, out);
    note_unknown(source, out);
    let agent_section = source.section("agent", out);
    let environment = environment(&source.section("environment", out), out);
    Config {
        prompt_prefix: agent_section.text("prompt_prefix", out),
        agent: agent(&agent_section, out),
        verifier: verifier(&source.section("verifier", out), &environment, out),
        oracle: oracle(&source.section("oracle", out), out),
        environment,
        metadata: metadata(&source.section("metadata", out), out),
    }
}

fn note_unknown(source: &Source, out: &mut Vec<Finding>) {
    for key in source.values.keys().filter(|key| !TOP.contains(&key.as_str())) {
        let message = format!("`{}` is not known and has no effect", brief(key));
        out.push(source.finding(Severity::Note, "unknown_key", key, message));
    }
}

/// Major version 1 is the only one there is; SkillsBench's oldest tasks say "0.0" and mean the same.
fn schema_version(source: &Source, out: &mut Vec<Finding>) {
    let Some(version) = source.values.get("schema_version").and_then(scalar) else { return };
    let major = version.trim().split('.').next().unwrap_or_default();
    if major != "1" && version.trim() != "0.0" {
        let message = format!("the task is written in version {:?} of its format; only 1.x is known", brief(&version));
        out.push(source.finding(Severity::Error, "schema_version", "schema_version", message));
    }
}

fn agent(section: &Section<'_>, out: &mut Vec<Finding>) -> AgentPhase {
    section.note_unknown(&AGENT, out);
    AgentPhase {
        timeout: limits::seconds(section, "timeout_sec", out).unwrap_or(AGENT_TIMEOUT),
        user: user(section, out),
        network: network::policy(section, out),
    }
}

fn verifier(section: &Section<'_>, shared: &EnvironmentConfig, out: &mut Vec<Finding>) -> VerifierConfig {
    section.note_unknown(&[VERIFIER.as_slice(), checks::KEYS.as_slice()].concat(), out);
    unsupported::verifier(section, out);
    let own = match own_container::mode(section, out) {
        Mode::Shared => None,
        Mode::Separate => {
            let table = section.table(&["environment", "sandbox"], "verifier.environment", out);
            Some(table.map_or_else(|| shared.clone(), |table| environment(&table, out)))
        }
    };
    let env = env_vars::read(section, out);
    env.tell_host(section, out);
    VerifierConfig {
        timeout: limits::seconds(section, "timeout_sec", out),
        env,
        user: user(section, out),
        network: network::policy(section, out),
        keeps_test_settings: section.get("hardening").and_then(|value| value.get("cleanup_conftests"))
            == Some(&Value::Bool(false)),
        own,
    }
}

/// Besides `env`, variables may stand in the table itself (`[solution] FOO = "…"`).
fn oracle(section: &Section<'_>, out: &mut Vec<Finding>) -> OracleConfig {
    let is_inline =
        |key: &str, value: &Value| env_vars::is_name(key) && key == key.to_uppercase() && scalar(value).is_some();
    let inline: Vec<_> = section.entries().filter(|(key, value)| is_inline(key, value)).collect();
    let inline_names: Vec<&str> = inline.iter().map(|(key, _)| key.as_str()).collect();
    section.note_unknown(&[&["env", "timeout_sec"], inline_names.as_slice()].concat(), out);
    let mut env = env_vars::from_entries(section, inline.into_iter(), out).without_host(section, out);
    env.extend(env_vars::read(section, out).without_host(section, out));
    OracleConfig { timeout: limits::seconds(section, "timeout_sec", out), env }
}

fn environment(section: &Section<'_>, out: &mut Vec<Finding>) -> EnvironmentConfig {
    section.note_unknown(&ENVIRONMENT, out);
    unsupported::environment(section, out);
    EnvironmentConfig {
        image: image(section, out),
        env: env_vars::read(section, out).without_host(section, out),
        workdir: workdir(section, out),
        cpus: limits::cpus(section, out).unwrap_or(CPUS),
        memory_mb: limits::megabytes(section, "memory", out).unwrap_or(MEMORY_MB),
        storage_mb: limits::megabytes(section, "storage", out).unwrap_or(STORAGE_MB),
        gpus: unsupported::gpus(section, out),
        build_timeout: limits::seconds(section, "build_timeout_sec", out).unwrap_or(BUILD_TIMEOUT),
        network: network::policy(section, out).unwrap_or(NetworkPolicy::Public),
    }
}

/// `docker_image`, or `image` as some tasks spell it.
fn image(section: &Section<'_>, out: &mut Vec<Finding>) -> Option<String> {
    let (first, second) = (section.text("docker_image", out), section.text("image", out));
    if let (Some(first), Some(second)) = (&first, &second)
        && first != second
    {
        out.push(
            section
                .error("image_conflict", "image", "`docker_image` and `image` name two images")
                .hint("keep one of them"),
        );
    }
    let image = first.or(second)?;
    if super::image_name::is_image_name(&image) {
        return Some(image);
    }
    let key = if section.get("docker_image").is_some() { "docker_image" } else { "image" };
    let finding = section.error("bad_image_name", key, format!("{:?} is no name of an image", brief(&image)));
    out.push(finding.hint("write it as `name:tag`, in lower case, such as `python:3.12-slim`"));
    None
}

fn workdir(section: &Section<'_>, out: &mut Vec<Finding>) -> Option<String> {
    let workdir = section.text("workdir", out)?;
    let fine =
        workdir.starts_with('/') && !workdir.split('/').any(|part| part == "..") && !workdir.contains(char::is_control);
    if fine {
        return Some(workdir);
    }
    let message = format!("{} must be an absolute path, not {:?}", section.label("workdir"), brief(&workdir));
    out.push(section.error("bad_workdir", "workdir", message));
    None
}

/// A user name or number, with a group after a colon at most.
fn user(section: &Section<'_>, out: &mut Vec<Finding>) -> Option<String> {
    let user = section.text("user", out)?;
    let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | ':');
    if user.chars().all(fine) && !user.starts_with('-') && user.len() <= 64 {
        return Some(user);
    }
    out.push(section.error("bad_user", "user", format!("{:?} is no user name", brief(&user))));
    None
}

fn metadata(section: &Section<'_>, out: &mut Vec<Finding>) -> TaskMetadata {
    TaskMetadata {
        difficulty: section.text("difficulty", out),
        category: section.text("category", out),
        tags: section.texts("tags", out),
    }
}
