//! What a provider over HTTP needs to know, checked, and the client made of it.

use std::sync::Arc;
use std::time::Duration;

use ::http::header::AUTHORIZATION;
use ::http::{HeaderName, HeaderValue, Uri};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

use super::chain;
use super::dialect::Dialect;
use crate::secret::Secret;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How the provider knows us.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Credential {
    /// In the header that the vendor has for it.
    ApiKey(Secret),
    /// In `authorization: Bearer …`.
    Bearer(Secret),
    /// It asks for none.
    None,
}

/// What the upstream needs to know.
#[derive(Debug, Clone)]
pub struct HttpConfig {
    /// The name it is chosen by.
    pub name: String,
    /// What it speaks.
    pub dialect: Dialect,
    /// Scheme, host and optional path, as the vendor's own clients take it.
    pub base_url: String,
    /// Its key.
    pub credential: Credential,
    /// URL of a proxy to go through; the environment is not asked.
    pub proxy: Option<String>,
    /// Certificates in PEM to trust beside the system's.
    pub extra_ca_pem: Option<Vec<u8>>,
}

/// A configuration that cannot work.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The base URL is no http(s) URL with a host.
    #[error("upstream '{name}': '{url}' is not a base URL; write it like {example}")]
    BaseUrl {
        /// The upstream.
        name: String,
        /// What was given.
        url: String,
        /// What it looks like.
        example: &'static str,
    },
    /// The key holds what a header cannot.
    #[error("upstream '{name}': the key holds characters that no key has; copy it again")]
    Key {
        /// The upstream.
        name: String,
    },
    /// The certificates cannot be read.
    #[error("upstream '{name}': the extra certificates are not usable PEM: {reason}")]
    Certificates {
        /// The upstream.
        name: String,
        /// Why.
        reason: String,
    },
    /// The HTTP client cannot be made (for example an unusable proxy URL).
    #[error("upstream '{name}': the HTTP client cannot be set up: {reason}")]
    Client {
        /// The upstream.
        name: String,
        /// Why.
        reason: String,
    },
}

pub(super) fn checked_root(config: &HttpConfig) -> Result<String, ConfigError> {
    let wrong = || ConfigError::BaseUrl {
        name: config.name.clone(),
        url: config.base_url.clone(),
        example: config.dialect.vendor_url(),
    };
    let uri: Uri = config.base_url.trim().parse().map_err(|_| wrong())?;
    let scheme_ok = matches!(uri.scheme_str(), Some("http" | "https"));
    if !scheme_ok || uri.host().is_none_or(str::is_empty) || uri.query().is_some() {
        return Err(wrong());
    }
    Ok(config.dialect.root(&config.base_url).to_owned())
}

pub(super) fn credential_header(config: &HttpConfig) -> Result<Option<(HeaderName, HeaderValue)>, ConfigError> {
    let bearer = |secret: &Secret| (AUTHORIZATION, format!("Bearer {}", secret.expose()));
    let (name, text) = match (&config.credential, config.dialect) {
        (Credential::None, _) => return Ok(None),
        (Credential::ApiKey(key), Dialect::Anthropic) => {
            (HeaderName::from_static("x-api-key"), key.expose().to_owned())
        }
        (Credential::ApiKey(key), Dialect::Gemini) => {
            (HeaderName::from_static("x-goog-api-key"), key.expose().to_owned())
        }
        (Credential::ApiKey(key), Dialect::Openai) | (Credential::Bearer(key), _) => bearer(key),
    };
    let mut value = HeaderValue::from_str(&text).map_err(|_| ConfigError::Key { name: config.name.clone() })?;
    value.set_sensitive(true);
    Ok(Some((name, value)))
}

pub(super) fn http_client(config: &HttpConfig) -> Result<reqwest::Client, ConfigError> {
    let failed = |error: reqwest::Error| ConfigError::Client { name: config.name.clone(), reason: chain(&error) };
    let mut builder = reqwest::Client::builder()
        .tls_backend_preconfigured(tls_config(config)?)
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .connect_timeout(CONNECT_TIMEOUT)
        .tcp_nodelay(true)
        .no_proxy();
    if let Some(url) = &config.proxy {
        let direct = reqwest::NoProxy::from_string("localhost,127.0.0.1,::1");
        builder = builder.proxy(reqwest::Proxy::all(url).map_err(failed)?.no_proxy(direct));
    }
    builder.build().map_err(failed)
}

fn tls_config(config: &HttpConfig) -> Result<rustls::ClientConfig, ConfigError> {
    let wrong = |reason: String| ConfigError::Certificates { name: config.name.clone(), reason };
    let mut roots = rustls::RootCertStore::empty();
    // A system certificate that cannot be read only makes hosts that need it fail, with a message of their own.
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if let Some(pem) = &config.extra_ca_pem {
        for certificate in CertificateDer::pem_slice_iter(pem) {
            let certificate = certificate.map_err(|error| wrong(error.to_string()))?;
            roots.add(certificate).map_err(|error| wrong(error.to_string()))?;
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| wrong(error.to_string()))?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}
