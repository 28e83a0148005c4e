//! Images: built from a task's folder, or had by name, once for all who want the same, and re-used as long as nothing that goes in changes.

mod build;
mod context;
mod dockerfile;
mod locks;
mod names;
mod progress;
mod prune;
mod rewrite;
mod skills;

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use bollard::models::ImageInspect;
use bollard::query_parameters::RemoveImageOptions;
use domain::finding::Finding;
use domain::hash::ContentHash;
use domain::path::RelPath;
use domain::tree::{LoadedFile, LoadedTree};
use sha2::{Digest, Sha256};

pub use context::{Context, ContextBytes};
pub use dockerfile::{Dockerfile, Heredoc, Instruction, substitute};
pub use names::StandIns;
pub use progress::{BuildEvent, Progress};
pub use prune::KeptImage;
pub use rewrite::{Rewritten, outside_images, rewrite};
pub use skills::{SKILLS_FOLDER, Stripped, strip_skill_copies};

use self::build::Build;
use self::locks::Locks;
use crate::sandbox::SandboxError;
use crate::sandbox::docker::{DockerEngine, classify};

/// Marks images made by us; the value says what they are: `task`, `base`, or `cache` for what builds leave for the next.
pub const IMAGE_LABEL: &str = "skilldelta.image";
const CONTEXT_LABEL: &str = "skilldelta.context";
/// Repositories of our tags.
const TASK_TAG: &str = "skilldelta/task";
const BASE_TAG: &str = "skilldelta/base";
/// Raised whenever the same input is to give another image.
const BUILDER_VERSION: &str = "1";
/// Where the own certificates lie in images.
const CA_PATH: &str = "/etc/ssl/certs/skilldelta-ca.crt";
/// Variables by which the usual programs find them.
const CA_VARIABLES: [&str; 6] =
    ["CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "NODE_EXTRA_CA_CERTS", "PIP_CERT", "REQUESTS_CA_BUNDLE", "SSL_CERT_FILE"];
/// Longest build of a base with certificates: one COPY.
const BASE_LIMIT: Duration = Duration::from_secs(300);

/// How images are had.
#[derive(Debug, Clone, Default)]
pub struct ImageConfig {
    /// Local images used in place of others.
    pub stand_ins: StandIns,
    /// A PEM bundle that builds and containers are to trust. It takes the place of the image's own bundle for programs that go by the
    /// usual variables, so it has to hold every certificate that is needed.
    pub ca_bundle: Option<Vec<u8>>,
}

/// A wanted image.
#[derive(Clone)]
pub enum ImageRequest {
    /// Built.
    Build(BuildRequest),
    /// Had by name.
    Named(String),
}

/// A wanted image, built.
#[derive(Clone)]
pub struct BuildRequest {
    /// How messages call the Dockerfile.
    pub file: String,
    /// Its text.
    pub dockerfile: String,
    /// The files it can copy.
    pub context: Context,
    /// Values for its ARGs.
    pub args: BTreeMap<String, String>,
    /// Longest build.
    pub limit: Duration,
    /// Whether every step is done anew, also when the image is there.
    pub no_cache: bool,
}

/// An image that is on the engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadyImage {
    /// `sha256:…`; what a trial records and runs.
    pub id: String,
    /// Its name on the engine.
    pub tag: String,
    /// Of what was built; `None` for one had by name.
    pub context: Option<ContentHash>,
    /// Whether it was there already.
    pub reused: bool,
    /// Working folder that it sets.
    pub workdir: Option<String>,
    /// User that it sets.
    pub user: Option<String>,
    /// Stand-ins used, and what was rewritten.
    pub findings: Vec<Finding>,
}

/// Makes images ready on one engine. Share one between all who use the engine.
pub struct Images {
    engine: DockerEngine,
    config: ImageConfig,
    locks: Locks,
}

/// An image that another is built on.
#[derive(Clone)]
struct Base {
    id: String,
    reference: String,
}

impl Images {
    /// For this engine.
    #[must_use]
    pub fn new(engine: DockerEngine, config: ImageConfig) -> Self {
        Self { engine, config, locks: Locks::default() }
    }

    /// Makes an image ready: builds, pulls or just finds it. Of several who want the same at once, one does the work.
    ///
    /// # Errors
    /// [`SandboxError::ImageMissing`], [`SandboxError::Refused`], [`SandboxError::BuildFailed`], [`SandboxError::Timeout`]; others as they come.
    pub async fn ensure(&self, request: &ImageRequest, progress: &dyn Progress) -> Result<ReadyImage, SandboxError> {
        match request {
            ImageRequest::Named(image) => self.named(image, progress).await,
            ImageRequest::Build(request) => self.built(request, progress).await,
        }
    }

