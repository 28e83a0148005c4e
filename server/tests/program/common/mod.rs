//! What these tests share: a corner of the engine and of the disk for each, and the proof that nothing is left of it.

mod kept;
mod process;
mod tasks;
mod web;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use bollard::Docker;
use bollard::query_parameters::{
    ListContainersOptions, ListImagesOptions, ListNetworksOptions, ListVolumesOptions, RemoveContainerOptions,
    RemoveImageOptions, RemoveVolumeOptions,
};
use serde_json::Value;
use tempfile::TempDir;
use tokio::runtime::Runtime;

pub use kept::KeptTrial;
pub use process::{Ended, Running, until};
pub use tasks::{PASS, SKILL, Task, rewarding};
pub use web::{Answer, Site, answer};

/// Name of the label that tells whose a container, network or volume is.
pub const INSTANCE: &str = "skilldelta.instance";

/// One test's own corner.
pub struct Home {
    pub docker: Docker,
    /// The image that tasks start from.
    pub base: String,
    /// Value of the label `test` of every image made here.
    pub mark: String,
    /// Value of the label [`INSTANCE`] of every container made here.
    pub instance: String,
    runtime: Runtime,
    temp: TempDir,
}

impl Home {
    /// A corner with a skill and no task yet; `name` is the test's.
    pub fn new(name: &str) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let docker = Docker::connect_with_local_defaults().unwrap();
        let base = runtime.block_on(base_image(&docker));
        let mark = format!("program-{}-{name}", std::process::id());
        let bytes = mark
            .bytes()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        let home =
            Self { docker, base, mark, instance: format!("{bytes:016x}"), runtime, temp: tempfile::tempdir().unwrap() };
        // The program draws an id for a new data folder and keeps the one that is there: so this test knows its labels beforehand.
        home.write("data/instance", &home.instance);
        home.settings("");
        home.write("skills/measured-words/SKILL.md", SKILL);
        home
    }

    /// A place below the test's own folder.
    pub fn path(&self, below: &str) -> PathBuf {
        self.temp.path().join(below)
    }

    pub fn data(&self) -> PathBuf {
        self.path("data")
    }

    pub fn skill(&self) -> String {
        self.path("skills/measured-words").display().to_string()
    }

    pub fn tasks(&self) -> String {
        self.path("tasks").display().to_string()
    }

    pub fn write(&self, below: &str, text: impl AsRef<[u8]>) {
        let path = self.path(below);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Writes the settings file. Here no trial waits after trouble.
    pub fn settings(&self, further: &str) {
        self.write("data/skilldelta.toml", format!("retry_wait_s = 0\n{further}"));
    }

    pub fn task(&self, task: &Task) {
        task.write(self, &format!("tasks/{}", task.name));
    }

    /// The program with these arguments, in an environment that says nothing about it but where its data is.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_skilldelta"));
        self.prepare(&mut command);
        command.args(args);
        command
    }

    pub fn prepare(&self, command: &mut Command) {
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if text.starts_with("SKILLDELTA_") || text.starts_with("ANTHROPIC_") || text.starts_with("LEPTOS_") {
                command.env_remove(&name);
            }
        }
        command.env("SKILLDELTA_DATA", self.data()).current_dir(self.temp.path());
    }

    /// Runs the program to its end.
    pub fn run(&self, args: &[&str]) -> Ended {
        Running::start(self.command(args)).end()
    }

    /// Evaluates this corner's skill on its tasks; the result must be there, whatever the exit code.
    pub fn eval(&self, agent: &[&str]) -> (Ended, Value) {
        self.eval_with(&self.skill(), agent)
    }

    /// As [`Home::eval`], with `--skill`.
    pub fn eval_with(&self, skill: &str, agent: &[&str]) -> (Ended, Value) {
        let (tasks, json) = (self.tasks(), self.path("result.json").display().to_string());
        let given = ["eval", "--skill", skill, "--tasks", &tasks, "--concurrency", "4", "--json", &json];
        let ended = self.run(&[given.as_slice(), agent].concat());
        let text = std::fs::read_to_string(&json).unwrap_or_else(|error| panic!("{error}: {ended}"));
        std::fs::remove_file(&json).unwrap();
        (ended, serde_json::from_str(&text).unwrap())
    }

    pub fn wait<T>(&self, future: impl Future<Output = T>) -> T {
        self.runtime.block_on(future)
    }

    /// Ids or names of what carries this corner's label: containers, networks, volumes.
    pub fn labelled(&self) -> Vec<String> {
        self.labelled_as(&self.instance)
    }

    pub fn containers(&self) -> Vec<String> {
        self.wait(self.containers_of(&self.instance))
    }

    pub fn labelled_as(&self, instance: &str) -> Vec<String> {
        self.wait(async {
            let filters = filter(INSTANCE, instance);
            let networks = Some(ListNetworksOptions { filters: filters.clone() });
            let networks = self.docker.list_networks(networks).await.unwrap();
            let volumes = self.docker.list_volumes(Some(ListVolumesOptions { filters })).await.unwrap();
            let networks = networks.into_iter().filter_map(|network| network.name);
            let volumes = volumes.volumes.unwrap_or_default().into_iter().map(|volume| volume.name);
            self.containers_of(instance).await.into_iter().chain(networks).chain(volumes).collect()
        })
    }

    async fn containers_of(&self, instance: &str) -> Vec<String> {
        self.containers_with(INSTANCE, instance).await
    }

    /// Ids of containers with a label.
    pub async fn containers_with(&self, label: &str, value: &str) -> Vec<String> {
        let options =
            ListContainersOptions { all: true, filters: filter(label, value), ..ListContainersOptions::default() };
        let found = self.docker.list_containers(Some(options)).await.unwrap();
        found.into_iter().filter_map(|container| container.id).collect()
    }

    /// Ends the test: nothing with its label may be there.
    pub fn finish(self) {
        assert_eq!(self.labelled(), Vec::<String>::new(), "left behind");
    }

    /// Removes everything that carries an instance's label.
    pub async fn remove_labelled(&self, instance: &str) {
        for id in self.containers_of(instance).await {
            let options = RemoveContainerOptions { force: true, v: true, ..RemoveContainerOptions::default() };
            let _ = self.docker.remove_container(&id, Some(options)).await;
        }
        let filters = filter(INSTANCE, instance);
        let networks = ListNetworksOptions { filters: filters.clone() };
        for network in self.docker.list_networks(Some(networks)).await.unwrap_or_default() {
            let _ = self.docker.remove_network(&network.name.unwrap_or_default()).await;
        }
        let volumes = self.docker.list_volumes(Some(ListVolumesOptions { filters })).await.unwrap_or_default();
        for volume in volumes.volumes.unwrap_or_default() {
            let _ = self.docker.remove_volume(&volume.name, None::<RemoveVolumeOptions>).await;
        }
    }

    async fn remove_images(&self) {
        // An image goes only after those that were made from it.
        for _ in 0..10 {
            let filters = filter("test", &self.mark);
            let options = ListImagesOptions { all: true, filters, ..ListImagesOptions::default() };
            let found = self.docker.list_images(Some(options)).await.unwrap_or_default();
            if found.is_empty() {
                return;
            }
            for image in found {
                let options = RemoveImageOptions { force: true, ..RemoveImageOptions::default() };
                let _ = self.docker.remove_image(&image.id, Some(options), None).await;
            }
        }
    }
}

