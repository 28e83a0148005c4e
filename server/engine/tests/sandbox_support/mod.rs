//! What the Docker tests share: an engine, an instance of their own, and the proof that nothing is left.
#![allow(dead_code, reason = "each test program uses a part")]

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use bollard::Docker;
use bollard::query_parameters::{
    ListContainersOptions, ListImagesOptions, ListNetworksOptions, ListVolumesOptions, RemoveImageOptions,
};
use domain::id::{AttemptId, EvaluationId, TrialId};
use engine::sandbox::docker::{DockerEngine, label};
use engine::sandbox::{Collect, Engine, ExecEnd, ExecSpec, Labels, Limits, Sandbox, SandboxSpec};

pub const LONG: Duration = Duration::from_secs(60);

/// One test's own corner of the engine.
pub struct Rig {
    pub engine: DockerEngine,
    pub docker: Docker,
    pub instance: String,
    pub image: String,
}

impl Rig {
    pub async fn new(name: &str) -> Self {
        let engine = match DockerEngine::connect(None).await {
            Ok(engine) => engine,
            Err(error) => panic!("these tests need a container engine: {error}"),
        };
        let docker = Docker::connect_with_unix_defaults().unwrap();
        let image = test_image(&docker).await;
        Self { engine, docker, instance: format!("test-{}-{name}", std::process::id()), image }
    }

    pub fn labels(&self, attempt: i64) -> Labels {
        Labels {
            instance: self.instance.clone(),
            evaluation: EvaluationId(1),
            trial: TrialId(2),
            attempt: AttemptId(attempt),
        }
    }

    pub fn spec(&self) -> SandboxSpec {
        let limits = Limits { memory_mb: 256, pids: 200, ..Limits::default() };
        SandboxSpec { limits, ..SandboxSpec::new(self.image.clone(), self.labels(1)) }
    }

    pub async fn sandbox(&self) -> Box<dyn Sandbox> {
        self.engine.create(&self.spec()).await.unwrap().sandbox
    }

    /// Container, network and volume names with this test's label, as the engine lists them.
    pub async fn left(&self) -> Vec<String> {
        let filters =
            Some(HashMap::from([("label".to_owned(), vec![format!("{}={}", label::INSTANCE, self.instance)])]));
        let options = ListContainersOptions { all: true, filters: filters.clone(), ..ListContainersOptions::default() };
        let containers = self.docker.list_containers(Some(options)).await.unwrap();
        let networks = self.docker.list_networks(Some(ListNetworksOptions { filters: filters.clone() })).await.unwrap();
        let volumes = self.docker.list_volumes(Some(ListVolumesOptions { filters })).await.unwrap();
        let containers = containers.into_iter().filter_map(|container| container.id);
        let networks = networks.into_iter().filter_map(|network| network.name);
        let volumes = volumes.volumes.unwrap_or_default().into_iter().map(|volume| volume.name);
        containers.chain(networks).chain(volumes).collect()
    }

    /// Removes the images whose Dockerfile gave them this test's label, once nothing uses them any more.
    pub async fn remove_images(&self) {
        self.engine.settle().await;
        let filters = HashMap::from([("label".to_owned(), vec![format!("test={}", self.instance)])]);
        let options = ListImagesOptions { filters: Some(filters), ..ListImagesOptions::default() };
        for image in self.docker.list_images(Some(options)).await.unwrap() {
            let options = RemoveImageOptions { force: true, ..RemoveImageOptions::default() };
            self.docker.remove_image(&image.id, Some(options), None).await.unwrap();
        }
    }

    /// Ends the test: background removals are awaited, and nothing with its label may be there.
    pub async fn finish(self) {
        self.engine.settle().await;
        let left = self.left().await;
        self.engine.reap(&self.instance, &HashSet::new()).await.unwrap();
        assert_eq!(left, Vec::<String>::new(), "left behind");
    }
}

impl Drop for Rig {
    /// A failed test cleans up as well; its runtime is going away, so in one of its own.
    fn drop(&mut self) {
        if !std::thread::panicking() {
            return;
        }
        let instance = self.instance.clone();
        let cleaning = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let engine = DockerEngine::connect(None).await.unwrap();
                engine.reap(&instance, &HashSet::new()).await.unwrap();
            });
        });
        let _ = cleaning.join();
    }
}

async fn test_image(docker: &Docker) -> String {
    let wanted = std::env::var("SKILLDELTA_TEST_IMAGE").unwrap_or_else(|_| "skilldelta-base:bookworm".to_owned());
    for image in [wanted.as_str(), "debian:bookworm-local"] {
        if docker.inspect_image(image).await.is_ok() {
            return image.to_owned();
        }
    }
    panic!("these tests need the image '{wanted}' (or one named by SKILLDELTA_TEST_IMAGE) on the engine");
}

/// Runs a script and gives its end and outputs.
pub async fn run(sandbox: &dyn Sandbox, script: &str) -> (ExecEnd, Collect) {
    run_for(sandbox, script, LONG).await
}

pub async fn run_for(sandbox: &dyn Sandbox, script: &str, limit: Duration) -> (ExecEnd, Collect) {
    let mut output = Collect::default();
    let end = sandbox.exec(&ExecSpec::shell(script, limit), &mut output).await.unwrap();
    (end, output)
}

/// Standard output of a script that must end well.
pub async fn text(sandbox: &dyn Sandbox, script: &str) -> String {
    let (end, output) = run(sandbox, script).await;
    assert!(end.exit.is_success(), "{script}: {} {}", end.exit, output.err_text());
    output.out_text()
}
