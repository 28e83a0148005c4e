//! A folder of files as one zip archive. The same files give the same bytes.

use std::io::{Cursor, Write};

use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use super::{ExportError, ExportFile};

/// The files in an archive, below a folder called `folder`.
///
/// # Errors
/// [`ExportError::Write`] where two files have one name.
pub fn zipped(folder: &str, files: &[ExportFile]) -> Result<Vec<u8>, ExportError> {
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .last_modified_time(DateTime::default())
        .unix_permissions(0o644);
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for file in files {
        zip.start_file(format!("{folder}/{}", file.path), options).map_err(ExportError::write)?;
        zip.write_all(&file.bytes).map_err(ExportError::write)?;
    }
    Ok(zip.finish().map_err(ExportError::write)?.into_inner())
}
