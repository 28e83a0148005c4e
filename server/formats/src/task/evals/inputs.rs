//! What lies beside an `evals.json`: the files that its cases ask for, and a Dockerfile. Nothing outside the skill's folder is read.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use domain::finding::Finding;
use domain::path::RelPath;
use domain::tree::LoadedFile;

use super::FILE;
use super::source::Case;
use crate::task::settings::brief;

const MAX_FILE_BYTES: u64 = 64 << 20;
const MAX_FILES: usize = 500;

/// The folders that names of files are seen from.
pub(super) struct Inputs {
    /// Of the file itself.
    folder: PathBuf,
    /// Of the skill: the one above where the file lies in `evals/`.
    root: PathBuf,
}

impl Inputs {
    pub(super) fn beside(path: &Path) -> Self {
        let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let folder = real.parent().map(Path::to_owned).unwrap_or_default();
        let root = match folder.parent() {
            Some(above) if folder.ends_with("evals") => above.to_owned(),
            _ => folder.clone(),
        };
        Self { folder, root }
    }

    /// The name of the skill's folder.
    pub(super) fn owner(&self) -> String {
        self.root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// The text of a Dockerfile beside the file.
    pub(super) fn dockerfile(&self) -> Option<String> {
        let bytes = read_file(&self.folder.join("Dockerfile"), 1 << 20).ok()?;
        String::from_utf8(bytes).ok().map(|text| text.replace("\r\n", "\n"))
    }

    /// The files of a case with their places in the build context.
    pub(super) fn of(&self, case: &Case<'_>, findings: &mut Vec<Finding>) -> Vec<(RelPath, LoadedFile)> {
        let mut files: Vec<(RelPath, LoadedFile)> = Vec::new();
        for name in &case.files {
            let wrong = |message: String, hint: &str| {
                Finding::error("input_file", FILE, message).at(case.line, None).hint(hint)
            };
            if files.len() >= MAX_FILES {
                findings.push(wrong(format!("the case has more than {MAX_FILES} files"), "pack them into one"));
                break;
            }
            let read = self.find(name).and_then(|path| {
                let executable = path.metadata().is_ok_and(|data| data.permissions().mode() & 0o111 != 0);
                read_file(&path, MAX_FILE_BYTES).map(|bytes| LoadedFile { executable, bytes })
            });
            match (read, place(name, &case.prompt)) {
                (Ok(_), Some(place)) if files.iter().any(|(taken, _)| *taken == place) => {
                    let message = format!("two files of the case would lie at `{}`", brief(place.file_name()));
                    findings.push(wrong(
                        message,
                        "put files whose place matters below `files/`: they keep their path below it",
                    ));
                }
                (Ok(file), Some(place)) => files.push((place, file)),
                (Ok(_), None) => {
                    findings.push(wrong(format!("{:?} is no path of a file", brief(name)), "write it as `files/name`"))
                }
                (Err(message), _) => findings.push(wrong(
                    format!("{:?}: {message}", brief(name)),
                    "name files as seen from evals.json or from the skill's folder, and ship them with it",
                )),
            }
        }
        files
    }

    /// Seen from the file, or from the skill's folder as skill-creator writes it.
    fn find(&self, name: &str) -> Result<PathBuf, String> {
        let found = [&self.folder, &self.root].into_iter().find_map(|from| from.join(name).canonicalize().ok());
        let found = found.ok_or("there is no such file")?;
        if !found.starts_with(&self.root) {
            return Err("it lies outside the skill's folder".to_owned());
        }
        Ok(found)
    }
}

/// Where a file goes in the build context, whose `files/` becomes the working folder: at the path by which the prompt speaks of it, else at its path
/// below a `files/` folder, else by its name alone.
fn place(name: &str, prompt: &str) -> Option<RelPath> {
    let name = name.trim_start_matches("./");
    let below = || {
        name.split_once("files/").filter(|(above, _)| above.is_empty() || above.ends_with('/')).map(|(_, path)| path)
    };
    let path = if name.contains('/') && prompt.contains(name) {
        name
    } else {
        below().unwrap_or_else(|| name.rsplit('/').next().unwrap_or(name))
    };
    RelPath::new(&format!("environment/files/{path}")).ok()
}

/// A file of at most `limit` bytes.
///
/// # Errors
/// Why it could not be read, in words.
pub(super) fn read_file(path: &Path, limit: u64) -> Result<Vec<u8>, String> {
    let unreadable = |error: std::io::Error| format!("it cannot be read: {error}");
    if !path.metadata().map_err(unreadable)?.is_file() {
        return Err("it is no file".to_owned());
    }
    let mut bytes = Vec::new();
    File::open(path).map_err(unreadable)?.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > limit { Err(format!("it has more than {} MiB", limit >> 20)) } else { Ok(bytes) }
}