impl Drop for Home {
    /// Images are this test's own as well, and a failed test cleans up too.
    fn drop(&mut self) {
        self.wait(async {
            self.remove_labelled(&self.instance).await;
            self.remove_images().await;
        });
    }
}

fn filter(label: &str, value: &str) -> Option<HashMap<String, Vec<String>>> {
    Some(HashMap::from([("label".to_owned(), vec![format!("{label}={value}")])]))
}

async fn base_image(docker: &Docker) -> String {
    let wanted = std::env::var("SKILLDELTA_TEST_IMAGE").unwrap_or_else(|_| "skilldelta-base:bookworm".to_owned());
    match docker.inspect_image(&wanted).await {
        Ok(_) => wanted,
        Err(error) => {
            panic!("these tests need a container engine with the image '{wanted}' (see .ci/base-image): {error}")
        }
    }
}

/// A file of the collection of known troubles; `None`, with a word, where a checkout is without it.
pub fn shared(path: &str) -> Option<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/cases").join(path);
    let text = std::fs::read_to_string(&path).ok();
    if text.is_none() {
        eprintln!("left out: {} is not there", path.display());
    }
    text
}

/// The trial of a result.
pub fn trial<'a>(report: &'a Value, task: &str, condition: &str) -> &'a Value {
    let trials = report["trials"].as_array().unwrap();
    let found = trials.iter().find(|trial| trial["task"] == task && trial["condition"] == condition);
    found.unwrap_or_else(|| panic!("no trial {task} {condition} in {report}"))
}
