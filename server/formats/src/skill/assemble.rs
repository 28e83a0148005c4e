//! From a checked list of entries to skills: finds them, loads their files within one budget, and says all that is wrong with each.

use std::collections::BTreeMap;

use domain::finding::{Finding, has_errors};
use domain::path::RelPath;
use domain::tree::{LoadedFile, LoadedTree};

use super::contents;
use super::intake::{Intake, LoadedSkill, RefusedSkill};
use super::layout::{self, Layout, SKILL_MD};
use super::limits::{IntakeLimits, IntakeRefusal};
use super::listing::{Kind, Listed, Listing};
use super::manifest;
use super::members::{self, Modes};
use super::twins;

/// Where a skill has its test cases, which are no part of what an agent gets.
const CASES_FOLDER: &str = "evals";
const CASES: &str = "evals/evals.json";

/// Bytes that may still be unpacked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Budget {
    pub(super) left: u64,
    pub(super) limit: u64,
}

/// Where the bytes of an entry come from.
pub(super) trait Source {
    /// The bytes of the entry with this handle, at most `room` of them.
    ///
    /// # Errors
    /// [`IntakeRefusal`] where they cannot be read or are more than `room`.
    fn read(&mut self, entry: &Listed, room: Budget) -> Result<Vec<u8>, IntakeRefusal>;
}

/// Reads all skills of an upload.
pub(super) fn assemble(
    mut listing: Listing,
    source: &mut impl Source,
    limits: &IntakeLimits,
) -> Result<Intake, IntakeRefusal> {
    listing.check()?;
    if limits.rename_skill_md {
        listing.rename_skill_md();
    }
    let layout = layout::find_skills(listing.entries.iter().map(|entry| &entry.path));
    let skills = layout.skills.len() + layout.misnamed.len();
    if skills > limits.max_skills {
        return Err(IntakeRefusal::TooManySkills { count: skills, limit: limits.max_skills });
    }
    let (members, outside) = grouped(&listing, &layout);
    let in_skills: usize = members.iter().map(Vec::len).sum();
    if in_skills > limits.max_entries {
        return Err(IntakeRefusal::TooManyEntries { count: in_skills, limit: limits.max_entries });
    }
    let left = limits.max_unpacked_bytes;
    let mut loader = Loader { source, budget: Budget { left, limit: left }, case_kept: listing.case_kept };
    let mut intake = Intake { left_out: listing.left_out.iter().cloned().collect(), ..Intake::default() };
    for (folder, members) in layout.skills.iter().zip(members) {
        let author_folder = match folder {
            Some(folder) => Some(folder.file_name()),
            None => listing.top_folder.as_deref(),
        };
        match loader.skill(folder.as_ref(), author_folder, &members)? {
            Ok(skill) => intake.skills.push(skill),
            Err(refused) => intake.refused.push(refused),
        }
    }
    for entry in outside.iter().filter(|entry| layout.misnamed.contains(&entry.path)) {
        intake.refused.push(loader.misnamed(entry)?);
    }
    twins::separate(&mut intake);
    intake.skills.sort_by(|a, b| a.path.cmp(&b.path));
    intake.refused.sort_by(|a, b| a.path.cmp(&b.path));
    intake.findings.extend(about_upload(&listing, &layout, &outside));
    Ok(intake)
}

/// The entries of each skill, in the order of `layout.skills`, and those outside of any.
fn grouped<'l>(listing: &'l Listing, layout: &Layout) -> (Vec<Vec<&'l Listed>>, Vec<&'l Listed>) {
    let by_folder: BTreeMap<Option<&str>, usize> =
        layout.skills.iter().enumerate().map(|(index, folder)| (folder.as_ref().map(RelPath::as_str), index)).collect();
    let mut members = vec![Vec::new(); layout.skills.len()];
    let mut outside = Vec::new();
    for entry in &listing.entries {
        let folders = std::iter::once(None).chain(layout::ancestors(&entry.path).map(Some));
        let skill = folders.filter_map(|folder| by_folder.get(&folder)).next();
        match skill.and_then(|index| members.get_mut(*index)) {
            Some(members) => members.push(entry),
            None => outside.push(entry),
        }
    }
    (members, outside)
}

struct Loader<'s, S> {
    source: &'s mut S,
    budget: Budget,
    case_kept: bool,
}

