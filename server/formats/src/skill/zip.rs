//! Skills from a zip or `.skill` archive. The directory is checked whole first; then entries are unpacked one by one under a count of
//! real bytes, so that neither a bomb nor a lying header costs memory.

use std::io::{Cursor, Read};

use zip::read::{Config, ZipFileEntry};
use zip::result::ZipError;
use zip::unstable::read::ZipIterable;
use zip::{CompressionMethod, System, ZipReadOptions};

use super::assemble::{Budget, Source, assemble};
use super::intake::Intake;
use super::limits::{IntakeLimits, IntakeRefusal, RATIO_FREE_BYTES};
use super::listing::{Kind, Listed, Listing, Mode};

const TYPE: u32 = 0o170_000;
const LINK: u32 = 0o120_000;
const FOLDER: u32 = 0o040_000;
const FILE: u32 = 0o100_000;

/// Reads the skills of an archive; `name` is what the user calls it.
///
/// # Errors
/// [`IntakeRefusal`] where the archive as a whole is hostile, damaged or over a limit; nothing of it is used then.
pub fn read_zip(bytes: &[u8], name: &str, limits: &IntakeLimits) -> Result<Intake, IntakeRefusal> {
    let size = bytes.len() as u64;
    if size > limits.max_upload_bytes {
        return Err(IntakeRefusal::UploadTooLarge { bytes: size, limit: limits.max_upload_bytes });
    }
    let archive = |source| IntakeRefusal::Archive { source };
    let mut zip = ZipIterable::try_new(Cursor::new(bytes), Config::default()).map_err(archive)?;
    // Asked before the entries are walked: a directory of a million empty entries is small as an upload and large in memory.
    if zip.len() > limits.max_entries {
        return Err(IntakeRefusal::TooManyEntries { count: zip.len(), limit: limits.max_entries });
    }
    let mut listing = Listing::new(name);
    let mut entries = Vec::new();
    for entry in zip.files().map_err(archive)? {
        let entry = entry.map_err(archive)?;
        list(&mut listing, &entry, entries.len(), limits)?;
        entries.push(Some(entry));
    }
    let mut source = Unpacker { reader: Cursor::new(bytes), entries, max_ratio: limits.max_ratio };
    assemble(listing, &mut source, limits)
}

fn list(
    listing: &mut Listing,
    entry: &ZipFileEntry<'_>,
    number: usize,
    limits: &IntakeLimits,
) -> Result<(), IntakeRefusal> {
    let name = entry_name(entry, number)?;
    if entry.encrypted() {
        return Err(IntakeRefusal::Encrypted { entry: name });
    }
    let mode = entry.external_attributes() >> 16;
    let path = name.strip_suffix('/').unwrap_or(&name);
    let unix = matches!(entry.system(), System::Unix | System::OsDarwin);
    match mode & TYPE {
        LINK => listing.add(path, Kind::Link, number, limits),
        _ if name.ends_with('/') => listing.add_folder(path, limits),
        FOLDER if unix => listing.add_folder(path, limits),
        0 | FILE if unix && mode != 0 => listing.add(path, Kind::File(Mode::Unix(mode)), number, limits),
        kind if unix && kind != 0 => {
            listing.add(path, Kind::Unusable("a device, pipe or socket".to_owned()), number, limits)
        }
        _ => listing.add(path, Kind::File(Mode::Unknown), number, limits),
    }
}

fn entry_name(entry: &ZipFileEntry<'_>, number: usize) -> Result<String, IntakeRefusal> {
    let raw = entry.name_raw();
    let name = std::str::from_utf8(raw).map_err(|_| {
        let lossy = String::from_utf8_lossy(raw).chars().take(200).collect();
        IntakeRefusal::EntryName { number: number + 1, lossy }
    })?;
    // Some Windows programs write their own separator, against the format.
    let windows = matches!(entry.system(), System::Dos | System::WindowsNTFS | System::VFAT);
    Ok(if windows && !name.contains('/') { name.replace('\\', "/") } else { name.to_owned() })
}

struct Unpacker<'b> {
    reader: Cursor<&'b [u8]>,
    entries: Vec<Option<ZipFileEntry<'static>>>,
    max_ratio: u64,
}

impl Source for Unpacker<'_> {
    fn read(&mut self, listed: &Listed, room: Budget) -> Result<Vec<u8>, IntakeRefusal> {
        let name = || listed.path.to_string();
        let unreadable = |source| IntakeRefusal::Entry { entry: name(), source };
        let entry = self.entries.get_mut(listed.handle).and_then(Option::take);
        let entry = entry.ok_or_else(|| unreadable(ZipError::FileNotFound))?;
        if !matches!(entry.compression(), CompressionMethod::Stored | CompressionMethod::Deflated) {
            let method = entry.compression().to_string();
            return Err(IntakeRefusal::Method { entry: name(), method });
        }
        let by_ratio = RATIO_FREE_BYTES.max(entry.compressed_size().saturating_mul(self.max_ratio));
        let most = by_ratio.min(room.left);
        let file = entry.with_reader(&mut self.reader, ZipReadOptions::new()).map_err(unreadable)?;
        let mut bytes = Vec::new();
        file.take(most.saturating_add(1)).read_to_end(&mut bytes).map_err(|error| unreadable(ZipError::Io(error)))?;
        if bytes.len() as u64 <= most {
            Ok(bytes)
        } else if by_ratio < room.left {
            Err(IntakeRefusal::Ratio { entry: name(), ratio: self.max_ratio })
        } else {
            Err(IntakeRefusal::Unpacked { entry: name(), limit: room.limit })
        }
    }
}
