//! The tree of OpenHands, by its SDK: its command line wants one exact Python, the SDK any from 3.12 on. Where the distribution's is older, a
//! newer one that is on this machine is copied. A driver of ours stands for the command line.

use std::fs;
use std::path::{Path, PathBuf};

use super::clients::{Workshop, disk, make_folder};
use super::error::TreeError;
use super::recipe::{patch_as, rpath};
use super::{Package, mounted, python, shown};

pub(super) const AGENT: &str = "openhands";
/// The package whose versions are the agent's.
pub(super) const PACKAGE: &str = "openhands-sdk";
/// Its tools, of the same version. Their own requirements bring a browser and much else that the tools used here do without.
const TOOLS: &str = "openhands-tools";
const TOOLS_NEED: [&str; 3] = ["binaryornot", "cachetools", "libtmux"];
/// The least Python, as 3.x.
const LEAST: u32 = 12;
/// Interpreters that are looked for, newest first, and where a version manager keeps its own.
const NEWER: [u32; 3] = [14, 13, 12];
/// What no program needs of a standard library.
const LEFT_OUT: [&str; 9] =
    ["test", "site-packages", "idlelib", "tkinter", "ensurepip", "lib2to3", "turtledemo", "__pycache__", "pydoc_data"];

/// A Python of this machine.
struct Local {
    program: String,
    /// Such as `python3.12`.
    name: String,
    prefix: PathBuf,
}

pub(super) fn build(shop: &mut Workshop<'_>, version: &str) -> Result<(), TreeError> {
    // Two folders, since a folder that pip has filled is not added to, and both packages are parts of one.
    let (site, tools) = (shown(&shop.tree.join("site")), shown(&shop.tree.join("tools-site")));
    let spec = |package: &str| format!("{package}=={version}");
    let name = match local(shop) {
        Some(local) => {
            copy(shop, &local)?;
            let needs: Vec<String> = std::iter::once(spec(PACKAGE)).chain(TOOLS_NEED.map(str::to_owned)).collect();
            let needs: Vec<&str> = needs.iter().map(String::as_str).collect();
            pip(shop, &local, &site, &needs)?;
            pip(shop, &local, &tools, &["--no-deps", &spec(TOOLS)])?;
            local.name
        }
        None => {
            return Err(TreeError::NoPython { agent: AGENT.to_owned(), least: format!("3.{LEAST}") });
        }
    };
    for package in [PACKAGE, TOOLS] {
        shop.packages.push(Package { name: package.to_owned(), version: version.to_owned(), integrity: None });
    }
    let here = mounted(AGENT);
    shop.script("drive.py", include_str!("openhands_driver.py"))?;
    shop.script(
        "bin/openhands",
        &format!("#!/bin/sh\nexec {here}/usr/bin/{name} -I -B {here}/drive.py {here}/site:{here}/tools-site \"$@\"\n"),
    )
}

/// The newest that is on PATH or in the version manager's folder.
fn local(shop: &Workshop<'_>) -> Option<Local> {
    let managed = shop.run("pyenv", &["root"], None).ok().map(|root| PathBuf::from(root.trim()).join("versions"));
    let managed: Vec<PathBuf> = managed
        .and_then(|folder| fs::read_dir(folder).ok())
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .collect();
    NEWER.into_iter().find_map(|minor| {
        let name = format!("python3.{minor}");
        let in_manager = managed.iter().map(|folder| shown(&folder.join("bin").join(&name)));
        std::iter::once(name.clone()).chain(in_manager).find_map(|program| {
            let told = shop.run(&program, &["-I", "-c", "import sys; print(sys.base_prefix)"], None).ok()?;
            let prefix = PathBuf::from(told.trim());
            // One that belongs to the system is strewn over it.
            let is_whole = prefix != Path::new("/usr") && prefix.join("lib").join(&name).is_dir();
            is_whole.then(|| Local { program, name: name.clone(), prefix })
        })
    })
}

/// Program, library and modules, made to look for the shared C library and each other.
fn copy(shop: &mut Workshop<'_>, local: &Local) -> Result<(), TreeError> {
    (shop.say)(&format!("copying {}", local.prefix.display()));
    let (bin, lib) = (shop.tree.join("usr/bin"), shop.tree.join("usr/lib"));
    make_folder(&bin)?;
    make_folder(&lib)?;
    let program = local.prefix.join("bin").join(&local.name);
    let copied = bin.join(&local.name);
    fs::copy(&program, &copied).map_err(|source| disk(&program, source))?;
    let modules = local.prefix.join("lib").join(&local.name);
    shop.run("cp", &["-a", &shown(&modules), &shown(&lib)], None)?;
    let modules = lib.join(&local.name);
    for name in LEFT_OUT {
        let path = modules.join(name);
        if path.is_dir() {
            fs::remove_dir_all(&path).map_err(|source| disk(&path, source))?;
        }
    }
    let own = format!("{}/usr/lib", mounted(AGENT));
    patch_as(shop, &format!("usr/bin/{}", local.name), &[&own])?;
    let mut libraries = files(&modules.join("lib-dynload"), ".so");
    for library in files(&local.prefix.join("lib"), ".so.1.0") {
        let to = lib.join(library.file_name().unwrap_or_default());
        fs::copy(&library, &to).map_err(|source| disk(&library, source))?;
        libraries.push(to);
    }
    rpath(shop, &libraries, &[&own])
}

fn files(folder: &Path, end: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.filter(|path| path.is_file() && path.to_string_lossy().ends_with(end)).collect()
}

fn pip(shop: &Workshop<'_>, local: &Local, site: &str, what: &[&str]) -> Result<(), TreeError> {
    (shop.say)(&format!("installing {}", what.join(" ")));
    let head = ["-m", "pip", "install", "--quiet", "--no-compile", "--only-binary=:all:", "--target", site];
    let args: Vec<&str> = head.into_iter().chain(what.iter().copied()).collect();
    let done = shop.run(&local.program, &args, None).map(drop);
    done.map_err(|error| python::no_such_version(error, PACKAGE, what))
}
