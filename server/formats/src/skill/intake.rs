//! What comes out of an upload, whatever its form: skills that are good, skills that are refused and why, and what was left out.

use domain::finding::Finding;
use domain::skill::{SkillManifest, SkillPackage};
use domain::tree::LoadedTree;

pub use super::limits::{IntakeLimits, IntakeRefusal};

/// The result of reading an upload, sorted by path.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Intake {
    /// Skills that can be stored.
    pub skills: Vec<LoadedSkill>,
    /// Skills that cannot be used as they are. They do not keep the others out.
    pub refused: Vec<RefusedSkill>,
    /// What is to be said about the upload as a whole; an error only where it holds no skill at all.
    pub findings: Vec<Finding>,
    /// Files and version-control folders that were left out as litter, by path in the upload.
    pub left_out: Vec<String>,
}

/// A skill that can be stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadedSkill {
    /// Its `SKILL.md`, by path in the upload.
    pub path: String,
    /// From its frontmatter.
    pub manifest: SkillManifest,
    /// Its files, `SKILL.md` at the top.
    pub tree: LoadedTree,
    /// Warnings and notes.
    pub findings: Vec<Finding>,
}

/// A skill that cannot be used as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedSkill {
    /// Its `SKILL.md`, or what stands in its place, by path in the upload.
    pub path: String,
    /// Its name, where its frontmatter could be read.
    pub name: Option<String>,
    /// All that is wrong with it; one at least is an error.
    pub findings: Vec<Finding>,
}

impl LoadedSkill {
    /// The checked skill without the bytes of its files.
    #[must_use]
    pub fn package(&self) -> SkillPackage {
        SkillPackage { manifest: self.manifest.clone(), tree: self.tree.summary() }
    }
}

impl Intake {
    /// Every finding: about the upload, about refused skills, about good ones.
    pub fn all_findings(&self) -> impl Iterator<Item = &Finding> {
        let refused = self.refused.iter().flat_map(|skill| &skill.findings);
        let good = self.skills.iter().flat_map(|skill| &skill.findings);
        self.findings.iter().chain(refused).chain(good)
    }
}
