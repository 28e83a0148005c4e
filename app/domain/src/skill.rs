//! Skills: what a `SKILL.md` folder says of itself, and the exact bytes that make a version.

use serde::{Deserialize, Serialize};

use crate::hash::ContentHash;
use crate::tree::Tree;

/// What the frontmatter of a `SKILL.md` says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillManifest {
    /// `name`, trimmed.
    pub name: String,
    /// `description`, trimmed; folded and literal blocks are resolved.
    pub description: String,
    /// `license`, where it is a text.
    pub license: Option<String>,
}

/// A checked skill version: manifest and files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillPackage {
    /// From its `SKILL.md`.
    pub manifest: SkillManifest,
    /// Every file of the skill, `SKILL.md` at the top.
    pub tree: Tree,
}

impl SkillPackage {
    /// The skill version: the hash of the normalised tree.
    #[must_use]
    pub fn version(&self) -> ContentHash {
        self.tree.hash()
    }

    /// The folder that the skill gets in a container.
    #[must_use]
    pub fn folder(&self) -> String {
        folder_name(&self.manifest.name)
    }
}

/// The folder name made from a skill's name: lower case, letters, digits and single hyphens, at most 64 characters. The Agent Skills
/// specification wants folder and name to be equal; a name that already conforms is returned unchanged.
#[must_use]
pub fn folder_name(name: &str) -> String {
    let mut folder = String::new();
    for c in name.chars().flat_map(char::to_lowercase) {
        if c.is_alphanumeric() {
            folder.push(c);
        } else if !folder.is_empty() && !folder.ends_with('-') {
            folder.push('-');
        }
    }
    let folder: String = folder.chars().take(64).collect();
    let folder = folder.trim_end_matches('-');
    if folder.is_empty() { "skill".to_owned() } else { folder.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::folder_name;

    #[test]
    fn folder_names_conform() {
        for (name, want) in [
            ("count-sheep", "count-sheep"),
            ("FFmpeg Audio Processing", "ffmpeg-audio-processing"),
            ("dialogue_graph", "dialogue-graph"),
            ("../../etc", "etc"),
            ("--", "skill"),
        ] {
            assert_eq!(folder_name(name), want);
        }
    }
}
