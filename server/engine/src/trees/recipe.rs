//! How each agent's tree is made. Where a native program is published, its platform package is all that is needed.

use std::path::Path;

use super::clients::Workshop;
use super::error::TreeError;
use super::openhands;
use super::python::{self, PythonProgram};
use super::shared::arch;
use super::shown;

/// One agent's recipe.
#[derive(Debug, Clone, Copy)]
pub struct Recipe {
    /// As users choose it.
    pub name: &'static str,
    /// The version that this program was tested with.
    pub tested: &'static str,
    /// The package whose versions are the agent's.
    pub package: &'static str,
    /// Whether its programs need the shared C library.
    pub(super) needs_rt: bool,
    make: fn(&mut Workshop<'_>, &str) -> Result<(), TreeError>,
}

/// All agents that can be installed.
pub const RECIPES: [Recipe; 8] = [
    Recipe {
        name: "claude-code",
        tested: "2.1.332",
        package: "@anthropic-ai/claude-code",
        needs_rt: false,
        make: claude,
    },
    Recipe { name: "codex", tested: "0.171.0", package: "@openai/codex", needs_rt: false, make: codex },
    Recipe { name: "opencode", tested: "1.18.33", package: "opencode-ai", needs_rt: true, make: opencode },
    Recipe { name: "gemini-cli", tested: "0.61.0", package: "@google/gemini-cli", needs_rt: true, make: gemini },
    Recipe { name: "qwen-code", tested: "0.24.4", package: "@qwen-code/qwen-code", needs_rt: true, make: qwen },
    Recipe { name: "openclaw", tested: "2026.9.6", package: "openclaw", needs_rt: true, make: openclaw },
    Recipe { name: "mini-swe-agent", tested: "2.4.6", package: "mini-swe-agent", needs_rt: true, make: mini },
    Recipe {
        name: openhands::AGENT,
        tested: "1.58.2",
        package: openhands::PACKAGE,
        needs_rt: true,
        make: openhands::build,
    },
];

/// The recipe of an agent.
///
/// # Errors
/// [`TreeError::UnknownAgent`] with the names there are.
pub fn recipe(agent: &str) -> Result<&'static Recipe, TreeError> {
    let known = || RECIPES.iter().map(|recipe| recipe.name).collect::<Vec<_>>().join(", ");
    RECIPES
        .iter()
        .find(|recipe| recipe.name == agent)
        .ok_or_else(|| TreeError::UnknownAgent { asked: agent.to_owned(), known: known() })
}

impl Recipe {
    pub(super) fn resolve(&self, shop: &Workshop<'_>, version: &str) -> Result<String, TreeError> {
        // A version that is a full one is asked for when it is fetched; words are resolved first.
        let is_full = version.chars().next().is_some_and(|first| first.is_ascii_digit());
        if !is_full && [MINI.agent, openhands::AGENT].contains(&self.name) {
            return Err(TreeError::NoSuchVersion {
                package: self.package.to_owned(),
                version: version.to_owned(),
                look: format!("pip index versions {}", self.package),
            });
        }
        if is_full { Ok(version.to_owned()) } else { shop.npm_version(self.package, version) }
    }

    pub(super) fn build(&self, shop: &mut Workshop<'_>, version: &str) -> Result<(), TreeError> {
        (self.make)(shop, version)
    }
}

/// Both builds: one needs a C library of 2018 or newer, the other musl; the wrapper looks which loader the image has.
fn claude(shop: &mut Workshop<'_>, version: &str) -> Result<(), TreeError> {
    let arch = arch(shop)?;
    for (package, name) in [
        (format!("@anthropic-ai/claude-code-linux-{arch}"), "claude.glibc"),
        (format!("@anthropic-ai/claude-code-linux-{arch}-musl"), "claude.musl"),
    ] {
        shop.npm_version(&package, version)?;
        let unpacked = shop.npm_package(&package, version)?;
        shop.place(&unpacked.join("claude"), &format!("lib/{name}"))
            .map_err(|_| strange(&package, "claude", "2.1.332"))?;
    }
    let here = super::mounted("claude-code");
    shop.script(
        "bin/claude",
        &format!(
            "#!/bin/sh\nfor loader in /lib64/ld-linux-x86-64.so.2 /lib/ld-linux-aarch64.so.1; do\n  \
             [ -e \"$loader\" ] && exec {here}/lib/claude.glibc \"$@\"\ndone\nexec {here}/lib/claude.musl \"$@\"\n"
        ),
    )
}

/// Static programs. Their voice models are left out.
fn codex(shop: &mut Workshop<'_>, version: &str) -> Result<(), TreeError> {
    let version = format!("{version}-linux-{}", arch(shop)?);
    shop.npm_version("@openai/codex", &version)?;
    let unpacked = shop.npm_package("@openai/codex", &version)?;
    let vendor = unpacked.join("vendor");
    let target = std::fs::read_dir(&vendor).ok().and_then(|mut entries| entries.next()?.ok());
    let target = target.ok_or_else(|| strange("@openai/codex", "vendor/", "0.171.0"))?.path();
    // Only `package/vendor/TARGET` matters; what lies in it changes from version to version.
    drop(std::fs::remove_dir_all(target.join("voice")));
    shop.place(&target, "vendor")?;
    let program =
        find(&shop.tree.join("vendor"), "codex").ok_or_else(|| strange("@openai/codex", "codex", "0.171.0"))?;
    let relative = program.strip_prefix(&shop.tree).unwrap_or(&program).to_path_buf();
    let here = super::mounted("codex");
    shop.script("bin/codex", &format!("#!/bin/sh\nexec {here}/{} \"$@\"\n", shown(&relative)))
}

