//! Skills from the tree of a git commit, which is listed and read by somebody else: nothing is checked out.

use std::io;

use domain::path::RelPath;

use super::assemble::{Budget, Source, assemble};
use super::intake::Intake;
use super::limits::{IntakeLimits, IntakeRefusal};
use super::listing::{Kind, Listed, Listing, Mode};

/// Entries of a repository that are looked at.
const MAX_LISTED: usize = 200_000;

/// An entry of a commit's tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeItem {
    /// Its path below the folder that is read, as the repository spells it.
    pub path: Vec<u8>,
    /// What it is.
    pub kind: TreeItemKind,
}

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TreeItemKind {
    /// A file.
    File {
        /// Whether it has its execute bit.
        executable: bool,
    },
    /// A symbolic link; never followed.
    Link,
    /// A commit of another repository; never fetched.
    Submodule,
}

/// Reads the skills of a commit. `name` is what the user calls it, `folder` the name of the folder that stands for the top, and `read`
/// answers the content of the entry with this index, or `FileTooLarge` where it has more than so many bytes.
///
/// # Errors
/// [`IntakeRefusal`] where something cannot be read, or a limit is passed.
pub fn read_tree(
    name: &str,
    folder: Option<&str>,
    items: &[TreeItem],
    read: impl FnMut(usize, u64) -> io::Result<Vec<u8>>,
    limits: &IntakeLimits,
) -> Result<Intake, IntakeRefusal> {
    if items.len() > MAX_LISTED {
        return Err(IntakeRefusal::TooManyEntries { count: items.len(), limit: MAX_LISTED });
    }
    let mut listing = Listing::new(name);
    listing.top_folder = folder.map(str::to_owned);
    listing.case_kept = true;
    for (index, item) in items.iter().enumerate() {
        let kept = std::str::from_utf8(&item.path).ok().filter(|path| RelPath::new(path).is_ok());
        match kept {
            Some(path) => listing.add(path, kind(item.kind), index, limits)?,
            // A name that no tree of ours can hold stands somewhere in many a repository; it only matters in a skill.
            None => {
                let plain = |c: char| if c == '\\' || c.is_control() { '\u{fffd}' } else { c };
                let path: String = String::from_utf8_lossy(&item.path).chars().map(plain).collect();
                let why = "the name is not UTF-8, or holds a backslash or a control character";
                listing.add(&path, Kind::Unusable(why.to_owned()), index, limits)?;
            }
        }
    }
    assemble(listing, &mut Reader(read), limits)
}

fn kind(kind: TreeItemKind) -> Kind {
    match kind {
        TreeItemKind::File { executable } => Kind::File(Mode::Unix(if executable { 0o755 } else { 0o644 })),
        TreeItemKind::Link => Kind::Link,
        TreeItemKind::Submodule => Kind::Unusable("a submodule, which is not fetched".to_owned()),
    }
}

struct Reader<F>(F);

impl<F: FnMut(usize, u64) -> io::Result<Vec<u8>>> Source for Reader<F> {
    fn read(&mut self, entry: &Listed, room: Budget) -> Result<Vec<u8>, IntakeRefusal> {
        (self.0)(entry.handle, room.left).map_err(|source| match source.kind() {
            io::ErrorKind::FileTooLarge => IntakeRefusal::Unpacked { entry: entry.path.to_string(), limit: room.limit },
            _ => IntakeRefusal::Io { path: entry.path.as_str().into(), source },
        })
    }
}
