//! Where the skills lie in an upload, and what in it is litter. Detection and loading both go by this file.

use std::collections::BTreeSet;

use domain::path::RelPath;

/// The one file name that makes a folder a skill, in this spelling.
pub const SKILL_MD: &str = "SKILL.md";

/// Where the skills of an upload lie. A folder is `None` where it is the top of the upload.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Layout {
    /// Folders with a `SKILL.md`, outermost ones only: a skill inside a skill is part of it.
    pub(super) skills: Vec<Option<RelPath>>,
    /// Files called `skill.md` or the like, outside of any skill.
    pub(super) misnamed: BTreeSet<RelPath>,
}

/// Finds the skills among all paths of an upload.
pub(super) fn find_skills<'p>(paths: impl Iterator<Item = &'p RelPath> + Clone) -> Layout {
    let mut folders: Vec<Option<RelPath>> =
        paths.clone().filter(|path| path.file_name() == SKILL_MD).map(RelPath::parent).collect();
    folders.sort_by_key(|folder| (depth(folder.as_ref()), folder.clone()));
    let mut taken = BTreeSet::new();
    folders.retain(|folder| match folder {
        Some(folder) => !lies_in_any(folder, &taken) && taken.insert(Some(folder.as_str().to_owned())),
        None => taken.insert(None),
    });
    let mut misnamed: Vec<RelPath> = paths.filter(|path| is_misnamed(path)).cloned().collect();
    misnamed.sort_by_key(|path| (depth(Some(path)), path.clone()));
    misnamed.retain(|path| {
        !lies_in_any(path, &taken) && taken.insert(path.parent().map(|folder| folder.as_str().to_owned()))
    });
    Layout { skills: folders, misnamed: misnamed.into_iter().collect() }
}

/// Whether one of the folders, of which `None` is the top of the upload, lies above `path`.
fn lies_in_any(path: &RelPath, folders: &BTreeSet<Option<String>>) -> bool {
    folders.contains(&None) || ancestors(path).any(|above| folders.contains(&Some(above.to_owned())))
}

/// The folders above a path, nearest last.
pub(super) fn ancestors(path: &RelPath) -> impl Iterator<Item = &str> {
    let text = path.as_str();
    text.match_indices('/').filter_map(|(at, _)| text.get(..at))
}

/// `path` seen from `folder`; `None` where it lies elsewhere.
pub(super) fn seen_from(path: &RelPath, folder: Option<&RelPath>) -> Option<RelPath> {
    match folder {
        Some(folder) => path.below(folder.as_str()),
        None => Some(path.clone()),
    }
}

/// Whether the file is `SKILL.md` but for the case of its letters.
pub(super) fn is_misnamed(path: &RelPath) -> bool {
    path.file_name() != SKILL_MD && path.file_name().eq_ignore_ascii_case(SKILL_MD)
}

fn depth(path: Option<&RelPath>) -> usize {
    path.map_or(0, |path| path.as_str().split('/').count())
}

/// What is left out of every upload: files that file managers strew about, and the insides of version control. Answers the name under
/// which it is listed: the file, or the folder of the version control as one.
pub(super) fn litter(path: &str) -> Option<String> {
    let mut folder = String::new();
    for segment in path.split('/') {
        folder.push_str(segment);
        if matches!(segment, ".git" | ".hg" | ".svn") {
            return Some(folder);
        }
        if segment == "__MACOSX" {
            return Some(path.to_owned());
        }
        folder.push('/');
    }
    let name = path.rsplit('/').next().unwrap_or(path);
    let strewn = name.starts_with("._")
        || name == ".DS_Store"
        || name.eq_ignore_ascii_case("Thumbs.db")
        || name.eq_ignore_ascii_case("desktop.ini");
    strewn.then(|| path.to_owned())
}
