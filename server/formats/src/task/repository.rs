//! `[repository]` in `task.toml`: the repository that a task works in, at its commit, and what is done with it while the image is built.

use domain::finding::{Finding, Severity};
use domain::path::RelPath;
use domain::repository::{CommitId, RepositoryUrl, TargetRepository};

use super::settings::{Section, Source, brief};

/// The prompt of a repository task, where it does not stand in `instruction.md`.
pub(super) const PROMPT: &str = "requirement.md";
/// The table.
pub(super) const TABLE: &str = "repository";
const KEYS: [&str; 5] = ["url", "commit", "folder", "sparse", "setup"];
/// Where repositories lie in their containers unless a task says otherwise.
const HOME: &str = "/workspace";

/// Whether a task says that it works in a repository.
pub(super) fn is_named(source: &Source) -> bool {
    source.values.contains_key(TABLE)
}

/// The repository; `None` where the task names none, or where what it says is wrong (there is an error then).
pub(super) fn read(source: &Source, out: &mut Vec<Finding>) -> Option<TargetRepository> {
    if !is_named(source) {
        return None;
    }
    let section = source.section(TABLE, out);
    section.note_unknown(&KEYS, out);
    let url = url(&section, out);
    let commit = commit(&section, out);
    let sparse = sparse(&section, out);
    let setup = section.texts("setup", out);
    let folder = section.text("folder", out);
    if let Some(folder) = folder.as_ref().filter(|folder| !is_folder(folder)) {
        let message =
            format!("{} must be an absolute path below the top, not {:?}", section.label("folder"), brief(folder));
        out.push(section.error("bad_repository", "folder", message).hint("write it as /workspace/name"));
    }
    let url = url?;
    let folder = folder.unwrap_or_else(|| format!("{HOME}/{}", url.name()));
    Some(TargetRepository { url, commit: commit?, folder: folder.trim_end_matches('/').to_owned(), sparse, setup })
}

fn required(section: &Section<'_>, key: &str, hint: &str, out: &mut Vec<Finding>) -> Option<String> {
    let text = section.text(key, out);
    if text.is_none() {
        let message = format!("{} is missing", section.label(key));
        out.push(section.finding(Severity::Error, "bad_repository", key, message).hint(hint));
    }
    text
}

fn url(section: &Section<'_>, out: &mut Vec<Finding>) -> Option<RepositoryUrl> {
    let hint = "write the address that `git clone` takes, such as https://example.com/owner/name";
    let text = required(section, "url", hint, out)?;
    let refuse = |error| {
        let message = format!("{} is {:?}: {error}", section.label("url"), brief(&text));
        section.error("bad_repository", "url", message).hint(hint)
    };
    RepositoryUrl::new(&text).map_err(|error| out.push(refuse(error))).ok()
}

fn commit(section: &Section<'_>, out: &mut Vec<Finding>) -> Option<CommitId> {
    let hint = "name the commit in full (`git rev-parse HEAD`): branches move and short ids become ambiguous";
    let text = required(section, "commit", hint, out)?;
    let refuse = |error| {
        let message = format!("{} is {:?}: {error}", section.label("commit"), brief(&text));
        section.error("bad_repository", "commit", message).hint(hint)
    };
    CommitId::new(&text).map_err(|error| out.push(refuse(error))).ok()
}

fn sparse(section: &Section<'_>, out: &mut Vec<Finding>) -> Vec<RelPath> {
    let texts = section.texts("sparse", out);
    let path = |text: &String| match RelPath::new(text.trim_matches('/')) {
        Ok(path) => Some(path),
        Err(error) => {
            let message = format!("{:?} in {} cannot be used: {error}", brief(text), section.label("sparse"));
            let finding = section.error("bad_repository", "sparse", message);
            out.push(finding.hint("name files and folders of the repository, without patterns"));
            None
        }
    };
    texts.iter().filter_map(path).collect()
}

/// Absolute, not the top itself, nothing that a line of a Dockerfile would take otherwise.
fn is_folder(folder: &str) -> bool {
    let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | '+');
    folder.strip_prefix('/').is_some_and(|rest| {
        let rest = rest.trim_end_matches('/');
        !rest.is_empty() && rest.chars().all(fine) && rest.split('/').all(|part| !matches!(part, "" | "." | ".."))
    })
}
