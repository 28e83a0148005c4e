//! Model providers: where they are, and where their key is kept. Keys come from the environment or a file, never from the settings.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use gateway::Secret;
use serde::Deserialize;

use super::{ConfigError, ConfigFile};

/// One `[upstreams.NAME]` of the settings file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, tag = "kind", rename_all = "kebab-case")]
pub enum UpstreamEntry {
    /// Speaks the Anthropic Messages API.
    Anthropic {
        /// `https://api.anthropic.com` unless said otherwise.
        base_url: Option<String>,
        /// Environment variable that holds the key.
        key_env: Option<String>,
        /// File that holds the key; nobody but its owner may read it.
        key_file: Option<PathBuf>,
        /// Models offered in the pages.
        #[serde(default)]
        models: Vec<String>,
    },
    /// Answers from a file; marked as such everywhere.
    Scripted {
        /// The answers.
        file: PathBuf,
        /// Models offered in the pages.
        #[serde(default)]
        models: Vec<String>,
    },
}

/// A provider, resolved.
#[derive(Debug, Clone)]
pub struct UpstreamConfig {
    /// How it is reached.
    pub kind: UpstreamKind,
    /// Models offered in the pages.
    pub models: Vec<String>,
}

/// How a provider is reached.
#[derive(Debug, Clone)]
pub enum UpstreamKind {
    /// Speaks the Anthropic Messages API.
    Anthropic {
        /// Without a path.
        base_url: String,
        /// Its key.
        key: Secret,
    },
    /// Answers from a file.
    Scripted {
        /// The answers.
        file: PathBuf,
    },
}

const ANTHROPIC_URL: &str = "https://api.anthropic.com";

/// The providers of the settings file, and the two that need none: `anthropic` where `ANTHROPIC_API_KEY` is set, and `scripted` where a
/// file of answers is given.
pub(super) fn resolve(
    file: &ConfigFile,
    scripted_model: Option<&Path>,
) -> Result<BTreeMap<String, UpstreamConfig>, ConfigError> {
    let mut upstreams = BTreeMap::new();
    if let Some(key) = variable("ANTHROPIC_API_KEY") {
        let base_url = variable("ANTHROPIC_BASE_URL").unwrap_or_else(|| ANTHROPIC_URL.to_owned());
        let kind = UpstreamKind::Anthropic { base_url, key: Secret::new(&key) };
        upstreams.insert("anthropic".to_owned(), UpstreamConfig { kind, models: Vec::new() });
    }
    for (name, entry) in &file.upstreams {
        upstreams.insert(name.clone(), one(name, entry)?);
    }
    if let Some(path) = scripted_model {
        super::readable(path, "file of scripted answers")?;
        let kind = UpstreamKind::Scripted { file: path.to_owned() };
        upstreams.insert("scripted".to_owned(), UpstreamConfig { kind, models: vec!["scripted".to_owned()] });
    }
    Ok(upstreams)
}

fn one(name: &str, entry: &UpstreamEntry) -> Result<UpstreamConfig, ConfigError> {
    let wrong = |reason: &str| ConfigError::Upstream { name: name.to_owned(), reason: reason.to_owned() };
    match entry {
        UpstreamEntry::Scripted { file, models } => {
            super::readable(file, "file of scripted answers")?;
            let kind = UpstreamKind::Scripted { file: file.clone() };
            Ok(UpstreamConfig { kind, models: models.clone() })
        }
        UpstreamEntry::Anthropic { base_url, key_env, key_file, models } => {
            let key = match (key_env, key_file) {
                (Some(_), Some(_)) => return Err(wrong("give key_env or key_file, not both")),
                (None, Some(path)) => key_from_file(path)?,
                (env, None) => {
                    let env = env.as_deref().unwrap_or("ANTHROPIC_API_KEY");
                    variable(env).ok_or_else(|| wrong(&format!("the environment variable {env} is not set")))?
                }
            };
            let base_url = base_url.clone().unwrap_or_else(|| ANTHROPIC_URL.to_owned());
            Ok(UpstreamConfig {
                kind: UpstreamKind::Anthropic { base_url, key: Secret::new(&key) },
                models: models.clone(),
            })
        }
    }
}

fn key_from_file(path: &Path) -> Result<String, ConfigError> {
    let unreadable = |source| ConfigError::Unreadable { what: "key file", path: path.to_owned(), source };
    use std::os::unix::fs::PermissionsExt as _;
    let mode = std::fs::metadata(path).map_err(unreadable)?.permissions().mode();
    if mode & 0o077 != 0 {
        let reason = format!("others may read the key file; run: chmod 600 {}", path.display());
        return Err(ConfigError::Upstream { name: path.display().to_string(), reason });
    }
    Ok(std::fs::read_to_string(path).map_err(unreadable)?.trim().to_owned())
}

pub(super) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
