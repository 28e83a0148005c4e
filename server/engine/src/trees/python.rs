//! Trees of Python programs: the distribution's interpreter, changed to use the shared C library, and the packages beside it.

use std::fs;
use std::path::Path;

use super::clients::{Workshop, disk};
use super::error::TreeError;
use super::recipe::patch;
use super::{Package, mounted, shown};

/// A program for Python, as it is wanted.
pub(super) struct PythonProgram {
    pub(super) agent: &'static str,
    pub(super) package: &'static str,
    /// The module that is its command line.
    pub(super) module: &'static str,
    /// Its name in `bin`.
    pub(super) program: &'static str,
    /// Packages that it pulls in and does not need to run: they are larger than all the rest.
    pub(super) unneeded: &'static [&'static str],
}

pub(super) fn build(shop: &mut Workshop<'_>, wanted: &PythonProgram, version: &str) -> Result<(), TreeError> {
    let python = interpreter(shop)?;
    let site = shop.tree.join("site");
    install(shop, wanted, version, &python, &site)?;
    for name in wanted.unneeded {
        let path = site.join(name);
        if path.is_dir() {
            fs::remove_dir_all(&path).map_err(|source| disk(&path, source))?;
        }
    }
    start(shop, wanted, &python)
}

/// Fetches the interpreter and its library; its name, such as `python3.11`.
fn interpreter(shop: &mut Workshop<'_>) -> Result<String, TreeError> {
    let told = shop.run("apt-cache", &["depends", "--important", "python3-minimal"], None)?;
    let name =
        told.lines().filter_map(|line| line.trim().strip_prefix("Depends: ")).find(|name| name.starts_with("python3."));
    let name = name.and_then(|name| name.strip_suffix("-minimal")).unwrap_or("python3.11").to_owned();
    let library = name.replacen("python", "libpython", 1);
    for package in [format!("{name}-minimal"), format!("{library}-minimal"), format!("{library}-stdlib")] {
        let unpacked = shop.debian_package(&package)?;
        let (from, to) = (shown(&unpacked.join("usr")), shown(&shop.tree));
        shop.run("cp", &["-a", &from, &to], None)?;
    }
    // A link into the image's /etc, where another interpreter may keep its own.
    let custom = shop.tree.join("usr/lib").join(&name).join("sitecustomize.py");
    if custom.is_symlink() {
        fs::remove_file(&custom).map_err(|source| disk(&custom, source))?;
    }
    patch(shop, &format!("usr/bin/{name}"))?;
    Ok(name)
}

/// Wheels for that interpreter, whatever runs here.
fn install(
    shop: &mut Workshop<'_>,
    wanted: &PythonProgram,
    version: &str,
    python: &str,
    site: &Path,
) -> Result<(), TreeError> {
    let spec = format!("{}=={version}", wanted.package);
    (shop.say)(&format!("installing {spec}"));
    let number = python.trim_start_matches("python");
    let (target, abi) = (shown(site), format!("cp{}", number.replace('.', "")));
    let mut args = vec!["-m", "pip", "install", "--quiet", "--no-compile", "--only-binary=:all:", "--target", &target];
    args.extend([
        "--implementation",
        "cp",
        "--python-version",
        number,
        "--abi",
        &abi,
        "--abi",
        "abi3",
        "--abi",
        "none",
    ]);
    args.extend([
        "--platform",
        "manylinux2014_x86_64",
        "--platform",
        "manylinux_2_28_x86_64",
        "--platform",
        "any",
        &spec,
    ]);
    shop.run("python3", &args, None).map_err(|error| no_such_version(error, wanted.package, &[&spec]))?;
    shop.packages.push(Package { name: wanted.package.to_owned(), version: version.to_owned(), integrity: None });
    Ok(())
}

/// What pip says where the registry does not have one of `specs`, as what it means.
pub(super) fn no_such_version(error: TreeError, package: &str, specs: &[&str]) -> TreeError {
    let TreeError::ClientFailed { reason, .. } = &error else { return error };
    let version = specs.iter().find_map(|spec| {
        let (name, version) = spec.split_once("==")?;
        (name == package && reason.contains("No matching distribution found for") && reason.contains(spec))
            .then_some(version)
    });
    match version {
        Some(version) => TreeError::NoSuchVersion {
            package: package.to_owned(),
            version: version.to_owned(),
            look: format!("pip index versions {package}"),
        },
        None => error,
    }
}

/// The program: an interpreter that sees these packages and nothing of the image's or the task's (`-I`).
fn start(shop: &Workshop<'_>, wanted: &PythonProgram, python: &str) -> Result<(), TreeError> {
    let here = mounted(wanted.agent);
    let (module, package) = (wanted.module, wanted.package);
    let run = format!(
        "import runpy, sys\nsys.path.insert(0, '{here}/site')\nif sys.argv[1:] == ['--version']:\n    from importlib.metadata \
         import version\n    print(version('{package}'))\nelse:\n    sys.argv[0] = '{}'\n    runpy.run_module('{module}', \
         run_name='__main__')\n",
        wanted.program
    );
    shop.script("run.py", &run)?;
    let script = format!("#!/bin/sh\nexec {here}/usr/bin/{python} -I -B {here}/run.py \"$@\"\n");
    shop.script(&format!("bin/{}", wanted.program), &script)
}
