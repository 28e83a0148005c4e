//! A provider over HTTP, at the vendor's own address or any that speaks the same.

mod config;
mod dialect;

use std::fmt;

use ::http::{HeaderMap, HeaderName, HeaderValue, Request, Response};
use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt;
use futures::stream;

pub use self::config::{ConfigError, Credential, HttpConfig};
pub use self::dialect::Dialect;
use super::{ByteStream, Upstream, UpstreamError};
use crate::protocol::Protocol;
use crate::secret::Secret;

const VERSION: HeaderName = HeaderName::from_static("anthropic-version");

/// The upstream.
pub struct HttpUpstream {
    name: String,
    dialect: Dialect,
    root: String,
    credential: Option<(HeaderName, HeaderValue)>,
    secret: Option<Secret>,
    client: reqwest::Client,
}

impl HttpUpstream {
    /// Checks the configuration; makes no call.
    ///
    /// # Errors
    /// [`ConfigError`] naming what is wrong.
    pub fn new(config: HttpConfig) -> Result<Self, ConfigError> {
        let root = config::checked_root(&config)?;
        let credential = config::credential_header(&config)?;
        let client = config::http_client(&config)?;
        let secret = match config.credential {
            Credential::ApiKey(secret) | Credential::Bearer(secret) => Some(secret),
            Credential::None => None,
        };
        Ok(Self { name: config.name, dialect: config.dialect, root, credential, secret, client })
    }
}

impl fmt::Debug for HttpUpstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpUpstream")
            .field("name", &self.name)
            .field("dialect", &self.dialect)
            .field("root", &self.root)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl Upstream for HttpUpstream {
    fn name(&self) -> &str {
        &self.name
    }

    fn is_scripted(&self) -> bool {
        false
    }

    fn speaks(&self) -> &[Protocol] {
        self.dialect.speaks()
    }

    fn redact(&self, answer: Bytes) -> Bytes {
        match (&self.secret, std::str::from_utf8(&answer)) {
            (Some(secret), Ok(text)) if text.contains(secret.expose()) => Bytes::from(secret.redact(text)),
            _ => answer,
        }
    }

    async fn send(&self, request: Request<Bytes>) -> Result<Response<ByteStream>, UpstreamError> {
        let (parts, body) = request.into_parts();
        let asked = parts.uri.path_and_query().map_or("/", |path| path.as_str());
        let address = format!("{}{}", self.root, self.dialect.path(&self.root, asked));
        let outgoing = self.client.request(parts.method, address).headers(self.headers(parts.headers)).body(body);
        let response = outgoing.send().await.map_err(explain)?;
        Ok(Response::from(response).map(stream_of))
    }
}

impl HttpUpstream {
    fn headers(&self, mut headers: HeaderMap) -> HeaderMap {
        if self.dialect == Dialect::Anthropic {
            headers.entry(VERSION).or_insert(HeaderValue::from_static("2023-06-01"));
        }
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
