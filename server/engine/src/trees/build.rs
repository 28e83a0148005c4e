//! Builds one tree beside its final place and moves it there whole.

use std::fs;
use std::path::PathBuf;

use super::clients::{Workshop, disk, make_folder};
use super::error::TreeError;
use super::recipe::recipe;
use super::{InstalledTree, LABEL, TreeLabel, Trees, hash, shared};

/// A folder that is removed again.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            tracing::warn!(folder = %self.0.display(), %error, "a folder of an installation could not be removed");
        }
    }
}

pub(super) fn install(
    trees: &Trees,
    agent: &str,
    version: Option<&str>,
    say: &dyn Fn(&str),
) -> Result<InstalledTree, TreeError> {
    let recipe = recipe(agent)?;
    make_folder(&trees.root)?;
    let scratch = Scratch(trees.root.join(format!(".building-{}-{agent}", std::process::id())));
    let mut shop = Workshop {
        agent: recipe.name,
        tree: scratch.0.join("tree"),
        scratch: scratch.0.join("scratch"),
        packages: Vec::new(),
        say,
    };
    make_folder(&shop.tree)?;
    make_folder(&shop.scratch)?;
    let version = recipe.resolve(&shop, version.unwrap_or(recipe.tested))?;
    if let Some(installed) = trees.installed(agent, Some(&version)).filter(|tree| tree.check().is_ok()) {
        say(&format!("{} is installed already", installed.title()));
        return Ok(installed);
    }
    let tools = shared::tools(&trees.root, &mut shop)?;
    let rt = if recipe.needs_rt { Some(shared::rt(&trees.root, &mut shop)?) } else { None };
    shop.packages.clear();
    recipe.build(&mut shop, &version)?;
    say("hashing");
    let hashed = hash::hash(&shop.tree).map_err(|source| disk(&shop.tree, source))?;
    let short: String = hashed.hex.chars().take(12).collect();
    let folder = format!("{agent}@{version}-{short}");
    let packages = std::mem::take(&mut shop.packages);
    let label =
        TreeLabel { agent: agent.to_owned(), version, hash: hashed.hex, bytes: hashed.bytes, tools, rt, packages };
    write_label(&shop.tree, &label)?;
    move_there(&shop.tree, &trees.root.join(&folder))?;
    Ok(InstalledTree { label, root: trees.root.clone(), folder })
}

fn write_label(tree: &std::path::Path, label: &TreeLabel) -> Result<(), TreeError> {
    let path = tree.join(LABEL);
    let bytes = serde_json::to_vec_pretty(label).unwrap_or_default();
    fs::write(&path, bytes).map_err(|source| disk(&path, source))
}

/// A tree of the same content that is there already (another installation at the same time) is as good; a damaged one is replaced.
pub(super) fn move_there(from: &std::path::Path, to: &std::path::Path) -> Result<(), TreeError> {
    if to.exists() {
        fs::remove_dir_all(to).map_err(|source| disk(to, source))?;
    }
    fs::rename(from, to).map_err(|source| disk(to, source))
}
