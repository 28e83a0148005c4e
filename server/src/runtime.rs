//! Everything that `serve` and `eval` run with, put together from the settings: data folder, operations, executor.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use async_trait::async_trait;
use domain::attempt::BlobRef;
use domain::hash::ContentHash;
use domain::listing::AgentChoice;
use domain::plan::{AgentRef, ModelRef};
use domain::time::Timestamp;
use engine::agent::Agent;
use engine::agent::command::CommandAgent;
use engine::blobs::Blobs;
use engine::image::{ImageConfig, Images, StandIns};
use engine::network::Networks;
use engine::sandbox::Redactor;
use engine::sandbox::docker::DockerEngine;
use engine::trees::Trees;
use engine::trial::{Clock, Executor, ExecutorParts};
use gateway::{Gateway, PriceTable, RetryPolicy};
use ops::{HostValues, Ops, OpsConfig, Priced, Secrets, UpstreamChoice};
use repos::{RepoLimits, Repositories, RepositoriesConfig};
use store::{DataDir, Store, StoreError};

use crate::config::{Config, UpstreamConfig};
use crate::host_values;
use crate::scheduler::{Available, Limits, Obstacles, Scheduler};
use crate::upstreams;

/// The open data folder with what can be asked of it.
pub struct Runtime {
    /// What a user can ask for.
    pub ops: Ops,
    /// Rows and blobs.
    pub store: Store,
    config: Config,
    clock: Clock,
    instance: String,
    agents: Vec<Arc<dyn Agent>>,
    repositories: Repositories,
}

/// The clock on the wall.
#[must_use]
pub fn wall_clock() -> Clock {
    Arc::new(|| {
        let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        Timestamp(since.map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX)))
    })
}

impl Runtime {
    /// Opens the data folder. `command` is what the `command` agent runs, where one is wanted.
    ///
    /// # Errors
    /// A data folder in use or unreadable, a database of a newer program; each with a remedy.
    pub async fn open(config: Config, command: Option<&str>) -> Result<Self> {
        let dir = DataDir::open(&config.data)?;
        let instance = instance(dir.path())?;
        let store = Store::open(&dir).await?.with_retry_wait(config.retry_wait);
        let clock = wall_clock();
        let agents = agents(&config, command);
        let repositories = repositories(&config);
        let prices = upstreams::prices(&config)?;
        let ops = Ops::new(store.clone(), Arc::clone(&clock), offers(&config, &agents, &repositories, prices));
        Ok(Self { ops, store, config, clock, instance, agents, repositories })
    }

    /// Connects to the container engine and makes the scheduler ready.
    ///
    /// # Errors
    /// An engine that does not answer, stand-ins or certificates that cannot be used; each with a remedy.
    pub async fn scheduler(&self) -> Result<Scheduler> {
        let config = &self.config;
        let engine = DockerEngine::connect(config.docker_host.as_deref()).await?;
        let stand_ins = StandIns::parse(config.images.iter().map(|(name, local)| format!("{name}={local}")))
            .map_err(anyhow::Error::msg)?;
        let ca_bundle = config.ca_pem()?;
        let executor = Executor::new(ExecutorParts {
            engine: Arc::new(engine.clone()),
            images: Images::new(engine.clone(), ImageConfig { stand_ins, ca_bundle }),
            repositories: self.repositories.clone(),
            gateway: Gateway::new(upstreams::build(config)?)
                .with_prices(upstreams::prices(config)?)
                .with_retry(RetryPolicy { within: config.outage_wait, ..RetryPolicy::default() }),
            networks: Networks::new(engine.clone(), config.data.join("run")),
            agents: self.agents.clone(),
            blobs: Arc::new(StoredBlobs(self.store.blobs().clone())),
            clock: Arc::clone(&self.clock),
            instance: self.instance.clone(),
            redactor: Redactor::new(secrets(config)),
            host_values: host_values::look_up(config),
        });
        let obstacles = Obstacles::new(self.store.dir().path().to_owned(), config.disk_floor, engine);
        Ok(Scheduler::new(
            self.ops.clone(),
            Arc::new(executor),
            Arc::clone(&self.clock),
            self.instance.clone(),
            Limits {
                trials: config.max_concurrency,
                image_days: config.image_keep_days,
                repository_days: config.repository_keep_days,
            },
            obstacles,
            Available {
                agents: self.agents.iter().map(|agent| agent_ref(agent.as_ref())).collect(),
                upstreams: config.upstreams.keys().cloned().collect(),
                only: None,
            },
        ))
    }
}

/// The data folder's own id, drawn once: two servers on one engine do not touch each other's containers.
fn instance(data: &Path) -> Result<String> {
    let path = data.join("instance");
    if let Ok(text) = std::fs::read_to_string(&path)
        && text.trim().len() == 16
    {
        return Ok(text.trim().to_owned());
    }
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes).context("no id could be drawn for the data folder")?;
    let id: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    std::fs::write(&path, &id).with_context(|| format!("{} cannot be written", path.display()))?;
    Ok(id)
}

