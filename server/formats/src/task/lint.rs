//! A task must not name the skill: an instruction that does would make the arms differ by more than the skill's presence.

use domain::finding::Finding;
use domain::skill::SkillPackage;

const HINT: &str = "both arms get this instruction; take the mention out, so that only the skill's presence differs";

/// Warnings about an instruction that speaks of its bundled skills, or of skill folders at all.
pub(super) fn check(file: &str, instruction: &str, skills: &[SkillPackage], out: &mut Vec<Finding>) {
    out.extend(skills.iter().filter_map(|skill| names_skill(file, instruction, &skill.manifest.name)));
    let lower = instruction.to_lowercase();
    for place in ["skill.md", "/skills/", ".claude/skills", ".agents/skills"] {
        if lower.contains(place) {
            let message = format!("the instruction speaks of a place of skills (`{place}`)");
            out.push(Finding::warning("names_skill", file, message).hint(HINT));
            break;
        }
    }
}

/// A warning where an instruction names a skill.
#[must_use]
pub fn names_skill(file: &str, instruction: &str, name: &str) -> Option<Finding> {
    mentions(&instruction.to_lowercase(), name)
        .then(|| Finding::warning("names_skill", file, format!("the instruction names the skill `{name}`")).hint(HINT))
}

/// Whether `text` (lower case) holds the name as a word of its own. A name that is an ordinary word, such as `pdf`, counts only beside
/// the word skill.
fn mentions(text: &str, name: &str) -> bool {
    let name = name.trim().to_lowercase();
    if name.is_empty() {
        return false;
    }
    if name.contains(['-', '_', ' ']) {
        return has_word(text, &name);
    }
    [format!("{name} skill"), format!("skill {name}"), format!("skill `{name}`"), format!("`{name}` skill")]
        .iter()
        .any(|phrase| has_word(text, phrase))
}

pub(super) fn has_word(text: &str, word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    text.match_indices(word).any(|(at, found)| {
        let before = text.get(..at).and_then(|text| text.chars().next_back());
        let after = text.get(at + found.len()..).and_then(|text| text.chars().next());
        !before.is_some_and(part) && !after.is_some_and(part)
    })
}

#[cfg(test)]
mod tests {
    use super::mentions;

    #[test]
    fn only_words_of_their_own_count() {
        for (text, name, want) in [
            ("use the count-sheep skill", "count-sheep", true),
            ("count sheep in the pen", "count-sheep", false),
            ("recount-sheep", "count-sheep", false),
            ("read report.pdf", "pdf", false),
            ("use the pdf skill", "pdf", true),
            ("anything", "", false),
        ] {
            assert_eq!(mentions(text, name), want, "{text}");
        }
    }
}
