//! Model providers: where they are, and where their key is kept. Keys come from the environment or a file, never from the settings.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use gateway::Secret;
use gateway::upstream::http::Dialect;
use serde::Deserialize;

use super::{ConfigError, ConfigFile};

/// One `[upstreams.NAME]` of the settings file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, tag = "kind", rename_all = "kebab-case")]
pub enum UpstreamEntry {
    /// Speaks the Anthropic Messages API.
    Anthropic(ProviderEntry),
    /// Speaks OpenAI Chat Completions, Responses, or both.
    Openai(ProviderEntry),
    /// Speaks the Gemini API.
    Gemini(ProviderEntry),
    /// Answers from a file; marked as such everywhere.
    Scripted {
        /// The answers.
        file: PathBuf,
        /// Models offered in the pages.
        #[serde(default)]
        models: Vec<String>,
    },
    /// Answers from what another upstream has recorded; marked as such everywhere.
    Replay {
        /// The recording.
        folder: PathBuf,
        /// Models offered in the pages.
        #[serde(default)]
        models: Vec<String>,
    },
}

/// A provider that is reached over HTTP.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProviderEntry {
    /// The vendor's own unless said otherwise.
    base_url: Option<String>,
    /// Environment variable that holds the key.
    key_env: Option<String>,
    /// File that holds the key; nobody but its owner may read it.
    key_file: Option<PathBuf>,
    /// Models offered in the pages.
    #[serde(default)]
    models: Vec<String>,
    /// Every answer is recorded below this folder, to be replayed.
    record: Option<PathBuf>,
}

/// A provider, resolved.
#[derive(Debug, Clone)]
pub struct UpstreamConfig {
    /// How it is reached.
    pub kind: UpstreamKind,
    /// Models offered in the pages.
    pub models: Vec<String>,
}

/// The providers of the settings.
#[derive(Debug, Clone, Default)]
pub(super) struct Resolved {
    /// Those that can be asked.
    pub(super) usable: BTreeMap<String, UpstreamConfig>,
    /// Those whose key or file is not there now, with what is missing. Most commands need no model, so that is no error before one does.
    pub(super) unusable: BTreeMap<String, String>,
}

/// How a provider is reached.
#[derive(Debug, Clone)]
pub enum UpstreamKind {
    /// Over HTTP.
    Http {
        /// What it speaks.
        dialect: Dialect,
        /// Where.
        base_url: String,
        /// Its key; `None` = it asks for none.
        key: Option<Secret>,
        /// Where answers are recorded.
        record: Option<PathBuf>,
    },
    /// Answers from a file.
    Scripted {
        /// The answers.
        file: PathBuf,
    },
    /// Answers from a recording.
    Replay {
        /// The recording.
        folder: PathBuf,
    },
}

impl UpstreamKind {
    /// Whether its answers come from a file.
    #[must_use]
    pub const fn is_scripted(&self) -> bool {
        match self {
            Self::Http { .. } => false,
            Self::Scripted { .. } | Self::Replay { .. } => true,
        }
    }

    /// Its key.
    #[must_use]
    pub const fn key(&self) -> Option<&Secret> {
        match self {
            Self::Http { key, .. } => key.as_ref(),
            Self::Scripted { .. } | Self::Replay { .. } => None,
        }
    }
}

/// Providers that need no settings where their usual variable holds a key: name, key, base URL.
const USUAL: [(&str, Dialect, &str, &str); 3] = [
    ("anthropic", Dialect::Anthropic, "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"),
    ("openai", Dialect::Openai, "OPENAI_API_KEY", "OPENAI_BASE_URL"),
    ("gemini", Dialect::Gemini, "GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL"),
];

const fn usual_key(dialect: Dialect) -> &'static str {
    match dialect {
        Dialect::Anthropic => "ANTHROPIC_API_KEY",
        Dialect::Openai => "OPENAI_API_KEY",
        Dialect::Gemini => "GEMINI_API_KEY",
    }
}

