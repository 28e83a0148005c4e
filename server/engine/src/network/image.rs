//! The sidecar's image: the forwarder and nothing else. Made of the program that is carried here, named by its content.

use std::collections::HashMap;

use bollard::query_parameters::BuildImageOptionsBuilder;
use domain::hash::ContentHash;
use futures::TryStreamExt;

use crate::sandbox::SandboxError;
use crate::sandbox::docker::{DockerEngine, classify};

/// The program, for the target that this one is made for; empty where it could not be made (see `build.rs`).
const FORWARDER: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/forward"));
/// Not the label of images that are pruned: this one is small and always needed.
const ROLE_LABEL: &str = "skilldelta.role";
const DOCKERFILE: &str = "FROM scratch\nCOPY forward /forward\nENTRYPOINT [\"/forward\"]\n";
const PROGRAM_MODE: u32 = 0o755;
const FILE_MODE: u32 = 0o644;

/// The image's name, once it is there.
pub(super) async fn ensure(engine: &DockerEngine) -> Result<String, SandboxError> {
    let refused = |reason: String| SandboxError::other("make the image for closed networks", reason);
    if FORWARDER.is_empty() {
        let reason = "this program was built without its forwarder, as static linking failed; build it where a static C library is";
        return Err(refused(reason.to_owned()));
    }
    let (ours, theirs) = (std::env::consts::ARCH, &crate::sandbox::Engine::facts(engine).architecture);
    if ours != theirs {
        return Err(refused(format!("the engine runs on {theirs} and this program's forwarder on {ours}")));
    }
    let hash: String = ContentHash::of(FORWARDER).to_hex().chars().take(12).collect();
    let name = format!("skilldelta/forward:{hash}");
    if !engine.has_image(&name).await? {
        build(engine, &name).await?;
    }
    Ok(name)
}

async fn build(engine: &DockerEngine, name: &str) -> Result<(), SandboxError> {
    let what = "make the image for closed networks";
    let context = context().map_err(|error| SandboxError::other(what, error))?;
    let labels = HashMap::from([(ROLE_LABEL, "forward")]);
    let options = BuildImageOptionsBuilder::default().t(name).labels(&labels).rm(true).forcerm(true).build();
    let steps = engine.docker().build_image(options, None, Some(bollard::body_full(context.into())));
    let steps: Vec<_> = steps.try_collect().await.map_err(|error| classify(what, error))?;
    match steps.into_iter().find_map(|step| step.error_detail) {
        Some(error) => Err(SandboxError::other(what, error.message.unwrap_or_default())),
        None => Ok(()),
    }
}

fn context() -> std::io::Result<Vec<u8>> {
    let mut tar = tar::Builder::new(Vec::new());
    for (path, bytes, mode) in [("Dockerfile", DOCKERFILE.as_bytes(), FILE_MODE), ("forward", FORWARDER, PROGRAM_MODE)]
    {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(mode);
        tar.append_data(&mut header, path, bytes)?;
    }
    tar.into_inner()
}
