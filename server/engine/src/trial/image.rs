//! The image of a task, the same for both arms: its bundled skills are not built in.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use domain::finding::Finding;
use domain::path::RelPath;
use domain::plan::RunSettings;
use domain::task::{Environment, ImageSource, Task};
use domain::tree::{Tree, TreeEntry};

use super::fault::Fault;
use crate::blobs::Blobs;
use crate::image::{BuildEvent, BuildRequest, Context, ContextBytes, ImageRequest, SKILLS_FOLDER, strip_skill_copies};

/// The image to ask for, and what was taken out of it.
pub(super) struct TaskImage {
    pub(super) request: ImageRequest,
    pub(super) notes: Vec<Finding>,
    /// Folders that the task's own Dockerfile would have filled with its skills.
    pub(super) skill_places: Vec<String>,
}

/// What to ask for.
pub(super) async fn request(task: &Task, settings: &RunSettings, blobs: &Arc<dyn Blobs>) -> Result<TaskImage, Fault> {
    let folder = match &task.environment.image {
        ImageSource::Named { image } => {
            let request = ImageRequest::Named(image.clone());
            return Ok(TaskImage { request, notes: Vec::new(), skill_places: Vec::new() });
        }
        ImageSource::Build { context } => context,
    };
    let (file, text) = dockerfile(task, folder, blobs).await?;
    let stripped = strip_skill_copies(&file, &text);
    let context = Context {
        files: without_skills(&task.tree.below(folder.as_str()), &stripped.kept),
        bytes: Arc::new(Stored(Arc::clone(blobs))),
        empty_folders: RelPath::new(SKILLS_FOLDER).into_iter().collect(),
    };
    let request = BuildRequest {
        file,
        dockerfile: stripped.text,
        context,
        args: BTreeMap::new(),
        limit: settings.multiplied(task.environment.build_timeout),
        no_cache: settings.rebuild_images,
    };
    let skill_places = stripped.destinations;
    Ok(TaskImage { request: ImageRequest::Build(request), notes: stripped.notes, skill_places })
}

/// The image of a verifier's own container: its context is the task's tests, all of them.
pub(super) async fn of_verifier(
    task: &Task,
    container: &Environment,
    settings: &RunSettings,
    blobs: &Arc<dyn Blobs>,
) -> Result<ImageRequest, Fault> {
    let folder = match &container.image {
        ImageSource::Named { image } => return Ok(ImageRequest::Named(image.clone())),
        ImageSource::Build { context } => context,
    };
    let (file, dockerfile) = dockerfile(task, folder, blobs).await?;
    Ok(ImageRequest::Build(BuildRequest {
        file,
        dockerfile,
        context: Context {
            files: task.tree.below(folder.as_str()).filter(|path| path.as_str() != "Dockerfile"),
            bytes: Arc::new(Stored(Arc::clone(blobs))),
            empty_folders: Vec::new(),
        },
        args: BTreeMap::new(),
        limit: settings.multiplied(container.build_timeout),
        no_cache: settings.rebuild_images,
    }))
}

/// The Dockerfile in a folder of the task: its name and text.
async fn dockerfile(task: &Task, folder: &RelPath, blobs: &Arc<dyn Blobs>) -> Result<(String, String), Fault> {
    let file = format!("{folder}/Dockerfile");
    let entry = task.tree.get(&file).ok_or_else(|| Fault::Order(format!("task {} has no {file}", task.name)))?;
    let bytes = blobs.get(entry.hash).await.map_err(|source| Fault::Blobs { what: "the task's Dockerfile", source })?;
    let text = String::from_utf8_lossy(&bytes).replace("\r\n", "\n");
    Ok((file, text))
}

/// The context without the bundled skills, but for what a remaining line of the Dockerfile copies by name.
fn without_skills(context: &Tree, kept: &[RelPath]) -> Tree {
    let is_kept = |path: &RelPath| kept.iter().any(|kept| path == kept || path.below(kept.as_str()).is_some());
    context.filter(|path| path.as_str() != "Dockerfile" && (path.below(SKILLS_FOLDER).is_none() || is_kept(path)))
}

/// A context whose bytes lie in the blob store.
struct Stored(Arc<dyn Blobs>);

impl ContextBytes for Stored {
    fn read(&self, _: &RelPath, entry: &TreeEntry) -> io::Result<Vec<u8>> {
        self.0.get_now(entry.hash)
    }
}

/// A step of an image build as a line of the live log.
pub(super) fn line(event: BuildEvent) -> String {
    match event {
        BuildEvent::Waiting => "waiting for another trial to finish building this image\n".to_owned(),
        BuildEvent::Pulling { image, status } => format!("pulling {image}: {status}\n"),
        BuildEvent::Step { number, of, text } => format!("step {number} of {of}: {text}\n"),
        BuildEvent::Line(text) => format!("{text}\n"),
    }
}

#[cfg(test)]
mod tests {
    use domain::tree::{LoadedFile, LoadedTree};

    use super::*;

    #[test]
    fn bundled_skills_stay_out_of_the_context() {
        let path = |text| RelPath::new(text).unwrap();
        let file = || LoadedFile { executable: false, bytes: vec![] };
        let paths = ["Dockerfile", "data.csv", "skills/a/SKILL.md", "skills/mail/SKILL.md", "skillset/x"];
        let tree = paths.iter().map(|text| (path(text), file())).collect::<LoadedTree>().summary();
        let left =
            |kept: &[RelPath]| without_skills(&tree, kept).iter().map(|(path, _)| path.to_string()).collect::<Vec<_>>();
        assert_eq!(left(&[]), ["data.csv", "skillset/x"]);
        assert_eq!(left(&[path("skills/mail")]), ["data.csv", "skills/mail/SKILL.md", "skillset/x"]);
    }
}