/// The providers of the settings file, and those that need none: the usual ones whose key is in the environment, and `scripted` where a
/// file of answers is given.
pub(super) fn resolve(file: &ConfigFile, scripted_model: Option<&Path>) -> Result<Resolved, ConfigError> {
    let mut upstreams = Resolved::default();
    for (name, dialect, key, base_url) in USUAL {
        if let Some(key) = variable(key) {
            let base_url = variable(base_url).unwrap_or_else(|| dialect.vendor_url().to_owned());
            let kind = UpstreamKind::Http { dialect, base_url, key: Some(Secret::new(&key)), record: None };
            upstreams.usable.insert(name.to_owned(), UpstreamConfig { kind, models: Vec::new() });
        }
    }
    for (name, entry) in &file.upstreams {
        match one(name, entry) {
            Ok(upstream) => drop(upstreams.usable.insert(name.clone(), upstream)),
            // What the settings say of a name holds, even where the environment has a key for one of that name.
            Err(Fault::Absent(what)) => {
                upstreams.usable.remove(name);
                upstreams.unusable.insert(name.clone(), what);
            }
            Err(Fault::Wrong(error)) => return Err(error),
        }
    }
    if let Some(path) = scripted_model {
        super::readable(path, "file of scripted answers")?;
        let kind = UpstreamKind::Scripted { file: path.to_owned() };
        upstreams.unusable.remove("scripted");
        upstreams.usable.insert("scripted".to_owned(), UpstreamConfig { kind, models: vec!["scripted".to_owned()] });
    }
    Ok(upstreams)
}

/// Why an entry gives no provider.
enum Fault {
    /// It is right, but what it names is not there now.
    Absent(String),
    /// It is wrong, and stays so.
    Wrong(ConfigError),
}

impl From<ConfigError> for Fault {
    /// A file that cannot be read is not there now.
    fn from(error: ConfigError) -> Self {
        match error {
            ConfigError::Unreadable { what, path, source } => {
                Self::Absent(format!("the {what} {} cannot be read: {source}", path.display()))
            }
            wrong => Self::Wrong(wrong),
        }
    }
}

fn one(name: &str, entry: &UpstreamEntry) -> Result<UpstreamConfig, Fault> {
    match entry {
        UpstreamEntry::Anthropic(entry) => provider(name, Dialect::Anthropic, entry),
        UpstreamEntry::Openai(entry) => provider(name, Dialect::Openai, entry),
        UpstreamEntry::Gemini(entry) => provider(name, Dialect::Gemini, entry),
        UpstreamEntry::Scripted { file, models } => {
            super::readable(file, "file of scripted answers")?;
            Ok(UpstreamConfig { kind: UpstreamKind::Scripted { file: file.clone() }, models: models.clone() })
        }
        UpstreamEntry::Replay { folder, models } => {
            super::readable(folder, "recording")?;
            Ok(UpstreamConfig { kind: UpstreamKind::Replay { folder: folder.clone() }, models: models.clone() })
        }
    }
}

fn provider(name: &str, dialect: Dialect, entry: &ProviderEntry) -> Result<UpstreamConfig, Fault> {
    let unset = |env: &str| Fault::Absent(format!("the environment variable {env} is not set"));
    let key = match (&entry.key_env, &entry.key_file) {
        (Some(_), Some(_)) => {
            let reason = "give key_env or key_file, not both".to_owned();
            return Err(ConfigError::Upstream { name: name.to_owned(), reason }.into());
        }
        (None, Some(path)) => Some(key_from_file(path)?),
        (Some(env), None) => Some(variable(env).ok_or_else(|| unset(env))?),
        (None, None) => variable(usual_key(dialect)),
    };
    // A server of one's own may ask for no key; a vendor always does.
    if key.is_none() && entry.base_url.is_none() {
        return Err(unset(usual_key(dialect)));
    }
    let base_url = entry.base_url.clone().unwrap_or_else(|| dialect.vendor_url().to_owned());
    let key = key.as_deref().map(Secret::new);
    let kind = UpstreamKind::Http { dialect, base_url, key, record: entry.record.clone() };
    Ok(UpstreamConfig { kind, models: entry.models.clone() })
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

/// The value of an environment variable; an empty one counts as none.
#[must_use]
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
