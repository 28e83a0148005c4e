//! Skills from files that come one by one, as a browser sends a dropped folder, and from a single `SKILL.md`.

use super::assemble::{self, Budget, Source, assemble};
use super::intake::Intake;
use super::layout::SKILL_MD;
use super::limits::{IntakeLimits, IntakeRefusal};
use super::listing::{Kind, Listed, Listing, Mode};
use super::zip::read_zip;

/// Reads the skills among files given as (path, bytes). They have no modes: what begins with `#!` is made executable.
///
/// # Errors
/// [`IntakeRefusal`] where a path leaves the upload, two are equal, or a limit is passed.
pub fn read_files(files: Vec<(String, Vec<u8>)>, limits: &IntakeLimits) -> Result<Intake, IntakeRefusal> {
    if files.len() > limits.max_entries {
        return Err(IntakeRefusal::TooManyEntries { count: files.len(), limit: limits.max_entries });
    }
    let name = match files.as_slice() {
        [(path, _)] => path.clone(),
        _ => "upload".to_owned(),
    };
    let mut listing = Listing::new(&name);
    let mut contents = Vec::new();
    for (handle, (path, bytes)) in files.into_iter().enumerate() {
        listing.add(&path, Kind::File(Mode::Unknown), handle, limits)?;
        contents.push(bytes);
    }
    assemble(listing, &mut Contents(contents), limits)
}

/// Reads one upload by what it is: an archive by its first bytes, a Markdown file as a skill of one file.
///
/// # Errors
/// [`IntakeRefusal`] as [`read_zip`], and [`IntakeRefusal::UnknownKind`].
pub fn read_upload(bytes: Vec<u8>, name: &str, limits: &IntakeLimits) -> Result<Intake, IntakeRefusal> {
    let lower = name.to_lowercase();
    let packed = bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"PK\x05\x06");
    if packed || lower.ends_with(".zip") || lower.ends_with(".skill") {
        return read_zip(&bytes, name, limits);
    }
    if !lower.ends_with(".md") {
        return Err(IntakeRefusal::UnknownKind);
    }
    let size = bytes.len() as u64;
    if size > limits.max_upload_bytes {
        return Err(IntakeRefusal::UploadTooLarge { bytes: size, limit: limits.max_upload_bytes });
    }
    read_single(bytes, name, limits)
}

/// Reads a skill that is one file. `name` must be `SKILL.md`, unless the limits allow to rename it.
///
/// # Errors
/// [`IntakeRefusal`] where a limit is passed.
pub fn read_single(bytes: Vec<u8>, name: &str, limits: &IntakeLimits) -> Result<Intake, IntakeRefusal> {
    let file_name = name.rsplit(['/', '\\']).next().unwrap_or(name);
    if file_name != SKILL_MD && !limits.rename_skill_md {
        let refused = vec![assemble::misnamed(name, file_name, Some(&bytes), None)];
        return Ok(Intake { refused, ..Intake::default() });
    }
    let mut listing = Listing::new(name);
    listing.add(SKILL_MD, Kind::File(Mode::Unknown), 0, limits)?;
    if file_name != SKILL_MD {
        listing.entries.iter_mut().for_each(|entry| entry.renamed_from = Some(file_name.to_owned()));
    }
    assemble(listing, &mut Contents(vec![bytes]), limits)
}

struct Contents(Vec<Vec<u8>>);

impl Source for Contents {
    fn read(&mut self, entry: &Listed, room: Budget) -> Result<Vec<u8>, IntakeRefusal> {
        let bytes = self.0.get_mut(entry.handle).map(std::mem::take).unwrap_or_default();
        if bytes.len() as u64 > room.left {
            return Err(IntakeRefusal::Unpacked { entry: entry.path.to_string(), limit: room.limit });
        }
        Ok(bytes)
    }
}