    async fn named(&self, image: &str, progress: &dyn Progress) -> Result<ReadyImage, SandboxError> {
        let (base, reused) = self.base(image, progress).await?;
        let found =
            self.inspect(&base.reference).await?.ok_or_else(|| missing(image, "it was removed meanwhile", false))?;
        Ok(ready(found, base.reference, None, reused, self.stand_in_notes("image", &[image.to_owned()])))
    }

    async fn built(&self, request: &BuildRequest, progress: &dyn Progress) -> Result<ReadyImage, SandboxError> {
        let dockerfile = Dockerfile::parse(&request.dockerfile);
        let outside = outside_images(&dockerfile, &request.args);
        // Refusals come before anything is fetched.
        rewrite(&request.file, &dockerfile, &request.args, str::to_owned)?;
        let mut bases = BTreeMap::new();
        for image in &outside {
            bases.insert(image.clone(), self.base(image, progress).await?.0);
        }
        let reference = |image: &str| bases.get(image).map_or_else(|| image.to_owned(), |base| base.reference.clone());
        let rewritten = rewrite(&request.file, &dockerfile, &request.args, reference)?;
        let context = request.context.hash();
        let key = key(&rewritten.text, &request.args, context, bases.values().map(|base| base.id.as_str()));
        let tag = format!("{TASK_TAG}:{key}");
        let mut findings = self.stand_in_notes(&request.file, &outside);
        findings.extend(rewritten.notes);
        if request.context.files.get(".dockerignore").is_some() {
            let message = "'.dockerignore' is not heeded: the whole folder is sent to the builder";
            findings.push(Finding::note("dockerignore", &request.file, message));
        }

        let _turn = self.locks.turn(&tag, progress).await;
        let earlier = self.inspect(&tag).await?;
        if let Some(found) = earlier.clone().filter(|_| !request.no_cache) {
            return Ok(ready(found, tag, Some(context), true, findings));
        }
        let build = Build {
            tag: tag.clone(),
            context: request.context.clone(),
            dockerfile: rewritten.text,
            steps: rewritten.steps.into_iter().map(|(line, text)| format!("{}:{line}: {text}", request.file)).collect(),
            args: request.args.clone().into_iter().collect(),
            labels: labels("task", &context.to_hex()),
            limit: request.limit,
            no_cache: request.no_cache,
        };
        build::run(&self.engine, build, progress).await?;
        let found = self
            .inspect(&tag)
            .await?
            .ok_or_else(|| SandboxError::other("build an image", "it is not there afterwards"))?;
        if let Some(id) = earlier.and_then(|earlier| earlier.id).filter(|id| found.id.as_ref() != Some(id)) {
            // Without its name; one that is in use refuses to go, and is pruned another time.
            let _ = self.engine.docker().remove_image(&id, None::<RemoveImageOptions>, None).await;
        }
        Ok(ready(found, tag, Some(context), false, findings))
    }

    /// An outside image on the engine, by its stand-in, pulled if need be, with the own certificates put in. Answers whether it was there.
    async fn base(&self, image: &str, progress: &dyn Progress) -> Result<(Base, bool), SandboxError> {
        let local = self.config.stand_ins.resolve(image).to_owned();
        let (id, reused) = self.fetched(image, &local, progress).await?;
        // What we built stands on a base that has them.
        let is_ours = [TASK_TAG, BASE_TAG].iter().any(|tag| local.starts_with(&format!("{tag}:")));
        let Some(bundle) = self.config.ca_bundle.as_ref().filter(|_| !is_ours) else {
            return Ok((Base { id, reference: local }, reused));
        };
        let dockerfile = certified(&local);
        let tag = format!(
            "{BASE_TAG}:{}",
            key(&dockerfile, &BTreeMap::new(), ContentHash::of(bundle), [id.as_str()].into_iter())
        );
        let _turn = self.locks.turn(&tag, progress).await;
        if let Some(found) = self.inspect(&tag).await? {
            return Ok((Base { id: found.id.unwrap_or_default(), reference: tag }, true));
        }
        let name = RelPath::new("ca.crt").map_err(|error| SandboxError::other("name a file", error))?;
        let files: LoadedTree = [(name, LoadedFile { executable: false, bytes: bundle.clone() })].into_iter().collect();
        let build = Build {
            tag: tag.clone(),
            context: Context::loaded(files),
            dockerfile,
            steps: vec![format!("certificates for {local}"); 3],
            args: HashMap::new(),
            labels: labels("base", ""),
            limit: BASE_LIMIT,
            no_cache: false,
        };
        build::run(&self.engine, build, progress).await?;
        let found = self.inspect(&tag).await?.and_then(|found| found.id).unwrap_or_default();
        Ok((Base { id: found, reference: tag }, false))
    }

