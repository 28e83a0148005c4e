//! `skilldelta doctor`: what of the environment works, and how to mend what does not.

use anyhow::anyhow;
use engine::sandbox::docker::DockerEngine;
use engine::sandbox::{Engine, free_space};
use store::{DataDir, Store, StoreError};

use super::{Exit, Failure, terminal};
use crate::config::{CommonArgs, Config, UpstreamKind};
use crate::upstreams;

/// One thing looked at.
struct Finding {
    what: &'static str,
    outcome: Result<String, String>,
}

/// Looks at everything and prints it.
///
/// # Errors
/// None: what is wrong is what it tells.
pub async fn run(common: &CommonArgs) -> Result<Exit, Failure> {
    let mut findings = Vec::new();
    match Config::load(common) {
        Err(error) => {
            let error = format!("{:#}", anyhow!(error));
            findings.push(Finding { what: "settings", outcome: Err(error) });
        }
        Ok(config) => {
            findings.push(Finding { what: "settings", outcome: Ok("readable".to_owned()) });
            findings.push(Finding { what: "data folder", outcome: data_folder(&config).await });
            findings.push(Finding { what: "container engine", outcome: engine(&config).await });
            findings.extend(images(&config).await);
            findings.push(Finding { what: "repositories", outcome: repositories(&config).await });
            findings.push(Finding { what: "models", outcome: models(&config) });
            findings.push(Finding { what: "task folders", outcome: task_roots(&config) });
        }
    }
    for finding in &findings {
        match &finding.outcome {
            Ok(text) => terminal::line(&format!("ok       {:17} {text}", finding.what)),
            Err(text) => terminal::line(&format!("problem  {:17} {text}", finding.what)),
        }
    }
    let broken = findings.iter().any(|finding| finding.outcome.is_err());
    Ok(if broken { Exit::Failed } else { Exit::Done })
}

async fn data_folder(config: &Config) -> Result<String, String> {
    let told = |error: StoreError| format!("{:#}", anyhow!(error));
    if !config.data.exists() {
        DataDir::could_be_made(&config.data).map_err(told)?;
        return Ok(format!("{} will be made at the first start", config.data.display()));
    }
    let dir = match DataDir::open(&config.data) {
        Ok(dir) => dir,
        Err(StoreError::InUse { owner, path, .. }) => {
            let by = owner.map(|pid| format!(" by process {pid}")).unwrap_or_default();
            return Ok(format!("{} is in use{by}, so it was not looked into", path.display()));
        }
        Err(error) => return Err(told(error)),
    };
    Store::examine(&dir).await.map_err(told)?;
    let free =
        free_space(dir.path()).map_err(|error| format!("the disk cannot be asked for its free space: {error}"))?.free;
    if free < config.disk_floor {
        return Err(format!(
            "only {} MB are free, {} MB are to stay free before a trial starts; free some space or lower disk_floor_mb",
            free >> 20,
            config.disk_floor >> 20
        ));
    }
    Ok(format!("{}, {} MB free", dir.path().display(), free >> 20))
}

async fn engine(config: &Config) -> Result<String, String> {
    let engine = DockerEngine::connect(config.docker_host.as_deref()).await.map_err(|error| error.to_string())?;
    let facts = engine.facts();
    Ok(format!(
        "version {}, API {}, cgroup v{}, {} CPUs, {} MB memory",
        facts.version,
        facts.api,
        facts.cgroup.map_or_else(|| "?".to_owned(), |version| version.to_string()),
        facts.cpus,
        facts.memory_mb
    ))
}

async fn images(config: &Config) -> Vec<Finding> {
    let Ok(engine) = DockerEngine::connect(config.docker_host.as_deref()).await else { return Vec::new() };
    let mut findings = Vec::new();
    for (name, local) in &config.images {
        let outcome = match engine.has_image(local).await {
            Ok(true) => Ok(format!("{name} is stood in for by {local}")),
            Ok(false) => Err(format!("{local}, the stand-in for {name}, is not on the engine; load or build it")),
            Err(error) => Err(error.to_string()),
        };
        findings.push(Finding { what: "image stand-in", outcome });
    }
    findings
}

/// Without git most tasks run all the same.
async fn repositories(config: &Config) -> Result<String, String> {
    let repositories = crate::runtime::repositories(config);
    let broken = repositories.broken_mirrors();
    if !broken.is_empty() {
        return Err(broken.join("; "));
    }
    if !config.data.exists() {
        return Ok("not looked at before the data folder is there".to_owned());
    }
    Ok(repositories.version().await.unwrap_or_else(|error| format!("none can be fetched: {error}")))
}

fn models(config: &Config) -> Result<String, String> {
    if !config.unusable_upstreams.is_empty() {
        let lacking = config.unusable_upstreams.iter().map(|(name, missing)| format!("upstream {name}: {missing}"));
        return Err(lacking.collect::<Vec<_>>().join("; "));
    }
    if config.upstreams.is_empty() {
        return Ok("none configured; set ANTHROPIC_API_KEY, OPENAI_API_KEY or GEMINI_API_KEY, or name an upstream in skilldelta.toml to use an agent that needs one".to_owned());
    }
    upstreams::build(config).map_err(|error| format!("{error:#}"))?;
    let shown = config.upstreams.iter().map(|(name, upstream)| match &upstream.kind {
        UpstreamKind::Http { base_url, key: Some(key), .. } => format!("{name} at {base_url} with key {key}"),
        UpstreamKind::Http { base_url, key: None, .. } => format!("{name} at {base_url} without a key"),
        UpstreamKind::Scripted { file } => format!("{name} from {}", file.display()),
        UpstreamKind::Replay { folder } => format!("{name} from the recording {}", folder.display()),
    });
    Ok(shown.collect::<Vec<_>>().join("; "))
}

fn task_roots(config: &Config) -> Result<String, String> {
    let missing: Vec<String> =
        config.task_roots.iter().filter(|root| !root.is_dir()).map(|root| root.display().to_string()).collect();
    if !missing.is_empty() {
        return Err(format!("no such folder: {}; mend task_roots in skilldelta.toml", missing.join(", ")));
    }
    let roots: Vec<String> = config.task_roots.iter().map(|root| root.display().to_string()).collect();
    Ok(if roots.is_empty() {
        "none: tasks can be added from the command line only".to_owned()
    } else {
        roots.join(", ")
    })
}
