//! Skills as people hand them over: folders, archives, loose files; checked against the Agent Skills specification.

pub mod frontmatter;
pub mod yaml;
mod yaml_hint;
