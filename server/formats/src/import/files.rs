//! The files of a source, read one by one as they are asked for, under caps. Links are not followed. What was read is remembered, for the
//! source's hash and for telling what was not.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use domain::finding::Finding;
use domain::hash::ContentHash;
use serde::de::DeserializeOwned;

/// Deepest folder that is looked into.
const DEEPEST: usize = 24;

/// What a source may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileLimits {
    /// Largest file that is read, in bytes.
    pub file_bytes: u64,
    /// All that is read together, in bytes.
    pub total_bytes: u64,
    /// Most files that are listed.
    pub files: usize,
}

impl Default for FileLimits {
    fn default() -> Self {
        Self { file_bytes: 256 << 20, total_bytes: 1 << 30, files: 500_000 }
    }
}

/// Where the bytes are.
#[derive(Debug)]
enum Place {
    /// On disk, by path below the folder.
    Disk(BTreeMap<String, PathBuf>),
    /// At hand.
    Memory(BTreeMap<String, Vec<u8>>),
}

/// The files of one source by relative path, with `/`.
#[derive(Debug)]
pub struct Files {
    name: String,
    place: Place,
    limits: FileLimits,
    taken: BTreeMap<String, ContentHash>,
    bytes: u64,
    findings: Vec<Finding>,
}

impl Files {
    /// The file, or all files of the folder, at `path`.
    ///
    /// # Errors
    /// Where nothing is there, or it cannot be listed.
    pub fn open(path: &Path, limits: &FileLimits) -> Result<Self, Box<Finding>> {
        let shown = path.display().to_string();
        let missing = |why: String| Box::new(Finding::error("unreadable", &shown, why).hint("check the path"));
        let real = path.canonicalize().map_err(|error| missing(format!("nothing can be read there: {error}")))?;
        let name = real.file_name().map_or_else(|| shown.clone(), |name| name.to_string_lossy().into_owned());
        let mut files = Self {
            name: name.clone(),
            place: Place::Disk(BTreeMap::new()),
            limits: *limits,
            taken: BTreeMap::new(),
            bytes: 0,
            findings: Vec::new(),
        };
        let mut found = BTreeMap::new();
        if real.is_file() {
            found.insert(name, real);
        } else if real.is_dir() {
            files.list(&real, "", 0, &mut found);
        } else {
            return Err(missing("it is neither a file nor a folder".to_owned()));
        }
        files.place = Place::Disk(found);
        Ok(files)
    }

    /// Files that are at hand; `name` is what the person calls the source.
    #[must_use]
    pub fn at_hand(name: &str, files: BTreeMap<String, Vec<u8>>) -> Self {
        let (limits, findings) = (FileLimits::default(), Vec::new());
        Self { name: name.to_owned(), place: Place::Memory(files), limits, taken: BTreeMap::new(), bytes: 0, findings }
    }

    /// The source's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// All paths in order.
    #[must_use]
    pub fn paths(&self) -> Vec<String> {
        match &self.place {
            Place::Disk(files) => files.keys().cloned().collect(),
            Place::Memory(files) => files.keys().cloned().collect(),
        }
    }

    /// The paths that were read.
    pub(super) fn taken(&self) -> BTreeSet<&str> {
        self.taken.keys().map(String::as_str).collect()
    }

    /// What was noticed while listing.
    pub(super) fn take_findings(&mut self) -> Vec<Finding> {
        std::mem::take(&mut self.findings)
    }

    /// SHA-256 over each file that was read, in path order: the path's length, the path, the hash of its bytes. Of a single file it is that of its
    /// bytes: under another name it is the same.
    #[must_use]
    pub fn hash(&self) -> ContentHash {
        if let Some((_, hash)) = self.taken.first_key_value().filter(|_| self.taken.len() == 1) {
            return *hash;
        }
        let mut all = Vec::new();
        for (path, hash) in &self.taken {
            all.extend((path.len() as u64).to_be_bytes());
            all.extend(path.as_bytes());
            all.extend(hash.to_hex().as_bytes());
        }
        ContentHash::of(&all)
    }

    /// The bytes of one file.
    pub(super) fn read(&mut self, path: &str) -> Result<Vec<u8>, Box<Finding>> {
        let bytes = self.bytes_of(path)?;
        if !self.taken.contains_key(path) {
            self.bytes = self.bytes.saturating_add(bytes.len() as u64);
            self.taken.insert(path.to_owned(), ContentHash::of(&bytes));
        }
        if self.bytes > self.limits.total_bytes {
            let most = self.limits.total_bytes >> 20;
            let message = format!("the source holds more than {most} MB of results");
            return Err(Box::new(Finding::error("too_large", path, message).hint("import it in parts")));
        }
        Ok(bytes)
    }