    async fn fetched(&self, image: &str, local: &str, progress: &dyn Progress) -> Result<(String, bool), SandboxError> {
        if let Some(found) = self.inspect(local).await? {
            return Ok((found.id.unwrap_or_default(), true));
        }
        if self.config.stand_ins.has(image) {
            let reason = format!("its stand-in '{local}' is not on the engine");
            return Err(missing(image, &reason, true));
        }
        let _turn = self.locks.turn(local, progress).await;
        if let Some(found) = self.inspect(local).await? {
            return Ok((found.id.unwrap_or_default(), true));
        }
        if let Err(error) = build::pull(&self.engine, local, progress).await {
            return Err(match classify("pull an image", error) {
                SandboxError::Other { reason, .. } => missing(image, &reason, is_unknown(&reason)),
                SandboxError::ImageMissing { .. } => missing(image, "no registry has it", true),
                other => other,
            });
        }
        let found =
            self.inspect(local).await?.ok_or_else(|| missing(image, "it is not there after it was pulled", false))?;
        Ok((found.id.unwrap_or_default(), false))
    }

    async fn inspect(&self, name: &str) -> Result<Option<ImageInspect>, SandboxError> {
        match self.engine.docker().inspect_image(name).await {
            Ok(found) => Ok(Some(found)),
            Err(bollard::errors::Error::DockerResponseServerError { status_code: 404, .. }) => Ok(None),
            Err(error) => Err(classify("look for an image", error)),
        }
    }

    fn stand_in_notes(&self, file: &str, outside: &[String]) -> Vec<Finding> {
        let stand_ins = &self.config.stand_ins;
        let used = outside.iter().filter(|image| stand_ins.has(image));
        used.map(|image| {
            let message = format!("image '{image}' is stood in for by '{}'", stand_ins.resolve(image));
            Finding::warning("image_stand_in", file, message)
        })
        .collect()
    }
}

fn missing(image: &str, reason: &str, lasts: bool) -> SandboxError {
    let remedy = format!(
        "pull or load it (docker pull {image}), or name a local image to use in its place: --image-stand-in '{image}=LOCAL'"
    );
    SandboxError::ImageMissing { image: image.to_owned(), reason: reason.to_owned(), remedy, lasts }
}

/// Whether a registry was reached and has none of that name, or shows it to nobody who asks as we do.
fn is_unknown(reason: &str) -> bool {
    let reason = reason.to_ascii_lowercase();
    ["manifest unknown", "repository does not exist", "invalid reference format"]
        .iter()
        .any(|words| reason.contains(words))
}

fn ready(
    found: ImageInspect,
    tag: String,
    context: Option<ContentHash>,
    reused: bool,
    findings: Vec<Finding>,
) -> ReadyImage {
    let config = found.config.unwrap_or_default();
    ReadyImage {
        id: found.id.unwrap_or_default(),
        tag,
        context,
        reused,
        workdir: config.working_dir.filter(|folder| !folder.is_empty()),
        user: config.user.filter(|user| !user.is_empty()),
        findings,
    }
}

/// 24 hexadecimal digits over everything that goes into an image.
fn key<'a>(
    dockerfile: &str,
    args: &BTreeMap<String, String>,
    context: ContentHash,
    bases: impl Iterator<Item = &'a str>,
) -> String {
    let mut hasher = Sha256::new();
    let mut part = |text: &str| {
        hasher.update((text.len() as u64).to_be_bytes());
        hasher.update(text.as_bytes());
    };
    part(BUILDER_VERSION);
    part(dockerfile);
    part(&context.to_hex());
    for (name, value) in args {
        part(name);
        part(value);
    }
    for base in bases {
        part(base);
    }
    hex::encode(hasher.finalize()).chars().take(24).collect()
}

fn labels(kind: &str, context: &str) -> HashMap<String, String> {
    [(IMAGE_LABEL, kind), (CONTEXT_LABEL, context)].into_iter().map(|(k, v)| (k.to_owned(), v.to_owned())).collect()
}

fn certified(image: &str) -> String {
    let variables: Vec<String> = CA_VARIABLES.iter().map(|name| format!("{name}={CA_PATH}")).collect();
    format!("FROM {image}\nCOPY ca.crt {CA_PATH}\nENV {}\n", variables.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_registry_that_was_reached_can_say_that_it_has_no_such_image() {
        for (reason, want) in [
            ("manifest for a/b:1 not found: manifest unknown: manifest unknown", true),
            ("pull access denied for a, repository does not exist or may require 'docker login'", true),
            ("Get \"https://registry-1.docker.io/v2/\": dial tcp: lookup registry-1.docker.io: no such host", false),
            ("toomanyrequests: You have reached your pull rate limit", false),
            ("received unexpected HTTP status: 503 Service Unavailable", false),
            ("net/http: TLS handshake timeout", false),
        ] {
            let class = missing("a/b:1", reason, is_unknown(reason)).class();
            assert_eq!(class.lasts(), want, "{reason}");
        }
    }
}
