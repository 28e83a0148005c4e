//! The manifest of a `SKILL.md` and all that is to be said about it, in one go.

use domain::finding::{Finding, has_errors};
use domain::skill::SkillManifest;

use super::frontmatter;
use super::lint::Lint;

/// What a `SKILL.md` says, and what is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManifestCheck {
    /// `None` exactly where a finding is an error.
    pub manifest: Option<SkillManifest>,
    /// Errors, warnings and notes, in the order of the file.
    pub findings: Vec<Finding>,
}

/// Reads and checks the bytes of a `SKILL.md`. `file` is its name in findings; `folder` the last segment of the folder that it lies in,
/// where there is one whose name was chosen by the author.
///
/// Only what keeps an agent from using the skill is an error; a deviation from the Agent Skills specification is a warning or a note.
#[must_use]
pub fn check(bytes: &[u8], file: &str, folder: Option<&str>) -> ManifestCheck {
    let front = match frontmatter::split(bytes) {
        Ok(front) => front,
        Err(error) => return ManifestCheck { manifest: None, findings: vec![error.finding(file)] },
    };
    let fields = match front.fields() {
        Ok(fields) => fields,
        Err(fault) => return ManifestCheck { manifest: None, findings: vec![fault.finding(file)] },
    };
    let mut lint = Lint::new(file);
    if front.bom {
        lint.bom();
    }
    let name = lint.name(&fields, folder);
    let description = lint.description(&fields);
    let license = lint.license(&fields);
    lint.optional_fields(&fields, &front);
    lint.body(&front);
    let mut findings = lint.findings;
    findings.sort_by_key(|finding| finding.line);
    let manifest = match (name, description) {
        (Some(name), Some(description)) if !has_errors(&findings) => Some(SkillManifest { name, description, license }),
        _ => None,
    };
    ManifestCheck { manifest, findings }
}
