//! The Anthropic Messages API over HTTP, at its own address or any that speaks the same.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt;
use futures::stream;
use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response, Uri};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

use super::{ByteStream, Upstream, UpstreamError};
use crate::secret::Secret;

/// Where Anthropic itself answers.
pub const ANTHROPIC_URL: &str = "https://api.anthropic.com";
const VERSION: HeaderName = HeaderName::from_static("anthropic-version");
const API_KEY: HeaderName = HeaderName::from_static("x-api-key");
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How the upstream knows us.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Credential {
    /// In `x-api-key`.
    ApiKey(Secret),
    /// In `authorization: Bearer …`.
    Bearer(Secret),
    /// It asks for none.
    None,
}

/// What the upstream needs to know.
#[derive(Debug, Clone)]
pub struct AnthropicConfig {
    /// The name it is chosen by.
    pub name: String,
    /// Scheme, host and optional path; `/v1/messages` is appended.
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
    #[error("upstream '{name}': '{url}' is not a base URL; write it like {ANTHROPIC_URL}")]
    BaseUrl {
        /// The upstream.
        name: String,
        /// What was given.
        url: String,
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

/// The upstream.
pub struct AnthropicUpstream {
    name: String,
    base_url: String,
    credential: Option<(HeaderName, HeaderValue)>,
    client: reqwest::Client,
}

impl AnthropicUpstream {
    /// Checks the configuration; makes no call.
    ///
    /// # Errors
    /// [`ConfigError`] naming what is wrong.
    pub fn new(config: AnthropicConfig) -> Result<Self, ConfigError> {
        let base_url = checked_base(&config)?;
        let credential = credential_header(&config)?;
        let client = http_client(&config)?;
        Ok(Self { name: config.name, base_url, credential, client })
    }
}

impl fmt::Debug for AnthropicUpstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnthropicUpstream")
            .field("name", &self.name)
            .field("base_url", &self.base_url)
            .finish_non_exhaustive()
    }
}

fn checked_base(config: &AnthropicConfig) -> Result<String, ConfigError> {
    let wrong = || ConfigError::BaseUrl { name: config.name.clone(), url: config.base_url.clone() };
    let uri: Uri = config.base_url.trim().parse().map_err(|_| wrong())?;
    let scheme_ok = matches!(uri.scheme_str(), Some("http" | "https"));
    if !scheme_ok || uri.host().is_none_or(str::is_empty) || uri.query().is_some() {
        return Err(wrong());
    }
    Ok(config.base_url.trim().trim_end_matches('/').trim_end_matches("/v1").to_owned())
}

fn credential_header(config: &AnthropicConfig) -> Result<Option<(HeaderName, HeaderValue)>, ConfigError> {
    let (name, text) = match &config.credential {
        Credential::None => return Ok(None),
        Credential::ApiKey(key) => (API_KEY, key.expose().to_owned()),
        Credential::Bearer(token) => (AUTHORIZATION, format!("Bearer {}", token.expose())),
    };
    let mut value = HeaderValue::from_str(&text).map_err(|_| ConfigError::Key { name: config.name.clone() })?;
    value.set_sensitive(true);
    Ok(Some((name, value)))
}

fn http_client(config: &AnthropicConfig) -> Result<reqwest::Client, ConfigError> {
    let failed = |error: reqwest::Error| ConfigError::Client { name: config.name.clone(), reason: chain(&error) };
    let mut builder = reqwest::Client::builder()
        .tls_backend_preconfigured(tls_config(config)?)
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .connect_timeout(CONNECT_TIMEOUT)
        .no_proxy();
    if let Some(url) = &config.proxy {
        builder = builder.proxy(reqwest::Proxy::all(url).map_err(failed)?);
    }
    builder.build().map_err(failed)
}

fn tls_config(config: &AnthropicConfig) -> Result<rustls::ClientConfig, ConfigError> {
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

#[async_trait]
impl Upstream for AnthropicUpstream {
    fn name(&self) -> &str {
        &self.name
    }

    fn is_scripted(&self) -> bool {
        false
    }

    async fn send(&self, request: Request<Bytes>) -> Result<Response<ByteStream>, UpstreamError> {
        let (parts, body) = request.into_parts();
        let path = parts.uri.path_and_query().map_or("/", |path| path.as_str());
        let outgoing = self
            .client
            .request(parts.method, format!("{}{path}", self.base_url))
            .headers(self.headers(parts.headers))
            .body(body);
        let response = outgoing.send().await.map_err(explain)?;
        Ok(http::Response::from(response).map(stream_of))
    }
}

impl AnthropicUpstream {
    fn headers(&self, mut headers: HeaderMap) -> HeaderMap {
        headers.entry(VERSION).or_insert(HeaderValue::from_static("2023-06-01"));
        if let Some((name, value)) = &self.credential {
            headers.insert(name.clone(), value.clone());
        }
        headers
    }
}

fn stream_of(body: reqwest::Body) -> ByteStream {
    stream::unfold(Some(body), |body| async move {
        let mut body = body?;
        loop {
            let frame =
                std::future::poll_fn(|cx| http_body::Body::poll_frame(std::pin::Pin::new(&mut body), cx)).await?;
            match frame.map(http_body::Frame::into_data) {
                Ok(Ok(bytes)) => return Some((Ok(bytes), Some(body))),
                Ok(Err(_trailers)) => {}
                Err(error) => return Some((Err(explain(error)), None)),
            }
        }
    })
    .boxed()
}

fn explain(error: reqwest::Error) -> UpstreamError {
    let error = error.without_url();
    let reason = chain(&error);
    if error.is_connect() { UpstreamError::Unreachable { reason } } else { UpstreamError::Cut { reason } }
}

/// An error with all its sources in one line: the outermost alone says little here.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(inner) = source {
        let words = inner.to_string();
        if !text.contains(&words) {
            text = format!("{text}: {words}");
        }
        source = inner.source();
    }
    text
}
