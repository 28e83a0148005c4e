//! Words to who looks at the terminal. One who no longer listens (`| head`) ends nothing: what runs, runs on, and is cleaned up after.

use std::io::{self, Write as _};

use super::Failure;

/// A line beside the result.
pub fn tell(line: &str) {
    // Nobody is left to be told that nobody listens.
    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// The result itself.
///
/// # Errors
/// Where it cannot be written; a reader that has seen enough is no error.
pub fn print(text: &str) -> Result<(), Failure> {
    match io::stdout().lock().write_all(text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}
