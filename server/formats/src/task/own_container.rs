//! A verifier in a container of its own, as Harbor has it (`environment_mode = "separate"`, `[verifier.environment]`; BenchFlow calls both
//! `sandbox`): its image holds the tests, and of the agent's work it gets what `artifacts` names, each at its place, and nothing else.

use domain::finding::{Finding, Severity};
use domain::path::RelPath;
use domain::task::{Artifact, Environment, ImageSource, ResultPlace, TaskLayout};
use domain::tree::LoadedTree;
use serde_json::Value;

use super::config::EnvironmentConfig;
use super::settings::{Section, Source, brief, says_something};
use super::{dockerfile, v1_0};

/// Taken along without being named.
const CONVENTION: &str = "/logs/artifacts";
/// What lies here decides; an agent's files must not.
const DECIDING: [&str; 3] = ["/tests", "/verifier", "/logs/verifier"];
/// How many places a task may name.
const MOST: usize = 100;

/// What the settings ask for, besides the environment itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// The task's container, or another of the same image.
    Shared,
    /// One of its own.
    Separate,
}

/// What is asked for; a contradiction is an error.
pub(super) fn mode(verifier: &Section<'_>, out: &mut Vec<Finding>) -> Mode {
    let described = ["environment", "sandbox"].into_iter().find(|key| verifier.get(key).is_some_and(says_something));
    let asked = ["environment_mode", "sandbox_mode"].into_iter().find_map(|key| Some((key, verifier.text(key, out)?)));
    if let Some(hooks) = ["collect"].into_iter().find(|key| verifier.get(key).is_some_and(says_something)) {
        let message =
            format!("{} are commands to run between agent and verifier, which is not supported", verifier.label(hooks));
        let hint = "let the agent's work lie where `artifacts` says, or let test.sh do what they do";
        out.push(verifier.error("unsupported_verifier", hooks, message).hint(hint));
    }
    match (asked, described) {
        (Some((key, mode)), Some(table)) if mode == "shared" => {
            let message = format!(
                "{} says shared, and {} describes a container of its own",
                verifier.label(key),
                verifier.label(table)
            );
            out.push(verifier.error("unsupported_verifier", key, message).hint("keep one of them"));
            Mode::Shared
        }
        (Some((_, mode)), None) if mode == "shared" => Mode::Shared,
        (Some((_, mode)), _) if mode == "separate" => Mode::Separate,
        (Some((key, mode)), _) => {
            let message = format!("{} must be shared or separate, not {:?}", verifier.label(key), brief(&mode));
            out.push(verifier.error("unsupported_verifier", key, message).hint("leave it out for shared"));
            Mode::Shared
        }
        (None, Some(_)) => Mode::Separate,
        (None, None) => Mode::Shared,
    }
}

/// The place of the result, and the container; `None` where it cannot be had.
pub(super) fn place(
    layout: TaskLayout,
    source: &Source,
    config: EnvironmentConfig,
    files: &LoadedTree,
    out: &mut Vec<Finding>,
) -> Option<ResultPlace> {
    if layout != TaskLayout::SkillsBench10 {
        let message = format!("a verifier in a container of its own is not supported in the layout {}", layout.word());
        let hint =
            "write the task as Harbor has it (task.toml, tests/Dockerfile), or let the verifier share the container";
        out.push(source.finding(Severity::Error, "unsupported_verifier", "verifier", message).hint(hint));
        return None;
    }
    let artifacts = artifacts(source, out);
    if let Some((path, _)) = files.iter().find(|(path, _)| is_compose(path)) {
        let message = "the verifier's container is described by a compose file, which is not supported";
        out.push(
            Finding::error("several_services", path.as_str(), message)
                .hint("write what it needs into tests/Dockerfile"),
        );
    }
    let image = image(config.image, files, out)?;
    let container = Environment {
        image,
        repository: None,
        env: config.env,
        workdir: config.workdir,
        cpus: config.cpus,
        memory_mb: config.memory_mb,
        storage_mb: config.storage_mb,
        gpus: config.gpus,
        build_timeout: config.build_timeout,
        network: config.network,
    };
    Some(ResultPlace::Artifacts { artifacts, container: Box::new(container) })
}

