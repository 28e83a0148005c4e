//! Between the phases: from the container that the agent leaves to the one that the verifier works in (design §5.4).
//! What goes from the one to the other is written in `docs/isolation.md`.

use domain::finding::Finding;
use domain::order::TrialOrder;
use domain::task::{Artifact, Environment, ResultPlace};

use super::Executor;
use super::fault::Fault;
use super::networks::{Joined, enter_verifier};
use super::place::Place;
use super::workspace::Workspace;
use crate::image::ReadyImage;
use crate::network::TrialNetwork;
use crate::sandbox::{Caps, Limits, Sandbox, SandboxSpec, Upload};

/// What of one artifact is taken along at most.
const CARRIED: Caps =
    Caps { file_bytes: 64 << 20, total_bytes: 128 << 20, files: 20_000, passed_over: &[], sums: false };
/// Files that are told one by one.
const NAMED: usize = 20;

/// What the verifier works in.
pub(super) struct Court {
    pub(super) sandbox: Box<dyn Sandbox>,
    way: Option<TrialNetwork>,
    workspace: Option<Workspace>,
    pub(super) workdir: String,
    /// Whether its image holds the verifier's files.
    pub(super) has_tests: bool,
    pub(super) findings: Vec<Finding>,
}

impl Court {
    /// Removes everything, in the order that it must be.
    pub(super) async fn leave(self) -> Result<(), Fault> {
        self.sandbox.remove().await?;
        if let Some(way) = self.way {
            way.close().await?;
        }
        match self.workspace {
            Some(workspace) => workspace.remove().await,
            None => Ok(()),
        }
    }
}

impl Executor {
    /// Makes the verifier's place of the agent's, whose processes have ended. A workspace is judged in a fresh container of the same
    /// image, made once the agent's is gone: what the agent did elsewhere is gone with it. Otherwise the container stays, with the verifier's network.
    pub(super) async fn court(
        &self,
        order: &TrialOrder,
        place: Place,
        own: Option<&ReadyImage>,
    ) -> Result<Court, Fault> {
        if let (ResultPlace::Artifacts { artifacts, container }, Some(image)) = (&order.task.result_place, own) {
            return self.court_of_its_own(order, place, artifacts, container, image).await;
        }
        let Place { sandbox, mut way, workspace, workdir, image, networks, .. } = place;
        let Some(workspace) = workspace else {
            enter_verifier(&networks, way.as_mut(), sandbox.as_ref()).await?;
            return Ok(Court { sandbox, way, workspace: None, workdir, has_tests: false, findings: Vec::new() });
        };
        sandbox.remove().await?;
        if let Some(way) = way {
            way.close().await?;
        }
        let Joined { network, mut way } = self.verifiers_network(order, &networks).await?;
        let spec = SandboxSpec { mounts: workspace.mount().into_iter().collect(), ..self.spec(order, &image, network) };
        let sandbox = self.engine.create(&spec).await?.sandbox;
        if let Some(way) = &mut way {
            way.enter(&networks.verifier, sandbox.as_ref()).await?;
        }
        Ok(Court { sandbox, way, workspace: Some(workspace), workdir, has_tests: false, findings: Vec::new() })
    }

    /// A container of the verifier's own image, with the agent's artifacts at their places.
    async fn court_of_its_own(
        &self,
        order: &TrialOrder,
        place: Place,
        artifacts: &[Artifact],
        container: &Environment,
        image: &ReadyImage,
    ) -> Result<Court, Fault> {
        let Place { sandbox, way, networks, .. } = place;
        let note = format!("the verifier worked in a container of its own image, {}", image.id);
        let mut findings = vec![Finding::note("own_container", "between the phases", note)];
        let upload = carried(sandbox.as_ref(), artifacts, &mut findings).await?;
        sandbox.remove().await?;
        if let Some(way) = way {
            way.close().await?;
        }
        let Joined { network, mut way } = self.verifiers_network(order, &networks).await?;
        let spec = SandboxSpec {
            env: container.env.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
            workdir: container.workdir.clone(),
            user: None,
            ..self.spec(order, image, network)
        };
        let limits = Limits {
            cpus: container.cpus,
            memory_mb: container.memory_mb,
            storage_mb: Some(container.storage_mb),
            ..spec.limits
        };
        let created = self.engine.create(&SandboxSpec { limits, ..spec }).await?;
        findings.extend(created.findings);
        let sandbox = created.sandbox;
        if let Some(way) = &mut way {
            way.enter(&networks.verifier, sandbox.as_ref()).await?;
        }
        if !upload.is_empty() {
            sandbox.upload(upload).await?;
        }
        let workdir = container.workdir.clone().or_else(|| image.workdir.clone()).unwrap_or_else(|| "/".to_owned());
        Ok(Court { sandbox, way, workspace: None, workdir, has_tests: true, findings })
    }
}

/// The agent's artifacts, taken out of its container from outside. One that is not there is told: whether that matters is for the tests to say.
async fn carried(sandbox: &dyn Sandbox, artifacts: &[Artifact], findings: &mut Vec<Finding>) -> Result<Upload, Fault> {
    let mut upload = Upload::new();
    for Artifact { path, exclude } in artifacts {
        let Some(taken) = sandbox.download(path, CARRIED).await? else {
            if path != "/logs/artifacts" {
                findings.push(told(path, "is not there"));
            }
            continue;
        };
        if let Some(bytes) = taken.single() {
            let is_executable = taken.files.iter().any(|(_, file)| file.executable);
            upload = upload.file(path, bytes, is_executable);
        } else {
            let stays = |name: &str| exclude.iter().any(|excluded| excluded == name);
            let files = taken.files.iter().filter(|(file, _)| !file.as_str().split('/').any(stays));
            let files = files.map(|(path, file)| (path.clone(), file.clone())).collect();
            upload = upload.folder(path, 0o755).tree(path, &files);
        }
        let skipped = taken
            .skipped
            .iter()
            .filter(|skipped| !exclude.iter().any(|name| skipped.path.split('/').any(|part| part == name)));
        findings
            .extend(skipped.take(NAMED).map(|skipped| told(&skipped.path, &format!("was left out: {}", skipped.why))));
        if !taken.complete {
            findings
                .push(told(path, "is larger than what is taken along (128 MiB, 20,000 files); the rest was left out"));
        }
    }
    Ok(upload)
}

fn told(path: &str, what: &str) -> Finding {
    Finding::warning("artifact_left_out", "between the phases", format!("the artifact {path} {what}"))
}
