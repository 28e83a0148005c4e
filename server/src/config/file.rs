//! The settings file.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use gateway::RetryPolicy;
use serde::Deserialize;

use super::upstreams::UpstreamEntry;

/// `skilldelta.toml`. Every key has a default; unknown keys are refused, so that a slip of the pen is not silent.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ConfigFile {
    /// Where the pages are served; loopback unless said otherwise.
    pub listen: SocketAddr,
    /// Host names (with port) the pages may be reached by, such as those of a proxy.
    pub public_hosts: Vec<String>,
    /// Whether variables of this machine may be approved for verifiers on pages that other machines can reach.
    pub remote_approvals: bool,
    /// Task folders may be added from below these only.
    pub task_roots: Vec<PathBuf>,
    /// Image stand-ins by name.
    pub images: BTreeMap<String, String>,
    /// Mirrors of repositories by address.
    pub repositories: BTreeMap<String, String>,
    /// Largest repository that is fetched, in MiB.
    pub repository_limit_mb: u64,
    /// Extra certificates (PEM) for builds and containers.
    pub ca_bundle: Option<PathBuf>,
    /// Prices of models, in place of the bundled table.
    pub prices: Option<PathBuf>,
    /// Model providers by name.
    pub upstreams: BTreeMap<String, UpstreamEntry>,
    /// Largest skill upload, in MiB.
    pub upload_limit_mb: u64,
    /// Trials at the same time over all evaluations.
    pub max_concurrency: u32,
    /// Free space below which no trial is started, in MiB.
    pub disk_floor_mb: u64,
    /// Days after which an image of ours that was not used is removed; 0 = never.
    pub image_keep_days: u32,
    /// How long a model provider that fails is asked again before the trial is given up as an infrastructure error, in seconds; 0 = never.
    pub outage_wait_s: u64,
    /// How long a trial waits after trouble before it is tried again, in seconds, and four times as long with each attempt; 0 = not at all.
    pub retry_wait_s: u64,
    /// Days after which a fetched commit that was not used is removed; 0 = never.
    pub repository_keep_days: u32,
    /// Environment variables whose values are taken out of everything that is kept or shown.
    pub secret_env: Vec<String>,
}

impl Default for ConfigFile {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 3000)),
            public_hosts: Vec::new(),
            remote_approvals: false,
            task_roots: Vec::new(),
            images: BTreeMap::new(),
            repositories: BTreeMap::new(),
            repository_limit_mb: 2048,
            ca_bundle: None,
            prices: None,
            upstreams: BTreeMap::new(),
            upload_limit_mb: 50,
            max_concurrency: 4,
            disk_floor_mb: 512,
            image_keep_days: 30,
            outage_wait_s: RetryPolicy::default().within.as_secs(),
            retry_wait_s: 10,
            repository_keep_days: 30,
            secret_env: Vec::new(),
        }
    }
}

/// Why the settings cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// A file that was named cannot be read.
    #[error("the {what} {path} cannot be read; check the path and its permissions")]
    Unreadable {
        /// What it is for.
        what: &'static str,
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The settings file is no valid TOML, or has a key that is not known.
    #[error("the settings file {path} cannot be understood")]
    Syntax {
        /// Which.
        path: PathBuf,
        /// Where and why.
        source: Box<toml::de::Error>,
    },
    /// An image stand-in without `=`.
    #[error("--image-stand-in {pair}: write NAME=LOCAL, for example ubuntu:24.04=my/base:1")]
    Image {
        /// As given.
        pair: String,
    },
    /// A setting whose value is outside of what makes sense.
    #[error("the setting {key} of the settings file must be {wanted}, not {given}")]
    Range {
        /// Its name.
        key: &'static str,
        /// What it may be.
        wanted: String,
        /// What it is.
        given: u64,
    },
    /// A mirror that cannot be understood.
    #[error("{reason}")]
    Mirror {
        /// The pair, the reason and the remedy.
        reason: String,
    },
    /// A provider whose settings are incomplete.
    #[error("upstream {name}: {reason}")]
    Upstream {
        /// Its name.
        name: String,
        /// Reason and remedy.
        reason: String,
    },
}

impl ConfigFile {
    /// Reads `named`, or `skilldelta.toml` in the data folder where there is one, or takes the defaults.
    ///
    /// # Errors
    /// [`ConfigError`] if the file cannot be read or understood.
    pub fn find(named: Option<&Path>, data: &Path) -> Result<Self, ConfigError> {
        let path = match named {
            Some(path) => path.to_owned(),
            None => {
                let path = data.join("skilldelta.toml");
                if !path.exists() {
                    return Ok(Self::default());
                }
                path
            }
        };
        let text = std::fs::read_to_string(&path).map_err(|source| ConfigError::Unreadable {
            what: "settings file",
            path: path.clone(),
            source,
        })?;
        toml::from_str(&text).map_err(|source| ConfigError::Syntax { path, source: Box::new(source) })
    }
}
