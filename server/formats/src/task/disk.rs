//! A task's folder from the disk into memory. Links are followed only to places below the allowed roots; nothing but files and folders
//! is read.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use domain::finding::Finding;
use domain::path::{MAX_PATH_DEPTH, RelPath};
use domain::tree::{LoadedFile, LoadedTree};

/// What a task's folder may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiskLimits {
    /// Largest file, in bytes.
    pub file_bytes: u64,
    /// All files together, in bytes.
    pub total_bytes: u64,
    /// Number of files.
    pub files: usize,
}

impl Default for DiskLimits {
    fn default() -> Self {
        Self { file_bytes: 256 << 20, total_bytes: 512 << 20, files: 20_000 }
    }
}

/// The name of a folder, also where it is given as `.` or with a slash at its end.
pub(super) fn folder_name(folder: &Path) -> String {
    let real = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let name = folder.file_name().or(real.file_name());
    name.map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// All files below `folder`, and a finding for each that could not be taken.
pub(super) fn read_folder(folder: &Path, roots: &[PathBuf], limits: &DiskLimits) -> (LoadedTree, Vec<Finding>) {
    let shown = folder.display().to_string();
    let real = match folder.canonicalize() {
        Ok(real) if real.is_dir() => real,
        Ok(_) => return refused(Finding::error("not_a_folder", shown, "this is no folder")),
        Err(error) => {
            return refused(Finding::error("unreadable", shown, format!("the folder cannot be read: {error}")));
        }
    };
    let mut allowed: Vec<PathBuf> = roots.iter().filter_map(|root| root.canonicalize().ok()).collect();
    if !roots.is_empty() && !allowed.iter().any(|root| real.starts_with(root)) {
        let finding = Finding::error("outside_roots", shown, "the folder lies outside of the folders that may be read");
        return refused(finding.hint("add the folder above it to the configured task folders"));
    }
    allowed.push(real.clone());
    let mut walk = Walk {
        allowed,
        limits,
        total: 0,
        full: false,
        open: Vec::new(),
        files: LoadedTree::new(),
        findings: Vec::new(),
    };
    walk.folder(&real, "");
    (walk.files, walk.findings)
}

fn refused(finding: Finding) -> (LoadedTree, Vec<Finding>) {
    (LoadedTree::new(), vec![finding])
}

struct Walk<'l> {
    /// Real paths that links may lead below.
    allowed: Vec<PathBuf>,
    limits: &'l DiskLimits,
    total: u64,
    full: bool,
    /// Real paths of the folders that are being read, to find links in a circle.
    open: Vec<PathBuf>,
    files: LoadedTree,
    findings: Vec<Finding>,
}

impl Walk<'_> {
    /// Reads a folder by its real path; `at` is its path in the task, empty at the top.
    fn folder(&mut self, real: &Path, at: &str) {
        if self.open.iter().any(|open| open == real) || self.open.len() >= MAX_PATH_DEPTH {
            let finding = Finding::error("link_circle", at, "the folder holds itself, or lies too deep");
            return self.findings.push(finding.hint("remove the link"));
        }
        let entries =
            fs::read_dir(real).and_then(|entries| entries.map(|entry| entry.map(|entry| entry.path())).collect());
        let mut entries: Vec<PathBuf> = match entries {
            Ok(entries) => entries,
            Err(error) => return self.unreadable(at, &error),
        };
        entries.sort();
        self.open.push(real.to_owned());
        for entry in entries {
            if self.full {
                break;
            }
            self.entry(&entry, at);
        }
        self.open.pop();
    }

    fn entry(&mut self, path: &Path, folder: &str) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let at = if folder.is_empty() { name.clone().into_owned() } else { format!("{folder}/{name}") };
        if name == ".DS_Store" || at == ".git" {
            return;
        }
        let kind = match path.symlink_metadata() {
            Ok(kind) => kind,
            Err(error) => return self.unreadable(&at, &error),
        };
        if !kind.is_symlink() {
            return self.real_entry(path, &at, &kind);
        }
        match self.link_target(path, &at) {
            Ok((target, kind)) => self.real_entry(&target, &at, &kind),
            Err(finding) => self.findings.push(finding),
        }
    }

    fn link_target(&self, path: &Path, at: &str) -> Result<(PathBuf, fs::Metadata), Finding> {
        let shown = fs::read_link(path).map(|link| link.display().to_string()).unwrap_or_default();
        let broken = |_| {
            Finding::error("link_broken", at, format!("the link to `{shown}` leads nowhere")).hint("remove or mend it")
        };
        let target = path.canonicalize().map_err(broken)?;
        if !self.allowed.iter().any(|root| target.starts_with(root)) {
            let message = format!("the link to `{shown}` leads out of the folders that may be read");
            return Err(Finding::error("link_outside", at, message).hint(
                "replace it by the files themselves, or name a folder that holds both the task and the link's target",
            ));
        }
        let kind = target.metadata().map_err(broken)?;
        Ok((target, kind))
    }

    fn real_entry(&mut self, path: &Path, at: &str, kind: &fs::Metadata) {
        if kind.is_dir() {
            self.folder(path, at);
        } else if kind.is_file() {
            self.file(path, at, kind);
        } else {
            let finding = Finding::error("special_file", at, "this is neither a file nor a folder");
            self.findings.push(finding.hint("remove it: pipes, sockets and devices cannot be copied into a container"));
        }
    }

    fn file(&mut self, path: &Path, at: &str, kind: &fs::Metadata) {
        let name = match RelPath::new(at) {
            Ok(name) if !at.contains('\u{fffd}') => name,
            Ok(_) => {
                return self
                    .findings
                    .push(Finding::error("bad_path", at, "the file's name is not UTF-8").hint("rename it"));
            }
            Err(error) => {
                let message = format!("the file's name cannot be used: {error}");
                return self.findings.push(Finding::error("bad_path", at, message).hint("rename it"));
            }
        };
        if let Some(finding) = self.over_limit(at, kind.len()) {
            return self.findings.push(finding);
        }
        match read_at_most(path, self.limits.file_bytes) {
            Ok(bytes) => {
                self.total = self.total.saturating_add(bytes.len() as u64);
                let executable = kind.permissions().mode() & 0o111 != 0;
                self.files.insert(name, LoadedFile { executable, bytes });
            }
            Err(error) => self.unreadable(at, &error),
        }
    }

    fn over_limit(&mut self, at: &str, size: u64) -> Option<Finding> {
        let DiskLimits { file_bytes, total_bytes, files } = *self.limits;
        let mb = |bytes: u64| bytes >> 20;
        if size > file_bytes {
            let message = format!("the file has {} MiB, more than the {} MiB that are read", mb(size), mb(file_bytes));
            return Some(Finding::error("too_large", at, message).hint("let the Dockerfile fetch it"));
        }
        let message = if self.files.len() >= files {
            format!("the task has more than {files} files")
        } else if self.total.saturating_add(size) > total_bytes {
            format!("the task has more than {} MiB", mb(total_bytes))
        } else {
            return None;
        };
        self.full = true;
        Some(
            Finding::error("too_large", at, format!("{message}; reading stopped here"))
                .hint("let the Dockerfile fetch large inputs"),
        )
    }

    fn unreadable(&mut self, at: &str, error: &io::Error) {
        let at = if at.is_empty() { "." } else { at };
        self.findings
            .push(Finding::error("unreadable", at, format!("it cannot be read: {error}")).hint("give read permission"));
    }
}

/// A file that grows while it is read is cut off at the limit with an error.
fn read_at_most(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it grew while it was read"));
    }
    Ok(bytes)
}
