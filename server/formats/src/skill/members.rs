//! The files of one skill: what may not be among them, and which of them are executable.

use std::collections::BTreeMap;

use domain::finding::{Finding, Severity};
use domain::path::RelPath;

use super::layout::{self, SKILL_MD};
use super::listing::{Kind, Listed, Mode};

/// Everything to be said about a skill's entries before their bytes are read. `path` is its `SKILL.md` in the upload.
pub(super) fn check(path: &str, folder: Option<&RelPath>, members: &[&Listed], case_kept: bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    for entry in members {
        let inner = layout::seen_from(&entry.path, folder);
        let inner = inner.as_ref().map_or(entry.path.as_str(), RelPath::as_str);
        findings.extend(one(path, entry, inner));
    }
    findings.extend(same_but_for_case(path, folder, members, case_kept));
    findings
}

fn one(path: &str, entry: &Listed, inner: &str) -> Option<Finding> {
    let file = entry.path.as_str();
    if let Some(from) = &entry.renamed_from {
        let message = format!("`{from}` was renamed to `{SKILL_MD}`");
        return Some(Finding::note("renamed_skill_md", path, message));
    }
    match &entry.kind {
        Kind::Link => {
            let finding = Finding::error("symlink", file, format!("symbolic link {inner}"));
            Some(finding.hint("put the file itself in its place: links are neither made nor followed"))
        }
        Kind::Unusable(reason) => {
            let finding = Finding::error("unusable_entry", file, format!("{inner}: {reason}"));
            Some(finding.hint("remove or rename it"))
        }
        Kind::File(_) if inner != SKILL_MD && entry.path.file_name() == SKILL_MD => {
            let message = format!("{inner} lies inside another skill and stays a plain file of it");
            Some(Finding::note("inner_skill_md", path, message))
        }
        Kind::File(_) => None,
    }
}

/// Paths that fall together on a disk which does not tell case. A second `skill.md` beside `SKILL.md` is a warning of its own.
fn same_but_for_case(path: &str, folder: Option<&RelPath>, members: &[&Listed], case_kept: bool) -> Vec<Finding> {
    let mut spellings: BTreeMap<String, Vec<&RelPath>> = BTreeMap::new();
    for entry in members {
        spellings.entry(entry.path.as_str().to_lowercase()).or_default().push(&entry.path);
    }
    let severity = if case_kept { Severity::Warning } else { Severity::Error };
    let mut findings = Vec::new();
    for (_, paths) in spellings.into_iter().filter(|(_, paths)| paths.len() > 1) {
        let manifest =
            |path: &&RelPath| layout::seen_from(path, folder).is_some_and(|inner| inner.as_str() == SKILL_MD);
        let named: Vec<&str> = paths.iter().map(|path| path.as_str()).collect();
        let names = names(&named);
        findings.push(if paths.iter().any(manifest) {
            let message = format!("{names} lie side by side; `{SKILL_MD}` is taken, the other stays a plain file");
            Finding::warning("second_skill_md", path, message).hint("remove the one that is not meant")
        } else {
            let message = format!("{names} differ in upper and lower case alone");
            Finding::new(severity, "case_collision", path, message).hint("rename one of them")
        });
    }
    findings
}

/// Decides execute bits and remembers what is to be said about them.
#[derive(Debug, Default)]
pub(super) struct Modes {
    guessed: Vec<String>,
    not_executable: Vec<String>,
    dropped: Vec<String>,
}

impl Modes {
    /// Whether a file gets 0755. Where no mode is known, a file that begins with `#!` does.
    pub(super) fn executable(&mut self, inner: &str, mode: Mode, bytes: &[u8]) -> bool {
        let script = bytes.starts_with(b"#!");
        match mode {
            Mode::Unix(mode) => {
                let executable = mode & 0o111 != 0;
                if mode & 0o7000 != 0 {
                    self.dropped.push(inner.to_owned());
                }
                if script && !executable {
                    self.not_executable.push(inner.to_owned());
                }
                executable
            }
            Mode::Unknown => {
                if script {
                    self.guessed.push(inner.to_owned());
                }
                script
            }
        }
    }

    /// Notes, at most one of each kind.
    pub(super) fn findings(&self, path: &str) -> Vec<Finding> {
        let kinds = [
            (
                "modes_guessed",
                &self.guessed,
                "the upload has no file modes; files that begin with `#!` are made executable",
            ),
            ("script_not_executable", &self.not_executable, "files begin with `#!` but are not executable"),
            ("mode_bits_dropped", &self.dropped, "set-user, set-group and sticky bits are dropped"),
        ];
        let told = kinds.into_iter().filter(|(_, files, _)| !files.is_empty());
        told.map(|(code, files, message)| Finding::note(code, path, format!("{message}: {}", names(files)))).collect()
    }
}

/// The first few names, and how many more there are.
pub(super) fn names(all: &[impl AsRef<str>]) -> String {
    let shown: Vec<&str> = all.iter().take(5).map(AsRef::as_ref).collect();
    match all.len().saturating_sub(5) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
