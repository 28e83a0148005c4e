//! Lines and columns, and bytes that are no text.

use domain::finding::Finding;

/// The bytes as text, without a byte order mark.
pub(super) fn text<'a>(file: &str, bytes: &'a [u8]) -> Result<&'a str, Box<Finding>> {
    if bytes.starts_with(&[0xFF, 0xFE]) || bytes.starts_with(&[0xFE, 0xFF]) {
        let finding = Finding::error("not_utf8", file, "the file is in UTF-16");
        return Err(Box::new(finding.hint("save it as UTF-8")));
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.strip_prefix('\u{feff}').unwrap_or(text)),
        Err(error) => {
            let valid = bytes.get(..error.valid_up_to()).and_then(|valid| std::str::from_utf8(valid).ok());
            let (line, column) = of_end(valid.unwrap_or_default());
            let finding = Finding::error("not_utf8", file, "here is a byte that is not UTF-8 text");
            Err(Box::new(finding.at(line, Some(column)).hint("save the file as UTF-8")))
        }
    }
}

/// Line and column, from 1, of what follows `text`.
pub(super) fn of_end(text: &str) -> (u32, u32) {
    let lines = text.bytes().filter(|byte| *byte == b'\n').count();
    let last = text.rsplit('\n').next().unwrap_or_default();
    (small(lines + 1), small(last.chars().count() + 1))
}

/// As a line or column number.
pub(super) fn small(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