/// One program, changed to use the shared C library.
fn opencode(shop: &mut Workshop<'_>, version: &str) -> Result<(), TreeError> {
    let package = format!("opencode-linux-{}", arch(shop)?);
    shop.npm_version(&package, version)?;
    let unpacked = shop.npm_package(&package, version)?;
    shop.place(&unpacked.join("bin/opencode"), "bin/opencode")
        .map_err(|_| strange(&package, "bin/opencode", "1.18.33"))?;
    patch(shop, "bin/opencode")
}

fn gemini(shop: &mut Workshop<'_>, version: &str) -> Result<(), TreeError> {
    node_agent(shop, "gemini-cli", "@google/gemini-cli", version, "22.23.5", "gemini")
}

fn qwen(shop: &mut Workshop<'_>, version: &str) -> Result<(), TreeError> {
    node_agent(shop, "qwen-code", "@qwen-code/qwen-code", version, "22.23.5", "qwen")
}

fn openclaw(shop: &mut Workshop<'_>, version: &str) -> Result<(), TreeError> {
    node_agent(shop, "openclaw", "openclaw", version, "24.22.3", "openclaw")
}

const MINI: PythonProgram = PythonProgram {
    agent: "mini-swe-agent",
    package: "mini-swe-agent",
    module: "minisweagent.run.mini",
    program: "mini",
    unneeded: &["pyarrow", "pandas", "numpy", "numpy.libs", "datasets", "boto3", "botocore", "bin"],
};

fn mini(shop: &mut Workshop<'_>, version: &str) -> Result<(), TreeError> {
    python::build(shop, &MINI, version)
}

/// A program for node: its modules and a node of its own.
fn node_agent(
    shop: &mut Workshop<'_>,
    agent: &str,
    package: &str,
    version: &str,
    node: &str,
    program: &str,
) -> Result<(), TreeError> {
    shop.npm_version(package, version)?;
    let unpacked = shop.npm_package(&format!("node-linux-{}", arch(shop)?), node)?;
    let folder = unpacked.join("bin");
    (shop.say)(&format!("installing {package}@{version}"));
    let (prefix, spec) = (shown(&shop.tree), format!("{package}@{version}"));
    let args = ["install", "-g", "--no-audit", "--no-fund", "--loglevel=error", "--prefix", &prefix, &spec];
    shop.run("npm", &args, Some(&folder))?;
    shop.packages.push(super::Package { name: package.to_owned(), version: version.to_owned(), integrity: None });
    shop.place(&folder.join("node"), "node/node")?;
    patch(shop, "node/node")?;
    let link = shop.tree.join("bin").join(program);
    let main = std::fs::canonicalize(&link).map_err(|_| strange(package, program, version))?;
    let tree = std::fs::canonicalize(&shop.tree).unwrap_or_else(|_| shop.tree.clone());
    let relative = main.strip_prefix(&tree).unwrap_or(&main).to_path_buf();
    std::fs::remove_file(&link).map_err(|source| super::clients::disk(&link, source))?;
    let here = super::mounted(agent);
    let script = format!("#!/bin/sh\nexec {here}/node/node {here}/{} \"$@\"\n", shown(&relative));
    shop.script(&format!("bin/{program}"), &script)
}

/// Makes a program look for its loader and libraries in the shared C library, by RPATH: what it starts is not touched.
pub(super) fn patch(shop: &mut Workshop<'_>, program: &str) -> Result<(), TreeError> {
    patch_as(shop, program, &[])
}

/// The same for one that has more libraries of its own.
pub(super) fn patch_as(shop: &mut Workshop<'_>, program: &str, more: &[&str]) -> Result<(), TreeError> {
    if arch(shop)? != "x64" {
        return Err(TreeError::Machine {
            agent: shop.agent.to_owned(),
            machine: std::env::consts::ARCH.to_owned(),
            reason: "its program is made independent of the image on x86_64 only".to_owned(),
        });
    }
    let patchelf = patchelf(shop)?;
    let loader = format!("{}/rt/lib/ld-linux-x86-64.so.2", super::MOUNTED);
    let target = shown(&shop.tree.join(program));
    let args = ["--set-interpreter", &loader, "--force-rpath", "--set-rpath", &searched(more), &target];
    shop.run(&patchelf, &args, None).map(drop)
}

/// Makes libraries look where their program does, whatever was written into them where they were built.
pub(super) fn rpath(shop: &mut Workshop<'_>, libraries: &[std::path::PathBuf], more: &[&str]) -> Result<(), TreeError> {
    let patchelf = patchelf(shop)?;
    let searched = searched(more);
    let files: Vec<String> = libraries.iter().map(|path| shown(path)).collect();
    let args = ["--force-rpath", "--set-rpath", &searched].into_iter().chain(files.iter().map(String::as_str));
    shop.run(&patchelf, &args.collect::<Vec<_>>(), None).map(drop)
}

fn searched(more: &[&str]) -> String {
    let rt = format!("{}/rt/lib", super::MOUNTED);
    std::iter::once(rt.as_str()).chain(more.iter().copied()).collect::<Vec<_>>().join(":")
}

/// The program that does it, from the distribution.
fn patchelf(shop: &mut Workshop<'_>) -> Result<String, TreeError> {
    let folder = shop.debian_package("patchelf")?;
    shop.packages.pop();
    Ok(shown(&folder.join("usr/bin/patchelf")))
}

fn find(folder: &Path, name: &str) -> Option<std::path::PathBuf> {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(&folder).ok()?.flatten().map(|entry| entry.path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.file_name().is_some_and(|found| found == name) {
                return Some(path);
            }
        }
    }
    None
}

fn strange(package: &str, what: &str, tested: &str) -> TreeError {
    TreeError::Strange { package: package.to_owned(), what: what.to_owned(), tested: tested.to_owned() }
}
