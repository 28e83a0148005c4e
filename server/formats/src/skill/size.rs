//! What a skill costs an agent to read: the description always, the body once the skill is opened.

use domain::tree::LoadedTree;
use serde::Serialize;

use super::frontmatter;
use super::layout::SKILL_MD;

/// Most tokens of a body that the specification recommends.
pub const MAX_BODY_TOKENS: usize = 5_000;

/// The size of a skill. Tokens are estimates: four bytes a token, whatever the model's own tokens are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct SkillSize {
    /// Lines below the frontmatter of `SKILL.md`.
    pub body_lines: usize,
    /// Tokens of these lines, estimated.
    pub body_tokens_estimate: usize,
    /// Tokens of the frontmatter, which an agent has before it anyway, estimated.
    pub frontmatter_tokens_estimate: usize,
    /// Files of the skill.
    pub files: usize,
    /// Bytes of all files.
    pub bytes: u64,
}

/// The size of a skill by its files; `None` where its `SKILL.md` cannot be read.
#[must_use]
pub fn of(tree: &LoadedTree) -> Option<SkillSize> {
    let front = frontmatter::split(&tree.get(SKILL_MD)?.bytes).ok()?;
    Some(SkillSize {
        body_lines: front.body.lines().count(),
        body_tokens_estimate: estimated_tokens(&front.body),
        frontmatter_tokens_estimate: estimated_tokens(&front.yaml),
        files: tree.len(),
        bytes: tree.iter().map(|(_, file)| file.bytes.len() as u64).sum(),
    })
}

/// Four bytes a token, rounded up.
pub(super) const fn estimated_tokens(text: &str) -> usize {
    text.len().div_ceil(4)
}
