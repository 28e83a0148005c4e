//! The registries' own clients, run as they are set up on this machine. No registry is named here.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use super::error::TreeError;
use super::{Package, shown};

/// Where one tree is built, and who is told.
pub(super) struct Workshop<'a> {
    /// The agent, for messages.
    pub(super) agent: &'a str,
    /// The tree itself.
    pub(super) tree: PathBuf,
    /// For downloads; thrown away.
    pub(super) scratch: PathBuf,
    /// What came from registries.
    pub(super) packages: Vec<Package>,
    pub(super) say: &'a dyn Fn(&str),
}

impl Workshop<'_> {
    /// Runs a client to its end; its standard output.
    pub(super) fn run(&self, program: &str, args: &[&str], path: Option<&Path>) -> Result<String, TreeError> {
        let output = self.output(program, args, path)?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        Err(TreeError::ClientFailed { command: command_line(program, args), reason: last_words(&output) })
    }

    /// `path`: a folder that is searched for programs first.
    fn output(&self, program: &str, args: &[&str], path: Option<&Path>) -> Result<Output, TreeError> {
        let mut command = Command::new(program);
        command.args(args).current_dir(&self.scratch).stdin(Stdio::null());
        // What a client asks or boasts about would only stand in the way of its answer.
        command.env("npm_config_update_notifier", "false").env("npm_config_fund", "false").env("NO_COLOR", "1");
        if let Some(folder) = path {
            let script = format!("PATH={}:$PATH exec \"$0\" \"$@\"", shown(folder));
            command = Command::new("/bin/sh");
            command.arg("-c").arg(script).arg(program).args(args).current_dir(&self.scratch).stdin(Stdio::null());
        }
        command.output().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => {
                TreeError::NoClient { program: program.to_owned(), agent: self.agent.to_owned() }
            }
            _ => TreeError::ClientFailed { command: command_line(program, args), reason: error.to_string() },
        })
    }

    /// The version that a word like `latest` means, or the same version where the registry has it.
    pub(super) fn npm_version(&self, package: &str, version: &str) -> Result<String, TreeError> {
        let spec = format!("{package}@{version}");
        let args = ["view", &spec, "version", "--json"];
        let output = self.output("npm", &args, None)?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let no_such = || TreeError::NoSuchVersion {
            package: package.to_owned(),
            version: version.to_owned(),
            look: format!("npm view {package} versions"),
        };
        if !output.status.success() {
            let words = format!("{text}{}", String::from_utf8_lossy(&output.stderr));
            let is_missing = ["E404", "ETARGET", "notarget"].iter().any(|code| words.contains(code));
            let reason = last_words(&output);
            let failed = TreeError::ClientFailed { command: command_line("npm", &args), reason };
            return Err(if is_missing { no_such() } else { failed });
        }
        // A range has several answers, the newest last.
        let found = match serde_json::from_str::<Value>(&text) {
            Ok(Value::String(version)) => Some(version),
            Ok(Value::Array(versions)) => versions.last().and_then(Value::as_str).map(str::to_owned),
            _ => None,
        };
        found.ok_or_else(no_such)
    }

    /// Fetches a package and unpacks it into a folder of the scratch space.
    pub(super) fn npm_package(&mut self, package: &str, version: &str) -> Result<PathBuf, TreeError> {
        let spec = format!("{package}@{version}");
        (self.say)(&format!("fetching {spec}"));
        let told = self.run("npm", &["pack", "--json", &spec], None)?;
        let told: Value = serde_json::from_str(&told).unwrap_or_default();
        let field = |name: &str| told.get(0).and_then(|pack| pack.get(name)).and_then(Value::as_str);
        let strange = |what: &str| TreeError::ClientFailed {
            command: format!("npm pack --json {spec}"),
            reason: format!("it told no {what}"),
        };
        let file = field("filename").ok_or_else(|| strange("file name"))?.replace('/', "-").replace('@', "");
        self.packages.push(Package {
            name: package.to_owned(),
            version: field("version").unwrap_or(version).to_owned(),
            integrity: field("integrity").map(str::to_owned),
        });
        let folder = self.scratch.join(format!("unpacked-{}", self.packages.len()));
        make_folder(&folder)?;
        self.run("tar", &["-xzf", &file, "-C", &shown(&folder)], None)?;
        fs::remove_file(self.scratch.join(&file)).map_err(|source| disk(&self.scratch.join(&file), source))?;
        Ok(folder.join("package"))
    }

    /// Fetches a package of the distribution and unpacks it.
    pub(super) fn debian_package(&mut self, package: &str) -> Result<PathBuf, TreeError> {
        (self.say)(&format!("fetching {package}"));
        let fetched = self.scratch.join(format!("deb-{}", self.packages.len()));
        make_folder(&fetched)?;
        let script = format!("cd '{}' && exec apt-get -q download '{package}'", shown(&fetched));
        if self.output("apt-get", &["--version"], None).is_err() {
            return Err(TreeError::NoClient { program: "apt-get".to_owned(), agent: self.agent.to_owned() });
        }
        self.run("/bin/sh", &["-c", &script], None).map_err(|error| match error {
            TreeError::ClientFailed { reason, .. } => TreeError::ClientFailed {
                command: format!("apt-get download {package}"),
                reason: format!("{reason} (if the package is not known, 'apt-get update' comes first)"),
            },
            other => other,
        })?;
        let files = fs::read_dir(&fetched).map_err(|source| disk(&fetched, source))?;
        let file =
            files.flatten().map(|entry| entry.path()).find(|path| path.extension().is_some_and(|end| end == "deb"));
        let file = file.ok_or_else(|| TreeError::ClientFailed {
            command: format!("apt-get download {package}"),
            reason: "it left no file".to_owned(),
        })?;
        let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let version = name.split('_').nth(1).unwrap_or("unknown").replace("%3a", ":");
        self.packages.push(Package { name: package.to_owned(), version, integrity: None });
        let folder = fetched.join("files");
        self.run("dpkg-deb", &["-x", &shown(&file), &shown(&folder)], None)?;
        Ok(folder)
    }

    /// Moves a file into the tree.
    pub(super) fn place(&self, from: &Path, to: &str) -> Result<(), TreeError> {
        let target = self.tree.join(to);
        if let Some(parent) = target.parent() {
            make_folder(parent)?;
        }
        fs::rename(from, &target).map_err(|source| disk(from, source))
    }

    /// Writes a program into the tree.
    pub(super) fn script(&self, to: &str, text: &str) -> Result<(), TreeError> {
        use std::os::unix::fs::PermissionsExt;
        let target = self.tree.join(to);
        if let Some(parent) = target.parent() {
            make_folder(parent)?;
        }
        fs::write(&target, text).map_err(|source| disk(&target, source))?;
        fs::set_permissions(&target, fs::Permissions::from_mode(0o755)).map_err(|source| disk(&target, source))
    }
}

pub(super) fn make_folder(path: &Path) -> Result<(), TreeError> {
    fs::create_dir_all(path).map_err(|source| disk(path, source))
}

pub(super) fn disk(path: &Path, source: io::Error) -> TreeError {
    TreeError::Disk { path: shown(path), source }
}

fn command_line(program: &str, args: &[&str]) -> String {
    std::iter::once(program).chain(args.iter().copied()).collect::<Vec<_>>().join(" ")
}

/// The last lines that say something.
fn last_words(output: &Output) -> String {
    let text = if output.stderr.trim_ascii().is_empty() { &output.stdout } else { &output.stderr };
    let text = String::from_utf8_lossy(text);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let last = lines.iter().rev().take(4).rev().copied().collect::<Vec<_>>().join(" / ");
    if last.is_empty() { output.status.to_string() } else { last.chars().take(600).collect() }
}
