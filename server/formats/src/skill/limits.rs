//! What an upload may cost, and why a whole upload is refused.

use std::io;
use std::path::PathBuf;

use domain::finding::Finding;
use domain::path::{MAX_PATH_BYTES, MAX_PATH_DEPTH, PathError};

const MIB: u64 = 1024 * 1024;

/// Caps on what is read. None can be passed by lying headers: bytes are counted as they are unpacked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IntakeLimits {
    /// Bytes of an archive as uploaded. Default 50 MiB.
    pub max_upload_bytes: u64,
    /// Bytes of all files of all skills of one upload together, unpacked. Default 100 MiB.
    pub max_unpacked_bytes: u64,
    /// Entries of an archive, files of an upload, or files within the skills of a folder. Default 10,000.
    pub max_entries: usize,
    /// Skills of one upload, good or not. Default 1,000.
    pub max_skills: usize,
    /// Bytes of a path. Default and most: [`MAX_PATH_BYTES`].
    pub max_path_bytes: usize,
    /// Segments of a path. Default and most: [`MAX_PATH_DEPTH`].
    pub max_path_depth: usize,
    /// How many times its packed size an entry may unpack to, once it has unpacked to more than 1 MiB. Default 200.
    pub max_ratio: u64,
    /// A person asked for it: a file called `skill.md` or `Skill.md` is taken as `SKILL.md`, which makes another version. Default off.
    pub rename_skill_md: bool,
}

impl Default for IntakeLimits {
    fn default() -> Self {
        Self {
            max_upload_bytes: 50 * MIB,
            max_unpacked_bytes: 100 * MIB,
            max_entries: 10_000,
            max_skills: 1_000,
            max_path_bytes: MAX_PATH_BYTES,
            max_path_depth: MAX_PATH_DEPTH,
            max_ratio: 200,
            rename_skill_md: false,
        }
    }
}

/// An entry may unpack to this many bytes whatever its ratio.
pub(super) const RATIO_FREE_BYTES: u64 = MIB;

/// Why a whole upload was refused. Nothing of it was kept or written.
#[derive(Debug, thiserror::Error)]
pub enum IntakeRefusal {
    /// The upload itself is too large.
    #[error("the upload has {bytes} bytes, the limit is {limit}", limit = mebibytes(*.limit))]
    UploadTooLarge {
        /// Its size.
        bytes: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// Neither an archive nor a Markdown file.
    #[error("neither a zip archive nor a `SKILL.md`")]
    UnknownKind,
    /// The archive's directory cannot be read.
    #[error("the zip archive cannot be read")]
    Archive {
        /// Why.
        #[source]
        source: zip::result::ZipError,
    },
    /// One entry cannot be unpacked.
    #[error("the entry `{entry}` cannot be unpacked")]
    Entry {
        /// Its name.
        entry: String,
        /// Why.
        #[source]
        source: zip::result::ZipError,
    },
    /// An entry is packed in a way that is not read.
    #[error("the entry `{entry}` is packed by the method {method}; only stored and deflated entries are read")]
    Method {
        /// Its name.
        entry: String,
        /// The method's name or number.
        method: String,
    },
    /// An entry needs a password.
    #[error("the entry `{entry}` is encrypted")]
    Encrypted {
        /// Its name.
        entry: String,
    },
    /// The name of an entry is no UTF-8.
    #[error("the name of entry {number}, `{lossy}`, is not UTF-8")]
    EntryName {
        /// Its place in the archive, from 1.
        number: usize,
        /// What can be read of it.
        lossy: String,
    },
    /// A path that leaves the upload, or is none.
    #[error("the path `{entry}` is refused")]
    Path {
        /// The path as given.
        entry: String,
        /// Why.
        #[source]
        source: PathError,
    },
    /// A path above the limits of this intake.
    #[error("the path `{entry}` is longer than {bytes} bytes or deeper than {depth} folders")]
    PathTooLong {
        /// The path, cut.
        entry: String,
        /// The limit in bytes.
        bytes: usize,
        /// The limit in segments.
        depth: usize,
    },
    /// More entries than are allowed.
    #[error("{count} entries, the limit is {limit}")]
    TooManyEntries {
        /// How many there are, as far as was counted.
        count: usize,
        /// The limit.
        limit: usize,
    },
    /// More skills than are allowed.
    #[error("{count} skills, the limit is {limit}")]
    TooManySkills {
        /// How many there are.
        count: usize,
        /// The limit.
        limit: usize,
    },
    /// More bytes than are allowed once unpacked.
    #[error("the files have more than {limit} together, seen at `{entry}`", limit = mebibytes(*.limit))]
    Unpacked {
        /// The entry at which the limit was passed.
        entry: String,
        /// The limit in bytes.
        limit: u64,
    },
    /// An entry that unpacks to far more than its packed size.
    #[error("the entry `{entry}` unpacks to more than {ratio} times its packed size")]
    Ratio {
        /// Its name.
        entry: String,
        /// The limit.
        ratio: u64,
    },
    /// Two entries of one name.
    #[error("the path `{entry}` stands in the upload twice")]
    Duplicate {
        /// The name.
        entry: String,
    },
    /// An entry below what is a file.
    #[error("the path `{entry}` lies below `{file}`, which is a file")]
    BelowFile {
        /// The file.
        file: String,
        /// The entry below it.
        entry: String,
    },
    /// An entry that would be written through a symbolic link.
    #[error("the path `{entry}` lies below the symbolic link `{link}`")]
    BelowLink {
        /// The link.
        link: String,
        /// The entry below it.
        entry: String,
    },
    /// A folder or file on this machine cannot be read.
    #[error("`{}` cannot be read", path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}

impl IntakeRefusal {
    /// The stable word for the kind.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::UploadTooLarge { .. } => "upload_too_large",
            Self::UnknownKind => "unknown_kind",
            Self::Archive { .. } => "archive_unreadable",
            Self::Entry { .. } => "entry_unreadable",
            Self::Method { .. } => "entry_method",
            Self::Encrypted { .. } => "entry_encrypted",
            Self::EntryName { .. } => "entry_name_not_utf8",
            Self::Path { .. } => "path_refused",
            Self::PathTooLong { .. } => "path_too_long",
            Self::TooManyEntries { .. } => "too_many_entries",
            Self::TooManySkills { .. } => "too_many_skills",
            Self::Unpacked { .. } => "unpacked_too_large",
            Self::Ratio { .. } => "ratio_too_large",
            Self::Duplicate { .. } => "duplicate_path",
            Self::BelowFile { .. } => "path_below_file",
            Self::BelowLink { .. } => "path_below_link",
            Self::Io { .. } => "unreadable",
        }
    }

