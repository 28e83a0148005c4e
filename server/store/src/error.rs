//! What can go wrong in the store. Display never repeats the source; a lost race is not an error.

use std::io;
use std::path::{Path, PathBuf};

use domain::hash::ContentHash;
use domain::id::EvaluationId;

/// Shorthand of this crate.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;

/// Why the store could not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// No connection became free in time. Nothing was changed; it may be asked again.
    #[error("the database is busy; try again in a moment")]
    Busy,
    /// The store was closed.
    #[error("the store is closed")]
    Closed,
    /// No space is left.
    #[error(
        "the disk that holds {place} is full; free some space on it, or set a quota that leaves some, and try again"
    )]
    DiskFull {
        /// The file that could not be written, or `the database`.
        place: String,
    },
    /// The operating system refused a file operation.
    #[error("cannot {doing} {}", path.display())]
    Io {
        /// Such as `read`.
        doing: &'static str,
        /// On which file or folder.
        path: PathBuf,
        /// Its reason.
        #[source]
        source: io::Error,
    },
    /// Another process holds the data folder.
    #[error(
        "the data folder {} is in use{}: a data folder has one owner at a time; {}stop that process or choose another folder",
        path.display(), by(owner.as_deref(), address.as_deref()), if address.is_some() { "use its pages, " } else { "" }
    )]
    InUse {
        /// The folder.
        path: PathBuf,
        /// Its owner's process id, where it could be read.
        owner: Option<String>,
        /// Where its owner's pages are, if it serves any.
        address: Option<String>,
    },
    /// The database was written by a newer program.
    #[error(
        "the database has migration {version}, which this program does not know; use the newer program that wrote it"
    )]
    NewerDatabase {
        /// Number of the unknown migration.
        version: i64,
    },
    /// The database file is not what SQLite wrote.
    #[error("the database is damaged ({first}); restore a copy of the data folder")]
    DatabaseDamaged {
        /// The first thing that is wrong.
        first: String,
    },
    /// A migration could not be applied.
    #[error(
        "the database could not be brought to this program's form; restore a copy of the data folder or use the program that wrote it"
    )]
    Migration(#[source] Box<sqlx::migrate::MigrateError>),
    /// There is no such row or file.
    #[error("there is no {noun} {id}")]
    NotFound {
        /// In the glossary's words.
        noun: &'static str,
        /// Which was asked for.
        id: String,
    },
    /// A value that must not be stored.
    #[error("{what} cannot be stored: {reason}")]
    Invalid {
        /// Which value.
        what: String,
        /// Why not.
        reason: String,
    },
    /// A blob's bytes are not those that its name promises.
    #[error("the stored file {hash} is damaged; import what it came from again, or restore a copy of the data folder")]
    BlobDamaged {
        /// Its name.
        hash: ContentHash,
    },
    /// A stream was longer than allowed.
    #[error("the content is larger than the limit of {limit} bytes")]
    TooLarge {
        /// Bytes.
        limit: u64,
    },
    /// A column holds what this program cannot read.
    #[error("column {column} holds {found:?}, which this program cannot read; a newer program may have written it")]
    Unreadable {
        /// `table.column`.
        column: &'static str,
        /// The start of its value.
        found: String,
        /// Why, where a parser said so.
        #[source]
        source: Option<serde_json::Error>,
    },
    /// Any other answer of SQLite.
    #[error("the database refused the request")]
    Database(#[source] Box<sqlx::Error>),
}

fn by(owner: Option<&str>, address: Option<&str>) -> String {
    let process = owner.map(|pid| format!(" by process {pid}")).unwrap_or_default();
    let serves = address.map(|address| format!(", which serves {address}")).unwrap_or_default();
    process + &serves
}

/// What was read of one evaluation of many: where it cannot be read, it is logged and left out, so that it does not hide the others.
///
/// # Errors
/// All but [`StoreError::Unreadable`].
pub fn among_others<T>(id: EvaluationId, read: Result<T>) -> Result<Option<T>> {
    match read {
        Ok(read) => Ok(Some(read)),
        Err(error @ StoreError::Unreadable { .. }) => {
            tracing::error!(evaluation = id.0, %error, "an evaluation that cannot be read is left out");
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

impl StoreError {
    /// Wraps an I/O error with what was done to which path; a full disk becomes [`StoreError::DiskFull`].
    pub(crate) fn io(doing: &'static str, path: impl AsRef<Path>) -> impl FnOnce(io::Error) -> Self {
        let path = path.as_ref().to_owned();
        move |source| match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                Self::DiskFull { place: path.display().to_string() }
            }
            _ => Self::Io { doing, path, source },
        }
    }

    pub(crate) fn not_found(noun: &'static str, id: impl ToString) -> Self {
        Self::NotFound { noun, id: id.to_string() }
    }

    pub(crate) fn invalid(what: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Invalid { what: what.into(), reason: reason.into() }
    }
}

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> Self {
        match &error {
            sqlx::Error::PoolTimedOut => return Self::Busy,
            sqlx::Error::PoolClosed => return Self::Closed,
            sqlx::Error::Database(refusal) => {
                // The low byte of an extended result code is the primary one: 5 busy, 6 locked, 11 corrupt, 13 full, 26 no database.
                match refusal.code().and_then(|code| code.parse::<i64>().ok()).map(|code| code & 0xff) {
                    Some(5 | 6) => return Self::Busy,
                    Some(13) => return Self::DiskFull { place: "the database".to_owned() },
                    Some(11 | 26) => return Self::DatabaseDamaged { first: refusal.message().to_owned() },
                    _ => {}
                }
            }
            _ => {}
        }
        Self::Database(Box::new(error))
    }
}

impl From<sqlx::migrate::MigrateError> for StoreError {
    fn from(error: sqlx::migrate::MigrateError) -> Self {
        match error {
            sqlx::migrate::MigrateError::VersionMissing(version) => Self::NewerDatabase { version },
            sqlx::migrate::MigrateError::Execute(error) => error.into(),
            other => Self::Migration(Box::new(other)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_told_apart_with_its_remedy() {
        // 28 is ENOSPC, 122 EDQUOT, 13 EACCES on Linux.
        for (errno, full) in [(28, true), (122, true), (13, false)] {
            let error = StoreError::io("write", "/data/blobs/x")(io::Error::from_raw_os_error(errno));
            assert_eq!(matches!(error, StoreError::DiskFull { .. }), full, "{errno}");
            assert!(error.to_string().contains("/data/blobs/x"));
            assert_eq!(error.to_string().contains("free some space"), full);
        }
    }
}