/// In a shared container, whatever the agent made is there.
pub(super) fn note_unused(source: &Source, out: &mut Vec<Finding>) {
    if source.values.get("artifacts").is_some_and(says_something) {
        let message = "`artifacts` is not applied: the verifier has the container that the agent had";
        out.push(source.finding(Severity::Warning, "not_applied", "artifacts", message));
    }
}

fn is_compose(path: &RelPath) -> bool {
    path.below(v1_0::VERIFIER).is_some_and(|file| {
        ["docker-compose.yaml", "docker-compose.yml", "compose.yaml", "compose.yml"].contains(&file.as_str())
    })
}

/// A name wins here: that is Harbor's rule.
fn image(named: Option<String>, files: &LoadedTree, out: &mut Vec<Finding>) -> Option<ImageSource> {
    if let Some(image) = named {
        return Some(ImageSource::Named { image });
    }
    let path = format!("{}/Dockerfile", v1_0::VERIFIER);
    let Some(file) = files.get(&path) else {
        let message = "the verifier has a container of its own, and there is neither this file nor an image by name to make it of";
        let hint = "add it, with the tests copied to /tests, or set `docker_image` in `[verifier.environment]`";
        out.push(Finding::error("no_image", path, message).hint(hint));
        return None;
    };
    dockerfile::check(&path, &file.bytes, out);
    RelPath::new(v1_0::VERIFIER).ok().map(|context| ImageSource::Build { context })
}

/// The places that are taken along: texts, or tables with `source` and `exclude`. Where they are kept (`destination`) is no matter here.
fn artifacts(source: &Source, out: &mut Vec<Finding>) -> Vec<Artifact> {
    let mut taken = vec![Artifact { path: CONVENTION.to_owned(), exclude: Vec::new() }];
    let listed = match source.values.get("artifacts") {
        None | Some(Value::Null) => return taken,
        Some(Value::Array(items)) => items.as_slice(),
        Some(_) => &[Value::Null],
    };
    for item in listed.iter().take(MOST) {
        match artifact(item) {
            Ok(artifact) => {
                taken.retain(|other| other.path != artifact.path);
                taken.push(artifact);
            }
            Err(why) => out.push(
                source
                    .finding(Severity::Error, "bad_artifact", "artifacts", why)
                    .hint("name absolute paths of the agent's container, such as \"/app/result.json\""),
            ),
        }
    }
    if listed.len() > MOST {
        let message = format!("`artifacts` names more than {MOST} places");
        out.push(
            source.finding(Severity::Error, "bad_artifact", "artifacts", message).hint("name the folders instead"),
        );
    }
    taken
}

fn artifact(item: &Value) -> Result<Artifact, String> {
    let (path, exclude, service) = match item {
        Value::String(path) => (path.as_str(), None, None),
        Value::Object(fields) => {
            let path = fields.get("source").and_then(Value::as_str).unwrap_or_default();
            (path, fields.get("exclude"), fields.get("service").and_then(Value::as_str))
        }
        _ => return Err("`artifacts` must be a list of paths".to_owned()),
    };
    if service.is_some_and(|service| service != "main") {
        return Err(format!(
            "the artifact {:?} is that of another service; only one container, `main`, is run",
            brief(path)
        ));
    }
    let below = path.strip_prefix('/').map(|below| below.trim_end_matches('/'));
    let Some(below) = below.and_then(|below| RelPath::new(below).ok()) else {
        return Err(format!("the artifact {:?} is no absolute path below the root folder", brief(path)));
    };
    let path = format!("/{below}");
    let is_at = |place: &str| path == place || path.strip_prefix(place).is_some_and(|rest| rest.starts_with('/'));
    if let Some(place) = DECIDING.into_iter().find(|place| is_at(place)) {
        return Err(format!("the artifact {path} would put the agent's files into {place}, which decides"));
    }
    let names = match exclude {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(names)) => names.iter().map(|name| name.as_str().unwrap_or_default().to_owned()).collect(),
        Some(_) => vec![String::new()],
    };
    let is_plain = |name: &String| !name.is_empty() && !name.contains(['/', '*', '?', '[', '\\']);
    match names.iter().find(|name| !is_plain(name)) {
        Some(_) => Err(format!("`exclude` of the artifact {path} must be plain names of files or folders")),
        None => Ok(Artifact { path, exclude: names }),
    }
}
