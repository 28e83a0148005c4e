//! How much room a disk has.

use std::io;
use std::path::Path;

/// Room on the disk that holds a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FreeSpace {
    /// Bytes that we can still write.
    pub free: u64,
    /// Bytes of the whole disk.
    pub total: u64,
}

/// Asks for the room on the disk that holds `path`, which must exist.
///
/// # Errors
/// What the system says.
pub fn free_space(path: &Path) -> io::Result<FreeSpace> {
    let stat = rustix::fs::statvfs(path)?;
    Ok(FreeSpace {
        free: stat.f_bavail.saturating_mul(stat.f_frsize),
        total: stat.f_blocks.saturating_mul(stat.f_frsize),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_has_room_and_a_missing_path_is_an_error() {
        let space = free_space(Path::new("/")).unwrap();
        assert!(space.total > 0 && space.free <= space.total, "{space:?}");
        assert!(free_space(Path::new("/no/such/path")).is_err());
    }
}
