//! Skills as people hand them over: folders, archives, loose files; checked against the Agent Skills specification.
//! Start at [`read_path`], [`read_upload`], [`read_zip`], [`read_files`] or [`read_folder`]; all answer an [`Intake`].

mod assemble;
mod contents;
mod files;
mod folder;
pub mod frontmatter;
mod habits;
pub mod intake;
mod layout;
mod limits;
mod lint;
mod listing;
pub mod manifest;
mod members;
pub mod outline;
mod references;
mod repository;
mod secrets;
pub mod size;
mod twins;
pub mod yaml;
mod yaml_hint;
mod zip;

pub use self::files::{read_files, read_single, read_upload};
pub use self::folder::{read_folder, read_path};
pub use self::intake::{Intake, IntakeLimits, IntakeRefusal, LoadedSkill, RefusedSkill};
pub use self::layout::SKILL_MD;
pub use self::lint::{MAX_BODY_LINES, MAX_COMPATIBILITY_CHARS, MAX_DESCRIPTION_CHARS, MAX_NAME_CHARS};
pub use self::repository::{TreeItem, TreeItemKind, read_tree};
pub use self::size::{MAX_BODY_TOKENS, SkillSize};
pub use self::zip::read_zip;
