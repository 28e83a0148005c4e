//! The two trees that several agents share: static tools, and a C library for programs that are not static.

use std::fs;
use std::path::{Path, PathBuf};

use super::build::move_there;
use super::clients::{Workshop, disk, make_folder};
use super::error::TreeError;
use super::hash;

/// The package of a static ripgrep, and its version.
const RIPGREP: &str = "1.18.0";
/// Libraries that node, CPython and the like need, as the distribution packs them.
const LIBRARIES: [&str; 9] =
    ["libc6", "libstdc++6", "libgcc-s1", "libssl3", "zlib1g", "libsqlite3-0", "libffi8", "libexpat1", "libbz2-1.0"];

/// A static bash and ripgrep, for images that lack them: without bash some agents' every command fails, without ripgrep some agents'
/// skill tool, and both end with exit code 0.
pub(super) fn tools(root: &Path, shop: &mut Workshop<'_>) -> Result<String, TreeError> {
    if let Some(known) = existing(root, "tools-") {
        return Ok(known);
    }
    let folder = shop.scratch.join("tools");
    let bin = folder.join("bin");
    make_folder(&bin)?;
    let bash = shop.debian_package("bash-static")?;
    put(&bash.join("bin/bash-static"), &bin.join("bash"))?;
    let rg = shop.npm_package(&format!("@vscode/ripgrep-linux-{}", arch(shop)?), RIPGREP)?;
    put(&rg.join("bin/rg"), &bin.join("rg"))?;
    finish(root, &folder, "tools")
}

/// The C library and its loader, at one path for all: programs are changed to look for them there, so that the image's own are not touched.
pub(super) fn rt(root: &Path, shop: &mut Workshop<'_>) -> Result<String, TreeError> {
    if let Some(known) = existing(root, "rt-") {
        return Ok(known);
    }
    let folder = shop.scratch.join("rt");
    let lib = folder.join("lib");
    make_folder(&lib)?;
    for package in LIBRARIES {
        let unpacked = shop.debian_package(package)?;
        for below in ["lib", "usr/lib"] {
            collect(&unpacked.join(below), &lib)?;
        }
    }
    finish(root, &folder, "rt")
}

/// Every shared library below, into one folder; links become what they point to.
fn collect(from: &Path, to: &Path) -> Result<(), TreeError> {
    let mut folders = vec![from.to_owned()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for path in entries.flatten().map(|entry| entry.path()) {
            let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
            if path.is_dir() {
                let is_extra = ["gconv", "audit", "ossl-modules", "engines-3"].contains(&name.as_str());
                if !is_extra && !path.is_symlink() {
                    folders.push(path);
                }
            } else if name.contains(".so") && path.is_file() {
                fs::copy(&path, to.join(&name)).map_err(|source| disk(&path, source))?;
            }
        }
    }
    Ok(())
}

/// The processor, as packages name it.
pub(super) fn arch(shop: &Workshop<'_>) -> Result<&'static str, TreeError> {
    match std::env::consts::ARCH {
        "x86_64" => Ok("x64"),
        "aarch64" => Ok("arm64"),
        other => Err(TreeError::Machine {
            agent: shop.agent.to_owned(),
            machine: other.to_owned(),
            reason: "its programs are published for x86_64 and aarch64".to_owned(),
        }),
    }
}

fn existing(root: &Path, prefix: &str) -> Option<String> {
    let entries = fs::read_dir(root).ok()?.flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    names.filter(|name| name.starts_with(prefix)).max()
}

fn put(from: &PathBuf, to: &PathBuf) -> Result<(), TreeError> {
    fs::rename(from, to).map_err(|source| disk(from, source))
}

fn finish(root: &Path, folder: &Path, name: &str) -> Result<String, TreeError> {
    let hashed = hash::hash(folder).map_err(|source| disk(folder, source))?;
    let short: String = hashed.hex.chars().take(12).collect();
    let name = format!("{name}-{short}");
    move_there(folder, &root.join(&name))?;
    Ok(name)
}
