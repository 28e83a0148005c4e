//! Skills from a folder on disk. Links are neither followed nor kept; the only files opened are those of skills.

use std::fs::{self, DirEntry, File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use domain::path::RelPath;

use super::assemble::{Budget, Source, assemble};
use super::files::read_upload;
use super::intake::Intake;
use super::layout;
use super::limits::{IntakeLimits, IntakeRefusal};
use super::listing::{Kind, Listed, Listing, Mode};

/// Entries looked at in a folder, a whole repository perhaps, of which only the files of skills count against the limits.
const MAX_WALKED: usize = 200_000;

/// Reads the skills of a folder, which is one itself or holds some at any depth. A link in `path` itself is followed.
///
/// # Errors
/// [`IntakeRefusal`] where it cannot be read, or a limit is passed.
pub fn read_folder(path: &Path, limits: &IntakeLimits) -> Result<Intake, IntakeRefusal> {
    let top = fs::canonicalize(path).map_err(|source| IntakeRefusal::Io { path: path.to_owned(), source })?;
    let mut listing = Listing::new(&path.display().to_string());
    listing.top_folder = top.file_name().and_then(|name| name.to_str()).map(str::to_owned);
    listing.case_kept = true;
    let mut walk = Walk { listing, files: Vec::new(), folders: vec![(top, String::new())], limits };
    while let Some((folder, prefix)) = walk.folders.pop() {
        walk.folder(&folder, &prefix)?;
    }
    assemble(walk.listing, &mut Opener(walk.files), limits)
}

/// Reads whatever lies at `path`: a folder, an archive, a `SKILL.md`.
///
/// # Errors
/// [`IntakeRefusal`] as [`read_folder`] and [`read_upload`].
pub fn read_path(path: &Path, limits: &IntakeLimits) -> Result<Intake, IntakeRefusal> {
    let unreadable = |source| IntakeRefusal::Io { path: path.to_owned(), source };
    let metadata = fs::metadata(path).map_err(unreadable)?;
    if metadata.is_dir() {
        return read_folder(path, limits);
    }
    if metadata.len() > limits.max_upload_bytes {
        return Err(IntakeRefusal::UploadTooLarge { bytes: metadata.len(), limit: limits.max_upload_bytes });
    }
    let room = Budget { left: limits.max_upload_bytes, limit: limits.max_upload_bytes };
    let name = path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned());
    read_upload(read_file(path, &name, room)?, &name, limits)
}

struct Walk<'l> {
    listing: Listing,
    /// By handle.
    files: Vec<PathBuf>,
    /// Still to be walked, each with its path from the top and a closing `/`.
    folders: Vec<(PathBuf, String)>,
    limits: &'l IntakeLimits,
}

impl Walk<'_> {
    fn folder(&mut self, folder: &Path, prefix: &str) -> Result<(), IntakeRefusal> {
        let unreadable = |source| IntakeRefusal::Io { path: folder.to_owned(), source };
        let mut children: Vec<DirEntry> =
            fs::read_dir(folder).and_then(Iterator::collect::<io::Result<_>>).map_err(unreadable)?;
        children.sort_by_key(DirEntry::file_name);
        if self.listing.looked_at + children.len() > MAX_WALKED {
            return Err(IntakeRefusal::TooManyEntries { count: MAX_WALKED + 1, limit: MAX_WALKED });
        }
        children.iter().try_for_each(|child| self.child(child, prefix))
    }

    fn child(&mut self, child: &DirEntry, prefix: &str) -> Result<(), IntakeRefusal> {
        let place = child.path();
        let metadata =
            fs::symlink_metadata(&place).map_err(|source| IntakeRefusal::Io { path: place.clone(), source })?;
        let (name, name_kept) = kept_name(child);
        let path = format!("{prefix}{name}");
        if metadata.is_dir() && name_kept {
            if let Some(litter) = layout::litter(&path) {
                self.listing.left_out.insert(litter);
                return Ok(());
            }
            self.listing.add_folder(&path, self.limits)?;
            self.folders.push((place, format!("{path}/")));
            return Ok(());
        }
        let kind = if name_kept { kind_of(&metadata) } else { Kind::Unusable(UNKEPT_NAME.to_owned()) };
        self.listing.add(&path, kind, self.files.len(), self.limits)?;
        self.files.push(place);
        Ok(())
    }
}

const UNKEPT_NAME: &str = "the name is not UTF-8, or holds a backslash or a control character";

/// The name of a child, and whether it is the name it really has.
fn kept_name(child: &DirEntry) -> (String, bool) {
    let name = child.file_name();
    match name.to_str().filter(|name| RelPath::new(&format!("x/{name}")).is_ok()) {
        Some(name) => (name.to_owned(), true),
        None => {
            let plain = |c: char| if c == '\\' || c.is_control() { '\u{fffd}' } else { c };
            (name.to_string_lossy().chars().map(plain).collect(), false)
        }
    }
}

fn kind_of(metadata: &Metadata) -> Kind {
    if metadata.is_symlink() {
        Kind::Link
    } else if metadata.is_file() {
        Kind::File(mode_of(metadata))
    } else {
        Kind::Unusable("a device, pipe or socket".to_owned())
    }
}

#[cfg(unix)]
fn mode_of(metadata: &Metadata) -> Mode {
    use std::os::unix::fs::MetadataExt;
    Mode::Unix(metadata.mode())
}

#[cfg(not(unix))]
fn mode_of(_: &Metadata) -> Mode {
    Mode::Unknown
}

struct Opener(Vec<PathBuf>);

impl Source for Opener {
    fn read(&mut self, entry: &Listed, room: Budget) -> Result<Vec<u8>, IntakeRefusal> {
        let missing = || IntakeRefusal::Io { path: entry.path.as_str().into(), source: io::ErrorKind::NotFound.into() };
        let place = self.0.get(entry.handle).ok_or_else(missing)?;
        read_file(place, entry.path.as_str(), room)
    }
}

fn read_file(place: &Path, entry: &str, room: Budget) -> Result<Vec<u8>, IntakeRefusal> {
    let mut bytes = Vec::new();
    let read = File::open(place).and_then(|file| file.take(room.left.saturating_add(1)).read_to_end(&mut bytes));
    read.map_err(|source| IntakeRefusal::Io { path: place.to_owned(), source })?;
    if bytes.len() as u64 > room.left {
        return Err(IntakeRefusal::Unpacked { entry: entry.to_owned(), limit: room.limit });
    }
    Ok(bytes)
}
