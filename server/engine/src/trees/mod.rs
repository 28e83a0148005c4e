//! Installed agents: for each version one self-contained folder, built once from the package registries, content-hashed, and mounted
//! read-only into every trial's container at [`MOUNTED`]. A trial installs nothing.
//!
//! Beside the agent's own tree two shared ones are mounted: `tools` (a static bash and ripgrep, for images that lack what agents silently
//! need) and, for programs that are not static, `rt` (a C library of their own). Binds of the host's folder: the engine must run on the
//! machine that holds the data folder.

mod build;
mod clients;
mod error;
mod hash;
mod openhands;
mod python;
mod recipe;
mod shared;

use std::fs;
use std::path::{Path, PathBuf};

use domain::finding::Finding;
use serde::{Deserialize, Serialize};

use crate::sandbox::{Mount, MountSource};

pub use self::error::TreeError;
pub use self::recipe::{RECIPES, Recipe, recipe};

/// Where trees are seen in containers.
pub const MOUNTED: &str = "/opt/agents";
/// Describes a finished tree, in its folder.
const LABEL: &str = "tree.json";

/// The folder that holds all trees.
#[derive(Debug, Clone)]
pub struct Trees {
    root: PathBuf,
}

/// One installed version of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstalledTree {
    /// What is known of it.
    pub label: TreeLabel,
    root: PathBuf,
    folder: String,
}

/// What a tree's own label says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TreeLabel {
    /// The agent.
    pub agent: String,
    /// Its version.
    pub version: String,
    /// Hash of every path, mode and content in it.
    pub hash: String,
    /// Bytes of all files.
    pub bytes: u64,
    /// The folder of shared tools that it was built with.
    pub tools: String,
    /// The folder of its C library, where it needs one.
    pub rt: Option<String>,
    /// Packages it was made from, with what the registry says of their bytes.
    pub packages: Vec<Package>,
}

/// A package as it came from its registry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Package {
    /// Name.
    pub name: String,
    /// Version.
    pub version: String,
    /// The registry's checksum; `None` where its client tells none.
    pub integrity: Option<String>,
}

impl Trees {
    /// The trees in `root`, which need not exist yet.
    #[must_use]
    pub fn new(root: impl Into<PathBuf>) -> Self {
        let root = root.into();
        Self { root: std::path::absolute(&root).unwrap_or(root) }
    }

    /// Every installed version, by agent and time of installation; folders that are no finished trees are not listed.
    #[must_use]
    pub fn list(&self) -> Vec<InstalledTree> {
        let Ok(entries) = fs::read_dir(&self.root) else { return Vec::new() };
        let mut found: Vec<(std::time::SystemTime, InstalledTree)> = entries
            .flatten()
            .filter_map(|entry| {
                let folder = entry.file_name().to_str()?.to_owned();
                let label = self.label(&folder)?;
                let made = fs::metadata(entry.path().join(LABEL)).and_then(|label| label.modified()).ok()?;
                Some((made, InstalledTree { label, root: self.root.clone(), folder }))
            })
            .collect();
        found.sort_by(|(a_made, a), (b_made, b)| (&a.label.agent, a_made).cmp(&(&b.label.agent, b_made)));
        found.into_iter().map(|(_, tree)| tree).collect()
    }

    /// The version of an agent that was installed last, or the one named.
    #[must_use]
    pub fn installed(&self, agent: &str, version: Option<&str>) -> Option<InstalledTree> {
        let is_wanted = |tree: &InstalledTree| {
            tree.label.agent == agent && version.is_none_or(|version| tree.label.version == version)
        };
        self.list().into_iter().rfind(is_wanted)
    }

    /// Builds the tree of an agent, unless it is there. Blocks for as long as the registries take; `say` is told what is being done.
    /// `version` = `None` for the one this program was tested with, `latest` for the registry's newest.
    ///
    /// # Errors
    /// [`TreeError`], each with a remedy; nothing is left behind.
    pub fn install(&self, agent: &str, version: Option<&str>, say: &dyn Fn(&str)) -> Result<InstalledTree, TreeError> {
        build::install(self, agent, version, say)
    }

    fn label(&self, folder: &str) -> Option<TreeLabel> {
        let bytes = fs::read(self.root.join(folder).join(LABEL)).ok()?;
        serde_json::from_slice(&bytes).ok()
    }
}

impl InstalledTree {
    /// As shown: `claude-code 2.1.332`.
    #[must_use]
    pub fn title(&self) -> String {
        format!("{} {}", self.label.agent, self.label.version)
    }

    /// Its folder on this machine.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.root.join(&self.folder)
    }

    /// What to mount into a container: this tree, the tools, and the C library where it needs one. All read-only.
    #[must_use]
    pub fn mounts(&self) -> Vec<Mount> {
        let mount = |target: &str, folder: &str| Mount {
            target: format!("{MOUNTED}/{target}"),
            source: MountSource::Host(self.root.join(folder).to_string_lossy().into_owned()),
            read_only: true,
        };
        let mut mounts = vec![mount(&self.label.agent, &self.folder), mount("tools", &self.label.tools)];
        mounts.extend(self.label.rt.as_ref().map(|rt| mount("rt", rt)));
        mounts
    }

    /// Looks whether everything that is to be mounted is still there and whole in size; slow reading of contents is left out.
    ///
    /// # Errors
    /// [`TreeError::Damaged`] with what is missing.
    pub fn check(&self) -> Result<(), TreeError> {
        let damaged = |what: String| TreeError::Damaged { tree: self.title(), what };
        let bytes = hash::size(&self.path()).map_err(|source| damaged(format!("it cannot be read: {source}")))?;
        if bytes != self.label.bytes {
            return Err(damaged(format!("it has {bytes} bytes, {} when it was built", self.label.bytes)));
        }
        for folder in std::iter::once(&self.label.tools).chain(&self.label.rt) {
            if !self.root.join(folder).is_dir() {
                return Err(damaged(format!("the folder {folder} is gone")));
            }
        }
        Ok(())
    }

    /// For a result's provenance.
    #[must_use]
    pub fn finding(&self) -> Finding {
        let hash: String = self.label.hash.chars().take(12).collect();
        Finding::note("agent_tree", "agent", format!("{} from tree {hash}, mounted read-only", self.title()))
    }
}

/// The folder of an agent in a container.
#[must_use]
pub fn mounted(agent: &str) -> String {
    format!("{MOUNTED}/{agent}")
}

/// A path for a message.
fn shown(path: &Path) -> String {
    path.display().to_string()
}
