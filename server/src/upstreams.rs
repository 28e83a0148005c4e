//! The gateway's upstreams, made from the settings.

use std::sync::Arc;

use anyhow::{Context, Result};
use gateway::upstream::cassette::{Recording, Replay};
use gateway::upstream::http::{Credential, HttpConfig, HttpUpstream};
use gateway::upstream::scripted::ScriptedUpstream;
use gateway::{PriceTable, Upstream};

use crate::config::{Config, UpstreamKind};

/// One upstream for each that is configured.
///
/// # Errors
/// An address that is none, or a file of answers that cannot be read or understood.
pub fn build(config: &Config) -> Result<Vec<Arc<dyn Upstream>>> {
    let extra_ca = config.ca_pem()?;
    config.upstreams.iter().map(|(name, upstream)| one(name, &upstream.kind, extra_ca.clone(), config)).collect()
}

fn one(name: &str, kind: &UpstreamKind, extra_ca: Option<Vec<u8>>, config: &Config) -> Result<Arc<dyn Upstream>> {
    match kind {
        UpstreamKind::Http { dialect, base_url, key, record } => {
            let upstream = HttpUpstream::new(HttpConfig {
                name: name.to_owned(),
                dialect: *dialect,
                base_url: base_url.clone(),
                credential: key.clone().map_or(Credential::None, Credential::ApiKey),
                proxy: config.proxy.clone(),
                extra_ca_pem: extra_ca,
            })?;
            match record {
                Some(folder) => Ok(Arc::new(Recording::new(Arc::new(upstream), folder)?)),
                None => Ok(Arc::new(upstream)),
            }
        }
        UpstreamKind::Scripted { file } => {
            let bytes = std::fs::read(file)
                .with_context(|| format!("the file of scripted answers {} cannot be read", file.display()))?;
            Ok(Arc::new(ScriptedUpstream::parse(name, &file.display().to_string(), &bytes)?))
        }
        UpstreamKind::Replay { folder } => Ok(Arc::new(Replay::open(name, folder)?)),
    }
}

/// The price table: the bundled one, or that of the settings.
///
/// # Errors
/// A file that cannot be read or understood.
pub fn prices(config: &Config) -> Result<PriceTable> {
    let Some(path) = &config.prices else { return Ok(PriceTable::bundled()) };
    let text =
        std::fs::read_to_string(path).with_context(|| format!("the price table {} cannot be read", path.display()))?;
    Ok(PriceTable::parse(&path.display().to_string(), &text)?)
}