impl<S: Source> Loader<'_, S> {
    fn skill(
        &mut self,
        folder: Option<&RelPath>,
        author_folder: Option<&str>,
        members: &[&Listed],
    ) -> Result<Result<LoadedSkill, RefusedSkill>, IntakeRefusal> {
        let path = folder.map_or(SKILL_MD.to_owned(), |folder| format!("{folder}/{SKILL_MD}"));
        let mut findings = members::check(&path, folder, members, self.case_kept);
        // Files of a skill that is refused already are not worth their memory, but its SKILL.md may have more to say.
        let refused = has_errors(&findings);
        let mut tree = LoadedTree::new();
        let mut modes = Modes::default();
        let cases = members
            .iter()
            .any(|entry| layout::seen_from(&entry.path, folder).is_some_and(|path| path.as_str() == CASES));
        if cases {
            let message =
                "`evals/` holds the skill's test cases and is left out: an agent that reads them knows what decides";
            findings.push(Finding::note("evals_left_out", &path, message));
        }
        for entry in members {
            let Some(inner) = layout::seen_from(&entry.path, folder) else { continue };
            let Kind::File(mode) = entry.kind else { continue };
            if cases && inner.below(CASES_FOLDER).is_some() {
                continue;
            }
            if refused && inner.as_str() != SKILL_MD {
                continue;
            }
            let bytes = self.read(entry)?;
            let executable = modes.executable(inner.as_str(), mode, &bytes);
            tree.insert(inner, LoadedFile { executable, bytes });
        }
        let Some(skill_md) = tree.get(SKILL_MD) else {
            return Ok(Err(RefusedSkill { path, name: None, findings }));
        };
        let check = manifest::check(&skill_md.bytes, &path, author_folder);
        findings.extend(check.findings);
        findings.extend(modes.findings(&path));
        Ok(match check.manifest {
            Some(manifest) if !refused => {
                findings.extend(contents::check(folder, &manifest, &tree));
                Ok(LoadedSkill { path, manifest, tree, findings })
            }
            manifest => Err(RefusedSkill { path, name: manifest.map(|manifest| manifest.name), findings }),
        })
    }

    fn misnamed(&mut self, entry: &Listed) -> Result<RefusedSkill, IntakeRefusal> {
        let bytes = match entry.kind {
            Kind::File(_) => Some(self.read(entry)?),
            Kind::Link | Kind::Unusable(_) => None,
        };
        let folder = entry.path.parent();
        let folder = folder.as_ref().map(RelPath::file_name);
        Ok(misnamed(entry.path.as_str(), entry.path.file_name(), bytes.as_deref(), folder))
    }

    fn read(&mut self, entry: &Listed) -> Result<Vec<u8>, IntakeRefusal> {
        let bytes = self.source.read(entry, self.budget)?;
        self.budget.left = self.budget.left.saturating_sub(bytes.len() as u64);
        Ok(bytes)
    }
}

/// A `skill.md` or the like, with all else that is wrong with it.
pub(super) fn misnamed(path: &str, file_name: &str, bytes: Option<&[u8]>, folder: Option<&str>) -> RefusedSkill {
    let message = format!("the file must be called `{SKILL_MD}`, not `{file_name}`");
    let hint = "rename it: agents in a Linux container do not see it";
    let mut refused = RefusedSkill {
        path: path.to_owned(),
        name: None,
        findings: vec![Finding::error("wrong_file_name", path, message).hint(hint)],
    };
    if let Some(bytes) = bytes {
        let check = manifest::check(bytes, path, folder);
        refused.findings.extend(check.findings);
        refused.name = check.manifest.map(|manifest| manifest.name);
    }
    refused
}

fn about_upload(listing: &Listing, layout: &Layout, outside: &[&Listed]) -> Vec<Finding> {
    let mut findings = Vec::new();
    if layout.skills.is_empty() && layout.misnamed.is_empty() {
        let message = format!("no {SKILL_MD} found; looked at {} entries", listing.looked_at);
        let hint = format!("a skill is a folder with a file called `{SKILL_MD}`");
        findings.push(Finding::error("no_skill_md", &listing.name, message).hint(hint));
        return findings;
    }
    let rest = outside.iter().filter(|entry| !layout.misnamed.contains(&entry.path));
    let (links, files): (Vec<&Listed>, Vec<&Listed>) = rest.partition(|entry| entry.kind == Kind::Link);
    for (code, message, entries) in [
        ("links_left_out", "symbolic links outside any skill were not followed", links),
        ("files_outside", "files outside any skill were not taken", files),
    ] {
        if !entries.is_empty() {
            let paths: Vec<&str> = entries.iter().map(|entry| entry.path.as_str()).collect();
            let message = format!("{message}: {}", members::names(&paths));
            findings.push(Finding::note(code, &listing.name, message));
        }
    }
    findings
}