/// Of several installed versions of an agent the newest comes first: it is what the bare name means.
fn agents(config: &Config, command: Option<&str>) -> Vec<Arc<dyn Agent>> {
    let builtin = engine::agent::BUILTIN.iter().filter_map(|name| engine::agent::builtin(name));
    let command = command.map(|command| Arc::new(CommandAgent::new(command)) as Arc<dyn Agent>);
    let installed = trees(config).list().into_iter().rev().filter_map(engine::agent::installed::from_tree);
    builtin.chain(command).chain(installed).collect()
}

/// Where repositories come from, and are kept.
#[must_use]
pub fn repositories(config: &Config) -> Repositories {
    repositories_in(absolute(&config.data).join("repositories"), config)
}

/// The same, kept elsewhere.
#[must_use]
pub fn repositories_in(cache: PathBuf, config: &Config) -> Repositories {
    Repositories::new(RepositoriesConfig {
        cache,
        mirrors: config.repository_mirrors.clone(),
        ca_bundle: config.ca_bundle.as_deref().map(absolute),
        proxy: config.proxy.clone(),
        search_path: config.search_path.clone(),
        limits: RepoLimits { fetch_bytes: config.repository_limit, ..RepoLimits::default() },
    })
}

/// The program git is started elsewhere.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Where installed agents lie.
#[must_use]
pub fn trees(config: &Config) -> Trees {
    Trees::new(config.data.join("agents"))
}

fn offers(config: &Config, agents: &[Arc<dyn Agent>], repositories: &Repositories, prices: PriceTable) -> OpsConfig {
    let agents = agents
        .iter()
        .map(|agent| AgentChoice {
            agent: agent_ref(agent.as_ref()),
            about: about(agent.name()).to_owned(),
            needs_model: agent.needs_model(),
            calls_from_container: agent.calls_from_container(),
            skill_obstacle: agent.skill_obstacle().map(str::to_owned),
            prompt: agent.prompt_intake(),
        })
        .collect();
    let models = config.upstreams.iter().flat_map(|(name, upstream)| {
        let scripted = upstream.kind.is_scripted();
        upstream.models.iter().map(move |model| ModelRef { name: model.clone(), upstream: name.clone(), scripted })
    });
    OpsConfig {
        agents,
        models: models.collect(),
        upstreams: config.upstreams.iter().map(upstream).collect(),
        unusable_upstreams: config.unusable_upstreams.clone().into_iter().collect(),
        priced: Priced::new(Arc::new(move |model| prices.knows(model))),
        task_roots: config.task_roots.clone(),
        upload_limit: config.upload_limit,
        secrets: Secrets::new(secrets(config)),
        host_values: HostValues::new(host_values::look_up(config)),
        takes_no_approvals: config.can_be_reached() && !config.remote_approvals,
        repositories: Some(repositories.clone()),
    }
}

fn upstream((name, upstream): (&String, &UpstreamConfig)) -> UpstreamChoice {
    UpstreamChoice { name: name.clone(), scripted: upstream.kind.is_scripted() }
}

fn agent_ref(agent: &dyn Agent) -> AgentRef {
    AgentRef::new(agent.name(), agent.version())
}

fn about(agent: &str) -> &'static str {
    match agent {
        "bash" => "our own small agent: one tool, a shell in the container; needs nothing installed",
        "oracle" => "runs the task's own solution: shows whether the task can be passed at all",
        "nop" => "does nothing: shows what passes without any work",
        "claude-code" => "Claude Code, headless, from its installed tree",
        "codex" => "Codex, headless, from its installed tree",
        "opencode" => "opencode, headless, from its installed tree",
        "gemini-cli" => "Gemini CLI, headless, from its installed tree",
        "qwen-code" => "Qwen Code, headless, from its installed tree",
        "openclaw" => "openclaw, headless, from its installed tree",
        "mini-swe-agent" => "mini-swe-agent, headless, from its installed tree; looks for no skills",
        "openhands" => "OpenHands by its SDK, headless, from its installed tree",
        _ => "a command of your own, run in the container",
    }
}

fn secrets(config: &Config) -> Vec<String> {
    config.upstream_keys().map(str::to_owned).chain(config.secrets.iter().cloned()).collect()
}

/// The store's blobs as the engine sees them.
struct StoredBlobs(store::Blobs);

#[async_trait]
impl Blobs for StoredBlobs {
    async fn get(&self, hash: ContentHash) -> std::io::Result<Vec<u8>> {
        self.0.get(hash).await.map_err(to_io)
    }

    fn get_now(&self, hash: ContentHash) -> std::io::Result<Vec<u8>> {
        self.0.get_now(hash).map_err(to_io)
    }

    async fn put(&self, bytes: Vec<u8>) -> std::io::Result<BlobRef> {
        self.0.put(bytes).await.map_err(to_io)
    }
}

fn to_io(error: StoreError) -> std::io::Error {
    let kind = match &error {
        StoreError::DiskFull { .. } => std::io::ErrorKind::StorageFull,
        StoreError::NotFound { .. } => std::io::ErrorKind::NotFound,
        _ => std::io::ErrorKind::Other,
    };
    std::io::Error::new(kind, error)
}
