//! The `.git` that goes into a container: one commit without a parent, made of exactly the files that are there. The pinned commit itself
//! is not kept, because its tree also holds what was left out.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use domain::repository::CommitId;

use crate::cache::Pinned;
use crate::entries::Entry;
use crate::error::RepoError;
use crate::snapshot::MTIME;

/// Tells nothing that would lead an agent to the work which came after.
const MESSAGE: &str = "The task's repository";
const BRANCH: &str = "refs/heads/main";

/// Makes the folder below `room`; answers it and the commit in it.
pub(crate) async fn make(pinned: &Pinned, entries: &[Entry], room: &Path) -> Result<(PathBuf, CommitId), RepoError> {
    let folder = room.join("git");
    for part in ["objects/info", "objects/pack", "refs/heads", "refs/tags"] {
        let part = folder.join(part);
        std::fs::create_dir_all(&part).map_err(|error| RepoError::disk(&part, error))?;
    }
    let index = folder.join("index");
    let mut list = Vec::new();
    for entry in entries {
        list.extend_from_slice(format!("{} {}\t", entry.mode(), entry.id).as_bytes());
        list.extend_from_slice(&entry.path);
        list.push(0);
    }
    let run = Run { pinned, index: &index };
    run.git("make an index", &["update-index", "-z", "--index-info"], &list).await?;
    let tree = run.git("make a tree", &["write-tree"], b"").await?;
    let commit = run.git("make a commit", &["commit-tree", "-m", MESSAGE, tree.trim()], b"").await?;
    let commit = CommitId::new(commit.trim())
        .map_err(|error| RepoError::Failed { what: "make a commit".to_owned(), reason: error.to_string() })?;
    let packs = folder.join("objects/pack/pack");
    let packs = packs.to_string_lossy();
    let pack = ["pack-objects", "--revs", "--quiet", "--window=0", "--delta-base-offset", packs.as_ref()];
    run.git("pack the files", &pack, format!("{commit}\n").as_bytes()).await?;
    for (name, text) in
        [("HEAD", format!("ref: {BRANCH}\n")), (BRANCH, format!("{commit}\n")), ("config", settings(&commit))]
    {
        let file = folder.join(name);
        std::fs::write(&file, text).map_err(|error| RepoError::disk(&file, error))?;
    }
    Ok((folder, commit))
}

fn settings(commit: &CommitId) -> String {
    let sha256 = commit.as_str().len() == 64;
    let (version, format) = if sha256 { (1, "[extensions]\n\tobjectFormat = sha256\n") } else { (0, "") };
    format!(
        "[core]\n\trepositoryFormatVersion = {version}\n\tfileMode = true\n\tbare = false\n\tlogAllRefUpdates = true\n{format}"
    )
}

struct Run<'a> {
    pinned: &'a Pinned,
    index: &'a Path,
}

impl Run<'_> {
    async fn git(&self, what: &str, arguments: &[&str], input: &[u8]) -> Result<String, RepoError> {
        let git = self.pinned.repositories.git();
        let arguments: Vec<&OsStr> = arguments.iter().map(OsStr::new).collect();
        let mut command = git.command(&self.pinned.folder, &arguments);
        let date = format!("{MTIME} +0000");
        command.env("GIT_INDEX_FILE", self.index);
        for who in ["AUTHOR", "COMMITTER"] {
            command
                .env(format!("GIT_{who}_NAME"), "skilldelta")
                .env(format!("GIT_{who}_EMAIL"), "skilldelta@localhost");
            command.env(format!("GIT_{who}_DATE"), &date);
        }
        Ok(String::from_utf8_lossy(&git.local(what, command, input).await?).into_owned())
    }
}
