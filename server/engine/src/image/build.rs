//! One run of the engine's classic builder.

use std::collections::HashMap;
use std::time::Duration;

use bollard::errors::Error;
use bollard::models::BuildInfo;
use bollard::query_parameters::{BuildImageOptions, BuilderVersion};
use futures::{StreamExt, TryStreamExt};

use super::context::{Context, DOCKERFILE};
use super::progress::{BuildEvent, Progress};
use crate::sandbox::docker::{DockerEngine, classify};
use crate::sandbox::{CappedLog, SandboxError};

/// Bytes of a build's output that are kept for the error message.
const LOG_TAIL: usize = 8 << 10;

/// Runs of one build whose layers are removed under it.
const TRIES: usize = 3;

/// What to build.
#[derive(Clone)]
pub(super) struct Build {
    pub tag: String,
    pub context: Context,
    pub dockerfile: String,
    /// For each step, how it is told to people.
    pub steps: Vec<String>,
    pub args: HashMap<String, String>,
    pub labels: HashMap<String, String>,
    pub limit: Duration,
    pub no_cache: bool,
}

/// Builds and tags it. Where somebody removes a layer of the cache between the builder's finding it and its use, the engine fails a build
/// that is in order; it is begun again.
pub(super) async fn run(engine: &DockerEngine, build: Build, progress: &dyn Progress) -> Result<(), SandboxError> {
    let mut tries = 1;
    loop {
        match run_once(engine, build.clone(), progress).await {
            Err(error) if tries < TRIES && has_lost_a_layer(&error) => tries += 1,
            ended => return ended,
        }
    }
}

/// Whether a build failed by the absence of an image that only the builder knew of.
fn has_lost_a_layer(error: &SandboxError) -> bool {
    match error {
        SandboxError::ImageMissing { image, .. } => image.starts_with("sha256:"),
        SandboxError::BuildFailed { reason, .. } => {
            let words = reason.to_ascii_lowercase();
            words.contains("unknown parent image") || words.contains("no such image: sha256:")
        }
        _ => false,
    }
}

async fn run_once(engine: &DockerEngine, build: Build, progress: &dyn Progress) -> Result<(), SandboxError> {
    let mut watching = Watching { steps: build.steps, step: None, log: CappedLog::new(0, LOG_TAIL), progress };
    let late = SandboxError::Timeout { what: format!("building image {}", build.tag), seconds: build.limit.as_secs() };
    let options = BuildImageOptions {
        dockerfile: DOCKERFILE.to_owned(),
        t: Some(build.tag),
        buildargs: Some(build.args),
        labels: Some(build.labels),
        nocache: build.no_cache,
        rm: true,
        forcerm: true,
        version: BuilderVersion::BuilderV1,
        ..BuildImageOptions::default()
    };
    // A step may be silent for as long as the whole build is allowed.
    let docker = engine.docker().clone().with_timeout(build.limit);
    let tar = bollard::body_try_stream(build.context.stream(build.dockerfile));
    let watch = async {
        let mut stream = std::pin::pin!(docker.build_image(options, None, Some(tar)));
        while let Some(info) = stream.next().await {
            match info {
                Ok(info) => watching.see(info),
                Err(error) => return Err(watching.failed(error)),
            }
        }
        Ok(())
    };
    tokio::time::timeout(build.limit, watch).await.map_err(|_| late)?
}

struct Watching<'a> {
    steps: Vec<String>,
    step: Option<String>,
    log: CappedLog,
    progress: &'a dyn Progress,
}

impl Watching<'_> {
    fn see(&mut self, info: BuildInfo) {
        let text = info.stream.or(info.status).unwrap_or_default();
        for line in text.lines().map(str::trim_end).filter(|line| !line.is_empty()) {
            if let Some((number, of)) = step_number(line) {
                let text =
                    self.steps.get(number.saturating_sub(1)).cloned().unwrap_or_else(|| "label the image".to_owned());
                self.step = Some(text.clone());
                self.progress.event(BuildEvent::Step { number, of, text });
            } else {
                self.log.push(line.as_bytes());
                self.log.push(b"\n");
                self.progress.event(BuildEvent::Line(line.to_owned()));
            }
        }
    }

    fn failed(&mut self, error: Error) -> SandboxError {
        let step = self.step.take();
        let log = std::mem::replace(&mut self.log, CappedLog::new(0, 0)).finish();
        let log_tail = String::from_utf8_lossy(&log.bytes).into_owned();
        match classify("build an image", error) {
            SandboxError::Other { reason, .. } => SandboxError::BuildFailed {
                step: step.unwrap_or_else(|| "sending the files".to_owned()),
                reason: shorten(&reason),
                log_tail,
            },
            other => other,
        }
    }
}

/// `Step 2/5 : RUN x` as (2, 5).
fn step_number(line: &str) -> Option<(usize, usize)> {
    let (numbers, _) = line.strip_prefix("Step ")?.split_once(" : ")?;
    let (number, of) = numbers.split_once('/')?;
    Some((number.parse().ok()?, of.parse().ok()?))
}

/// The engine repeats the command, which may be long; the step is named already.
fn shorten(reason: &str) -> String {
    match reason.rsplit_once("returned a non-zero code: ") {
        Some((_, code)) => format!("the command returned {}", code.trim()),
        None => reason.trim().to_owned(),
    }
}

/// Pulls an image.
pub(super) async fn pull(engine: &DockerEngine, image: &str, progress: &dyn Progress) -> Result<(), Error> {
    let (name, tag) = split_tag(image);
    let options = bollard::query_parameters::CreateImageOptions {
        from_image: Some(name.to_owned()),
        tag: Some(tag.to_owned()),
        ..bollard::query_parameters::CreateImageOptions::default()
    };
    let mut stream = std::pin::pin!(engine.docker().create_image(Some(options), None, None));
    while let Some(info) = stream.try_next().await? {
        if let Some(status) = info.status {
            progress.event(BuildEvent::Pulling { image: image.to_owned(), status });
        }
    }
    Ok(())
}

/// Without a tag the engine would pull every tag there is.
fn split_tag(image: &str) -> (&str, &str) {
    if image.contains('@') {
        return (image, "");
    }
    match image.rsplit_once(':') {
        Some((name, tag)) if !tag.contains('/') => (name, tag),
        _ => (image, "latest"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_lost_layer_is_reason_to_build_again() {
        let missing = |image: &str| SandboxError::ImageMissing {
            image: image.to_owned(),
            reason: "it was removed meanwhile".to_owned(),
            remedy: String::new(),
            lasts: false,
        };
        let failed = |reason: &str| SandboxError::BuildFailed {
            step: "Dockerfile:2: RUN make".to_owned(),
            reason: reason.to_owned(),
            log_tail: String::new(),
        };
        for (error, want) in [
            (missing("sha256:0f3a"), true),
            (missing("ubuntu:24.04"), false),
            (failed("unknown parent image ID sha256:0f3a"), true),
            (failed("No such image: sha256:0f3a"), true),
            (failed("the command returned 2"), false),
            (SandboxError::Timeout { what: "building".to_owned(), seconds: 1 }, false),
        ] {
            assert_eq!(has_lost_a_layer(&error), want, "{error}");
        }
    }
}
