//! The list of what an upload holds, checked whole before a byte of it is unpacked.

use std::collections::{BTreeMap, BTreeSet};

use domain::path::RelPath;

use super::layout::{self, SKILL_MD};
use super::limits::{IntakeLimits, IntakeRefusal};

/// What is known of a file's mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mode {
    /// As Unix has it.
    Unix(u32),
    /// The upload does not say.
    Unknown,
}

/// What an entry is. Folders are no entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kind {
    File(Mode),
    Link,
    /// Something that no skill may hold, with the reason: a device, a name that cannot be kept.
    Unusable(String),
}

/// One entry of an upload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Listed {
    pub(super) path: RelPath,
    pub(super) kind: Kind,
    /// By which the source finds its bytes.
    pub(super) handle: usize,
    /// The file name before it was renamed to `SKILL.md`, where it was.
    pub(super) renamed_from: Option<String>,
}

/// All entries of an upload but litter.
#[derive(Debug, Default)]
pub(super) struct Listing {
    /// The upload as the user named it.
    pub(super) name: String,
    pub(super) entries: Vec<Listed>,
    pub(super) left_out: BTreeSet<String>,
    /// Entries seen, litter and folders included.
    pub(super) looked_at: usize,
    /// The folder that stands for the top of the upload, where the author named it.
    pub(super) top_folder: Option<String>,
    /// Whether paths that differ in case alone are known to live side by side.
    pub(super) case_kept: bool,
}

impl Listing {
    pub(super) fn new(name: &str) -> Self {
        Self { name: name.to_owned(), ..Self::default() }
    }

    /// Takes an entry up.
    pub(super) fn add(
        &mut self,
        text: &str,
        kind: Kind,
        handle: usize,
        limits: &IntakeLimits,
    ) -> Result<(), IntakeRefusal> {
        let path = checked(text, limits)?;
        self.looked_at += 1;
        match layout::litter(text) {
            Some(litter) => drop(self.left_out.insert(litter)),
            None => self.entries.push(Listed { path, kind, handle, renamed_from: None }),
        }
        Ok(())
    }

    /// Checks the path of a folder, which is no entry of its own.
    pub(super) fn add_folder(&mut self, text: &str, limits: &IntakeLimits) -> Result<(), IntakeRefusal> {
        self.looked_at += 1;
        checked(text, limits).map(drop)
    }

    /// Refuses what no honest upload has: one path twice, a path below a file or below a link.
    pub(super) fn check(&self) -> Result<(), IntakeRefusal> {
        let mut kinds: BTreeMap<&str, &Kind> = BTreeMap::new();
        for entry in &self.entries {
            if kinds.insert(entry.path.as_str(), &entry.kind).is_some() {
                return Err(IntakeRefusal::Duplicate { entry: entry.path.to_string() });
            }
        }
        for entry in &self.entries {
            let above = layout::ancestors(&entry.path).find_map(|above| kinds.get_key_value(above));
            match above {
                Some((link, Kind::Link)) => {
                    return Err(IntakeRefusal::BelowLink { link: (*link).to_owned(), entry: entry.path.to_string() });
                }
                Some((file, Kind::File(_) | Kind::Unusable(_))) => {
                    return Err(IntakeRefusal::BelowFile { file: (*file).to_owned(), entry: entry.path.to_string() });
                }
                None => {}
            }
        }
        Ok(())
    }

    /// Renames `skill.md` and the like to `SKILL.md` in folders that have none.
    pub(super) fn rename_skill_md(&mut self) {
        let exact = self.entries.iter().filter(|entry| entry.path.file_name() == SKILL_MD);
        let mut taken: BTreeSet<Option<RelPath>> = exact.map(|entry| entry.path.parent()).collect();
        for entry in &mut self.entries {
            if layout::is_misnamed(&entry.path)
                && taken.insert(entry.path.parent())
                && let Ok(name) = RelPath::new(SKILL_MD)
            {
                let path = entry.path.parent().map_or(name.clone(), |folder| name.inside(&folder));
                entry.renamed_from = Some(entry.path.file_name().to_owned());
                entry.path = path;
            }
        }
    }
}

/// A path within the limits. Nothing is normalised away.
fn checked(text: &str, limits: &IntakeLimits) -> Result<RelPath, IntakeRefusal> {
    let brief = || text.chars().take(200).collect::<String>();
    if text.len() > limits.max_path_bytes || text.split('/').count() > limits.max_path_depth {
        let (bytes, depth) = (limits.max_path_bytes, limits.max_path_depth);
        return Err(IntakeRefusal::PathTooLong { entry: brief(), bytes, depth });
    }
    RelPath::new(text).map_err(|source| IntakeRefusal::Path { entry: brief(), source })
}