    /// What to do about it.
    #[must_use]
    pub const fn remedy(&self) -> &'static str {
        match self {
            Self::UploadTooLarge { .. } | Self::Unpacked { .. } => {
                "leave out what the skill does not need, such as data sets and build results"
            }
            Self::UnknownKind => "hand over a folder, a `.zip` or `.skill` archive, or a file called `SKILL.md`",
            Self::Archive { .. } | Self::Entry { .. } | Self::Method { .. } => {
                "pack it again as an ordinary zip archive (deflate)"
            }
            Self::Encrypted { .. } => "pack it without a password",
            Self::EntryName { .. } => "pack it with a program that writes names in UTF-8, or use plain letters",
            Self::Path { .. } => "use paths relative to the top of the upload, with `/` between plain names",
            Self::PathTooLong { .. } => "use fewer or shorter folders",
            Self::TooManyEntries { .. } => "hand over the skill's folder alone",
            Self::TooManySkills { .. } => "hand them over in parts",
            Self::Ratio { .. } => "leave the file out, or hand over the folder unpacked",
            Self::Duplicate { .. } | Self::BelowFile { .. } => {
                "pack the folder again: an archive may hold each path once"
            }
            Self::BelowLink { .. } => "put the files themselves in the place of the link",
            Self::Io { .. } => "check that it exists and may be read",
        }
    }

    /// The refusal as a finding about the upload `name`, with the reasons below it in the message.
    #[must_use]
    pub fn finding(&self, name: &str) -> Finding {
        let mut message = self.to_string();
        let mut source = std::error::Error::source(self);
        while let Some(error) = source {
            let reason = error.to_string();
            // Some libraries say their source's words themselves.
            if !message.ends_with(&reason) {
                message = format!("{message}: {reason}");
            }
            source = error.source();
        }
        Finding::error(self.code(), name, message).hint(self.remedy())
    }
}

fn mebibytes(bytes: u64) -> String {
    if bytes.is_multiple_of(MIB) { format!("{} MiB", bytes / MIB) } else { format!("{bytes} bytes") }
}
