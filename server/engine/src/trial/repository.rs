//! The image of a repository task: the task's own image, the repository's files in it, and its set-up commands. Both arms start from it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::Arc;

use domain::finding::Finding;
use domain::order::TrialOrder;
use domain::path::RelPath;
use domain::repository::TargetRepository;
use domain::tree::{Tree, TreeEntry};
use repos::SnapshotRequest;

use super::Executor;
use super::fault::Fault;
use super::skills;
use crate::image::{BuildRequest, Context, ContextBytes, ImageRequest, ReadyImage};
use crate::sandbox::SandboxError;

/// In the build context. The engine unpacks it where it is added.
const TAR: &str = "repository.tar";

/// What to build, and what is to be known about it.
pub(super) struct WithRepository {
    pub(super) request: ImageRequest,
    pub(super) findings: Vec<Finding>,
}

impl Executor {
    /// Fetches the repository, where it is not here yet, and asks for `base` with it.
    pub(super) async fn with_repository(
        &self,
        order: &TrialOrder,
        target: &TargetRepository,
        base: &ReadyImage,
    ) -> Result<WithRepository, Fault> {
        let pinned = self.repositories.fetch(&target.url, &target.commit).await?;
        let leave_out = skills::folders_in_repositories();
        let snapshot = pinned.snapshot(&SnapshotRequest { sparse: target.sparse.clone(), leave_out }).await?;
        let name = RelPath::new(TAR).map_err(|error| SandboxError::other("name a file", error))?;
        let entry = TreeEntry { executable: false, size: snapshot.size, hash: snapshot.hash };
        let files: Tree = [(name, entry)].into_iter().collect();
        let user = order.task.agent.user.as_deref().or(base.user.as_deref());
        let request = ImageRequest::Build(BuildRequest {
            file: format!("the repository {} in {}", target.url.name(), base.tag),
            dockerfile: dockerfile(target, &base.tag, base.user.as_deref(), user),
            context: Context { files, bytes: Arc::new(OnDisk(snapshot.tar)), empty_folders: Vec::new() },
            args: BTreeMap::new(),
            limit: order.settings.multiplied(order.task.environment.build_timeout),
            no_cache: order.settings.rebuild_images,
        });
        Ok(WithRepository { request, findings: snapshot.findings })
    }
}

/// Set-up is done by root, as in any image; the files then belong to whom the agent is.
fn dockerfile(target: &TargetRepository, base: &str, of_image: Option<&str>, of_agent: Option<&str>) -> String {
    let folder = &target.folder;
    let mut lines = vec![format!("FROM {base}")];
    lines.extend(of_image.map(|_| "USER 0".to_owned()));
    lines.push(format!("ADD {TAR} {folder}/"));
    lines.push(format!("WORKDIR {folder}"));
    lines.extend(target.setup.iter().map(|command| run(command)));
    if let Some(user) = of_agent.filter(|user| !matches!(user.split(':').next(), Some("0" | "root"))) {
        lines.push(run(&format!("chown -R {user} {folder}")));
    }
    lines.extend(of_image.map(|user| format!("USER {user}")));
    lines.join("\n") + "\n"
}

/// A command as one JSON word, in which nothing is a variable, a heredoc or the end of a line.
fn run(command: &str) -> String {
    let words = serde_json::json!(["/bin/sh", "-c", command]).to_string();
    format!("RUN {}", words.replace('<', "\\u003c"))
}

/// A file that is read where it lies.
struct OnDisk(PathBuf);

impl ContextBytes for OnDisk {
    fn read(&self, _: &RelPath, _: &TreeEntry) -> io::Result<Vec<u8>> {
        std::fs::read(&self.0)
    }

    fn open(&self, _: &RelPath, _: &TreeEntry) -> io::Result<Box<dyn Read>> {
        Ok(Box::new(File::open(&self.0)?))
    }
}

#[cfg(test)]
mod tests {
    use domain::repository::{CommitId, RepositoryUrl};

    use super::*;

    #[test]
    fn the_agent_owns_what_root_has_set_up() {
        let target = TargetRepository {
            url: RepositoryUrl::new("https://git.example.com/farm/pen").unwrap(),
            commit: CommitId::new(&"12".repeat(20)).unwrap(),
            folder: "/workspace/pen".to_owned(),
            sparse: Vec::new(),
            setup: vec!["cat <<E | sh\necho \"$HOME\"\nE".to_owned()],
        };
        let setup = r#"RUN ["/bin/sh","-c","cat \u003c\u003cE | sh\necho \"$HOME\"\nE"]"#;
        let head = "ADD repository.tar /workspace/pen/\nWORKDIR /workspace/pen\n";
        let chown = r#"RUN ["/bin/sh","-c","chown -R dev /workspace/pen"]"#;
        for (of_image, of_agent, want) in [
            (None, None, format!("FROM base\n{head}{setup}\n")),
            (Some("dev"), Some("dev"), format!("FROM base\nUSER 0\n{head}{setup}\n{chown}\nUSER dev\n")),
            (None, Some("dev"), format!("FROM base\n{head}{setup}\n{chown}\n")),
            (Some("0:0"), Some("0:0"), format!("FROM base\nUSER 0\n{head}{setup}\nUSER 0:0\n")),
        ] {
            assert_eq!(dockerfile(&target, "base", of_image, of_agent), want);
        }
    }
}