    /// The first bytes of a file, only to see what it is: it does not count as read.
    pub(super) fn peek(&self, path: &str, most: usize) -> Vec<u8> {
        match &self.place {
            Place::Memory(files) => {
                files.get(path).map(|bytes| bytes.iter().copied().take(most).collect()).unwrap_or_default()
            }
            Place::Disk(files) => {
                let mut bytes = Vec::new();
                let file = files.get(path).and_then(|real| File::open(real).ok());
                file.and_then(|file| file.take(most as u64).read_to_end(&mut bytes).ok());
                bytes
            }
        }
    }

    /// One file as JSON; a byte order mark is passed over.
    pub(super) fn json<T: DeserializeOwned>(&mut self, path: &str) -> Result<T, Box<Finding>> {
        let bytes = self.read(path)?;
        parse(path, &bytes)
    }

    /// The bytes of one file, within the limits, only to see what it is: it does not count as read.
    pub(super) fn bytes_of(&self, path: &str) -> Result<Vec<u8>, Box<Finding>> {
        let refuse = |code: &str, why: String, hint: &str| Box::new(Finding::error(code, path, why).hint(hint));
        let files = match &self.place {
            Place::Memory(files) => {
                return files.get(path).cloned().ok_or_else(|| {
                    refuse("unreadable", "the file is not there".to_owned(), "bring the folder as the runner left it")
                });
            }
            Place::Disk(files) => files,
        };
        let real = files.get(path);
        let real = real.ok_or_else(|| {
            refuse("unreadable", "the file is not there".to_owned(), "bring the folder as the runner left it")
        })?;
        let most = self.limits.file_bytes;
        let mut bytes = Vec::new();
        File::open(real)
            .and_then(|file| file.take(most.saturating_add(1)).read_to_end(&mut bytes))
            .map_err(|error| refuse("unreadable", format!("the file cannot be read: {error}"), "make it readable"))?;
        if bytes.len() as u64 > most {
            let why = format!("the file is larger than {} MB", most >> 20);
            return Err(refuse("too_large", why, "split it, or leave it out"));
        }
        Ok(bytes)
    }

    fn list(&mut self, folder: &Path, at: &str, depth: usize, found: &mut BTreeMap<String, PathBuf>) {
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) => {
                let shown = if at.is_empty() { self.name.clone() } else { at.to_owned() };
                let finding = Finding::warning("unreadable", shown, format!("the folder cannot be read: {error}"));
                return self.findings.push(finding.hint("make it readable and import again"));
            }
        };
        for entry in entries.flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = if at.is_empty() { name.clone() } else { format!("{at}/{name}") };
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_symlink() {
                let finding = Finding::warning("link", path, "links are not followed; this one was left out");
                self.findings.push(finding.hint("put the file itself there"));
            } else if kind.is_dir() && depth >= DEEPEST {
                let message = format!("the folder lies deeper than {DEEPEST} and was left out");
                self.findings.push(Finding::warning("too_deep", path, message).hint("import it by itself"));
            } else if kind.is_dir() && name != ".git" {
                self.list(&entry.path(), &path, depth + 1, found);
            } else if kind.is_file() && found.len() < self.limits.files {
                found.insert(path, entry.path());
            } else if kind.is_file() {
                self.too_many(path);
            }
        }
    }

    /// Said once.
    fn too_many(&mut self, path: String) {
        if self.findings.iter().any(|finding| finding.code == "too_many_files") {
            return;
        }
        let message = format!("there are more than {} files; the others were left out", self.limits.files);
        let finding = Finding::warning("too_many_files", path, message);
        self.findings.push(finding.hint("import the folders in it one by one"));
    }
}

/// Bytes as JSON; the finding names line and column.
pub(super) fn parse<T: DeserializeOwned>(path: &str, bytes: &[u8]) -> Result<T, Box<Finding>> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    serde_json::from_slice(bytes).map_err(|error| Box::new(json_error(path, &error, 0)))
}

/// A parser's complaint as a finding; `lines_before` stand before what was parsed.
pub(super) fn json_error(path: &str, error: &serde_json::Error, lines_before: usize) -> Finding {
    let place = u32::try_from(error.line().saturating_add(lines_before)).ok().filter(|line| *line > 0);
    let column = u32::try_from(error.column()).ok().filter(|column| *column > 0);
    let text = error.to_string();
    let reason = text.split(" at line ").next().unwrap_or_default().to_owned();
    let (code, message, hint) = if error.is_data() {
        (
            "json_shape",
            format!("this is not what the format has here: {reason}"),
            "bring the file as the runner wrote it",
        )
    } else {
        (
            "json_syntax",
            format!("this is no JSON: {reason}"),
            "the file may have been cut; bring it as the runner wrote it",
        )
    };
    let finding = Finding::error(code, path, message).hint(hint);
    match place {
        Some(line) => finding.at(line, column),
        None => finding,
    }
}
