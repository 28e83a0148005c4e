//! The container of a task: a Dockerfile to build or an image by name, and what the compose file adds.

use domain::finding::Finding;
use domain::path::RelPath;
use domain::repository::TargetRepository;
use domain::task::{Environment, ImageSource};
use domain::tree::LoadedTree;

use super::config::EnvironmentConfig;
use super::{compose, dockerfile};

/// The build context.
const FOLDER: &str = "environment";
const DOCKERFILE: &str = "environment/Dockerfile";

/// The environment; `None` where no image can be had.
pub(super) fn environment(
    config: EnvironmentConfig,
    repository: Option<TargetRepository>,
    files: &LoadedTree,
    out: &mut Vec<Finding>,
) -> Option<Environment> {
    let compose = compose::read(files, out);
    let mut env = compose.env;
    env.extend(config.env);
    Some(Environment {
        image: image(config.image, files, out)?,
        env,
        workdir: config.workdir.or(compose.workdir).or(repository.as_ref().map(|repository| repository.folder.clone())),
        repository,
        cpus: config.cpus,
        memory_mb: config.memory_mb,
        storage_mb: config.storage_mb,
        gpus: config.gpus,
        build_timeout: config.build_timeout,
        network: config.network,
    })
}

/// A Dockerfile wins over a name: it says how the image came about, and bundled skills can be kept out of it.
fn image(named: Option<String>, files: &LoadedTree, out: &mut Vec<Finding>) -> Option<ImageSource> {
    match (files.get(DOCKERFILE), named) {
        (Some(file), named) => {
            dockerfile::check(DOCKERFILE, &file.bytes, out);
            if let Some(name) = named {
                let message = format!("there is a Dockerfile, so the image `{name}` of the settings is not used");
                out.push(Finding::note("image_and_dockerfile", DOCKERFILE, message));
            }
            RelPath::new(FOLDER).ok().map(|context| ImageSource::Build { context })
        }
        (None, Some(image)) => Some(ImageSource::Named { image }),
        (None, None) => {
            out.push(no_image(files));
            None
        }
    }
}

fn no_image(files: &LoadedTree) -> Finding {
    let elsewhere = files.iter().map(|(path, _)| path).find(|path| path.file_name().eq_ignore_ascii_case("Dockerfile"));
    let message = "the task has no container: neither `environment/Dockerfile` nor an image by name";
    let finding = Finding::error("no_image", DOCKERFILE, message);
    finding.hint(match elsewhere {
        Some(path) => format!("there is `{path}`: it must be called `{DOCKERFILE}`"),
        None => format!("add `{DOCKERFILE}`, or set `docker_image` in the environment's settings"),
    })
}
