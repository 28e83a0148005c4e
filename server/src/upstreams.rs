//! The gateway's upstreams, made from the settings.

use std::sync::Arc;

use anyhow::{Context, Result};
use gateway::Upstream;
use gateway::upstream::http::{Credential, Dialect, HttpConfig, HttpUpstream};
use gateway::upstream::scripted::ScriptedUpstream;

use crate::config::{Config, UpstreamKind};

/// One upstream for each that is configured.
///
/// # Errors
/// An address that is none, or a file of answers that cannot be read or understood.
pub fn build(config: &Config) -> Result<Vec<Arc<dyn Upstream>>> {
    let extra_ca = match &config.ca_bundle {
        Some(path) => Some(
            std::fs::read(path).with_context(|| format!("the certificate bundle {} cannot be read", path.display()))?,
        ),
        None => None,
    };
    config.upstreams.iter().map(|(name, upstream)| one(name, &upstream.kind, extra_ca.clone(), config)).collect()
}

fn one(name: &str, kind: &UpstreamKind, extra_ca: Option<Vec<u8>>, config: &Config) -> Result<Arc<dyn Upstream>> {
    match kind {
        UpstreamKind::Anthropic { base_url, key } => {
            let upstream = HttpUpstream::new(HttpConfig {
                name: name.to_owned(),
                dialect: Dialect::Anthropic,
                base_url: base_url.clone(),
                credential: Credential::ApiKey(key.clone()),
                proxy: config.proxy.clone(),
                extra_ca_pem: extra_ca,
            })?;
            Ok(Arc::new(upstream))
        }
        UpstreamKind::Scripted { file } => {
            let bytes = std::fs::read(file)
                .with_context(|| format!("the file of scripted answers {} cannot be read", file.display()))?;
            Ok(Arc::new(ScriptedUpstream::parse(name, &file.display().to_string(), &bytes)?))
        }
    }
}
