//! What the program is told from outside: a TOML file, environment variables and flags, later ones winning.

mod file;
mod upstreams;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use domain::trial::RetryWait;
use repos::Mirrors;

pub use file::{ConfigError, ConfigFile};
pub use upstreams::{UpstreamConfig, UpstreamKind, variable};

/// What stands above them in the help of every command, below the command's own.
const EVERYWHERE: &str = "Settings of every command";

/// Flags that every command knows.
#[derive(Debug, Clone, Args)]
pub struct CommonArgs {
    /// Folder that keeps everything: database, uploads, logs, traces. It has one owner at a time.
    #[arg(long, global = true, help_heading = EVERYWHERE, env = "SKILLDELTA_DATA", value_name = "DIR", default_value = "data")]
    pub data: PathBuf,
    /// Settings file; `skilldelta.toml` in the data folder is read by itself.
    #[arg(long, global = true, help_heading = EVERYWHERE, env = "SKILLDELTA_CONFIG", value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Use a local image in place of another, as ubuntu:24.04=my/base:1. May be given several times.
    #[arg(
        long = "image-stand-in",
        global = true,
        help_heading = EVERYWHERE,
        env = "SKILLDELTA_IMAGE_STAND_INS",
        value_name = "NAME=LOCAL",
        value_delimiter = ','
    )]
    pub image_stand_ins: Vec<String>,
    /// Fetch a repository from elsewhere, as https://example.com/a/b=/srv/mirrors/b.git. May be given several times.
    #[arg(
        long = "repository-mirror",
        global = true,
        help_heading = EVERYWHERE,
        env = "SKILLDELTA_REPOSITORY_MIRRORS",
        value_name = "URL=PATH-or-URL",
        value_delimiter = ','
    )]
    pub repository_mirrors: Vec<String>,
    /// Certificates (PEM) that builds and containers are to trust, for networks that inspect TLS.
    #[arg(long, global = true, help_heading = EVERYWHERE, env = "SKILLDELTA_CA_BUNDLE", value_name = "FILE")]
    pub ca_bundle: Option<PathBuf>,
    /// Answers for the `scripted` upstream.
    #[arg(long, global = true, help_heading = EVERYWHERE, env = "SKILLDELTA_SCRIPTED_MODEL", value_name = "FILE")]
    pub scripted_model: Option<PathBuf>,
}

/// Everything the program runs with.
#[derive(Debug, Clone)]
pub struct Config {
    /// Keeps everything.
    pub data: PathBuf,
    /// Where the pages are served.
    pub listen: SocketAddr,
    /// Names the pages may be reached by, besides those of `listen`.
    pub public_hosts: Vec<String>,
    /// Whether variables of this machine may be approved on pages that others can reach.
    pub remote_approvals: bool,
    /// Task folders may be added from below these only.
    pub task_roots: Vec<PathBuf>,
    /// Image stand-ins by name.
    pub images: BTreeMap<String, String>,
    /// Mirrors of repositories.
    pub repository_mirrors: Mirrors,
    /// Largest repository, in bytes.
    pub repository_limit: u64,
    /// Extra certificates for builds and containers.
    pub ca_bundle: Option<PathBuf>,
    /// Prices of models, in place of the bundled table.
    pub prices: Option<PathBuf>,
    /// Model providers by name.
    pub upstreams: BTreeMap<String, UpstreamConfig>,
    /// Those of the settings that cannot be asked now, by name, with what is missing.
    pub unusable_upstreams: BTreeMap<String, String>,
    /// Largest skill upload, in bytes.
    pub upload_limit: u64,
    /// Trials at the same time over all evaluations.
    pub max_concurrency: u32,
    /// Free space below which no trial is started, in bytes.
    pub disk_floor: u64,
    /// Where programs are looked for.
    pub search_path: Option<OsString>,
    /// Days after which an image of ours that was not used is removed; `None` = never.
    pub image_keep_days: Option<u32>,
    /// How long a model provider that fails is asked again.
    pub outage_wait: Duration,
    /// How long a trial waits after trouble before it is tried again.
    pub retry_wait: RetryWait,
    /// Days after which a fetched commit that was not used is removed; `None` = never.
    pub repository_keep_days: Option<u32>,
    /// The container engine's address; `None` = the usual socket.
    pub docker_host: Option<String>,
    /// Proxy for calls to model providers.
    pub proxy: Option<String>,
    /// Further values that must not appear in anything that is kept or shown.
    pub secrets: Vec<String>,
}

