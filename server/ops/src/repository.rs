//! Skills from a git repository at a commit.

use domain::finding::Finding;
use domain::path::RelPath;
use domain::repository::SkillSource;
use formats::skill::{Intake, IntakeLimits, SKILL_MD, TreeItem, TreeItemKind, read_tree};
use repos::{Entry, EntryKind, Pinned, RepoError, Repositories};

use crate::{CheckReport, Ops, OpsError, Result, blocking};

impl Ops {
    /// [`read_repository`] with the repositories of this server.
    pub(crate) async fn fetched_skills(&self, source: &SkillSource, limits: IntakeLimits) -> Result<Intake> {
        let repositories = self.config.repositories.as_ref();
        let repositories = repositories.ok_or_else(|| OpsError::invalid("this server fetches no repositories"))?;
        read_repository(repositories, source, limits).await
    }
}

/// Looks at the skills of a repository at a commit, without storing any.
///
/// # Errors
/// [`OpsError::Invalid`] where the repository cannot be had.
pub async fn check_repository(repositories: &Repositories, source: &SkillSource) -> Result<CheckReport> {
    match read_repository(repositories, source, IntakeLimits::default()).await {
        Ok(intake) => Ok(CheckReport::of(intake)),
        Err(OpsError::Invalid { findings, .. }) if !findings.is_empty() => {
            Ok(CheckReport { findings, ..CheckReport::default() })
        }
        Err(error) => Err(error),
    }
}

/// Fetches a commit and reads the skills in it under the same limits as an archive. Each says where it came from, with the full id of
/// the commit, also where a branch or tag was named.
///
/// # Errors
/// [`OpsError::Invalid`] where the repository cannot be had, or is refused.
async fn read_repository(repositories: &Repositories, source: &SkillSource, limits: IntakeLimits) -> Result<Intake> {
    let commit = repositories.resolve(&source.url, source.revision.as_deref()).await.map_err(told)?;
    let pinned = repositories.fetch(&source.url, &commit).await.map_err(told)?;
    let entries = pinned.entries().await.map_err(told)?;
    let (folder, below) = below(entries, source, &pinned).map_err(told)?;
    let origin = SkillSource { revision: Some(commit.to_string()), ..source.clone() }.to_string();
    let name = origin.clone();
    let mut intake = blocking(move || read(&pinned, &name, &folder, &below, &limits)).await??;
    for skill in &mut intake.skills {
        let message = format!("fetched from {origin}");
        skill.findings.push(Finding::note("from_repository", &skill.path, message));
    }
    Ok(intake)
}

fn told(error: RepoError) -> OpsError {
    OpsError::invalid(error.to_string())
}

/// The entries below the folder that was named, or below that of the `SKILL.md` that was, and the folder's name.
fn below(
    entries: Vec<Entry>,
    source: &SkillSource,
    pinned: &Pinned,
) -> std::result::Result<(String, Vec<Entry>), RepoError> {
    let Some(wanted) = &source.folder else { return Ok((source.url.name().to_owned(), entries)) };
    let file = wanted.file_name() == SKILL_MD && entries.iter().any(|entry| entry.path == wanted.as_str().as_bytes());
    let folder = if file { wanted.parent() } else { Some(wanted.clone()) };
    let Some(folder) = folder else { return Ok((source.url.name().to_owned(), entries)) };
    let start = format!("{folder}/");
    let inner = |mut entry: Entry| {
        entry.path = entry.path.strip_prefix(start.as_bytes())?.to_vec();
        Some(entry)
    };
    let below: Vec<Entry> = entries.into_iter().filter_map(inner).collect();
    if below.is_empty() {
        let (url, commit) = (pinned.url().to_string(), pinned.commit().to_string());
        return Err(RepoError::NoFolder { url, commit, folder: wanted.to_string() });
    }
    Ok((RelPath::file_name(&folder).to_owned(), below))
}

fn read(pinned: &Pinned, name: &str, folder: &str, entries: &[Entry], limits: &IntakeLimits) -> Result<Intake> {
    let items: Vec<TreeItem> = entries.iter().map(item).collect();
    let mut objects = pinned.objects().map_err(told)?;
    let content = |index: usize, most: u64| match entries.get(index) {
        Some(entry) => objects.read(&entry.id, most),
        None => Err(std::io::ErrorKind::NotFound.into()),
    };
    read_tree(name, Some(folder), &items, content, limits).map_err(|refusal| {
        let finding = refusal.finding(name);
        OpsError::Invalid {
            message: format!("the repository was refused: {}", finding.message),
            findings: vec![finding],
        }
    })
}

fn item(entry: &Entry) -> TreeItem {
    let kind = match entry.kind {
        EntryKind::File { executable } => TreeItemKind::File { executable },
        EntryKind::Link => TreeItemKind::Link,
        EntryKind::Submodule => TreeItemKind::Submodule,
    };
    TreeItem { path: entry.path.clone(), kind }
}