impl Config {
    /// Reads the settings file and lays flags and environment over it.
    ///
    /// # Errors
    /// [`ConfigError`] naming the file or flag, the reason, and what would be right.
    pub fn load(args: &CommonArgs) -> Result<Self, ConfigError> {
        let file = ConfigFile::find(args.config.as_deref(), &args.data)?;
        let mut images = file.images.clone();
        for pair in args.image_stand_ins.iter().filter(|pair| !pair.is_empty()) {
            let (name, local) = pair.split_once('=').ok_or_else(|| ConfigError::Image { pair: pair.clone() })?;
            images.insert(name.trim().to_owned(), local.trim().to_owned());
        }
        let mut mirrors = file.repositories.clone();
        for pair in args.repository_mirrors.iter().filter(|pair| !pair.is_empty()) {
            let (url, place) = pair.split_once('=').ok_or_else(|| ConfigError::Mirror {
                reason: format!("repository mirror {pair}: write URL=PATH-or-URL, for example https://example.com/a/b=/srv/mirrors/b.git"),
            })?;
            mirrors.insert(url.trim().to_owned(), place.trim().to_owned());
        }
        let repository_mirrors = Mirrors::parse(mirrors).map_err(|reason| ConfigError::Mirror { reason })?;
        let ca_bundle = args.ca_bundle.clone().or_else(|| file.ca_bundle.clone());
        if let Some(path) = &ca_bundle {
            readable(path, "certificate bundle")?;
        }
        let upstreams = upstreams::resolve(&file, args.scripted_model.as_deref())?;
        Ok(Self {
            data: args.data.clone(),
            listen: file.listen,
            public_hosts: file.public_hosts.clone(),
            remote_approvals: file.remote_approvals,
            task_roots: file.task_roots.clone(),
            images,
            repository_mirrors,
            repository_limit: file.repository_limit_mb.saturating_mul(1024 * 1024),
            ca_bundle,
            prices: file.prices.clone(),
            upstreams: upstreams.usable,
            unusable_upstreams: upstreams.unusable,
            upload_limit: file.upload_limit_mb.saturating_mul(1024 * 1024),
            max_concurrency: max_concurrency(file.max_concurrency)?,
            disk_floor: file.disk_floor_mb.saturating_mul(1024 * 1024),
            search_path: std::env::var_os("PATH"),
            image_keep_days: Some(file.image_keep_days).filter(|days| *days > 0),
            outage_wait: outage_wait(file.outage_wait_s)?,
            retry_wait: retry_wait(file.retry_wait_s)?,
            repository_keep_days: Some(file.repository_keep_days).filter(|days| *days > 0),
            docker_host: upstreams::variable("DOCKER_HOST"),
            proxy: upstreams::variable("HTTPS_PROXY").or_else(|| upstreams::variable("https_proxy")),
            secrets: file.secret_env.iter().filter_map(|name| upstreams::variable(name)).collect(),
        })
    }
}

impl Config {
    /// Whether the pages can be reached from other machines, directly or through a proxy.
    #[must_use]
    pub fn can_be_reached(&self) -> bool {
        !self.listen.ip().is_loopback() || !self.public_hosts.is_empty()
    }

    /// The keys of the upstreams.
    pub fn upstream_keys(&self) -> impl Iterator<Item = &str> {
        self.upstreams.values().filter_map(|upstream| upstream.kind.key()).map(|key| key.expose())
    }

    /// The extra certificates, where there are any.
    ///
    /// # Errors
    /// [`ConfigError::Unreadable`] where the file went away since the settings were read.
    pub fn ca_pem(&self) -> Result<Option<Vec<u8>>, ConfigError> {
        let Some(path) = &self.ca_bundle else { return Ok(None) };
        let unreadable = |source| ConfigError::Unreadable { what: "certificate bundle", path: path.clone(), source };
        std::fs::read(path).map(Some).map_err(unreadable)
    }
}

/// Longer waits would be spent in trials whose limits are over long before.
const LONGEST_OUTAGE_WAIT_S: u64 = 3600;

fn outage_wait(seconds: u64) -> Result<Duration, ConfigError> {
    if seconds > LONGEST_OUTAGE_WAIT_S {
        let wanted = format!("a number of seconds from 0 to {LONGEST_OUTAGE_WAIT_S}");
        return Err(ConfigError::Range { key: "outage_wait_s", wanted, given: seconds });
    }
    Ok(Duration::from_secs(seconds))
}

fn retry_wait(seconds: u64) -> Result<RetryWait, ConfigError> {
    let longest = RetryWait::LONGEST_MS.unsigned_abs() / 1000;
    let first_ms = u32::try_from(seconds.saturating_mul(1000)).ok().filter(|_| seconds <= longest);
    let first_ms = first_ms.ok_or_else(|| ConfigError::Range {
        key: "retry_wait_s",
        wanted: format!("a number of seconds from 0 to {longest}"),
        given: seconds,
    })?;
    Ok(RetryWait { first_ms })
}

/// Beyond this no single machine goes.
const MOST_CONCURRENCY: u32 = 1000;

fn max_concurrency(trials: u32) -> Result<u32, ConfigError> {
    if (1..=MOST_CONCURRENCY).contains(&trials) {
        return Ok(trials);
    }
    let wanted = format!("a number from 1 to {MOST_CONCURRENCY}");
    Err(ConfigError::Range { key: "max_concurrency", wanted, given: u64::from(trials) })
}

fn readable(path: &Path, what: &'static str) -> Result<(), ConfigError> {
    std::fs::File::open(path).map(drop).map_err(|source| ConfigError::Unreadable {
        what,
        path: path.to_owned(),
        source,
    })
}
