//! Git repositories by address and commit: what a repository task works in, and where skills are fetched from.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::path::RelPath;

/// Longest accepted address, in bytes.
const MAX_URL_BYTES: usize = 2048;

/// The address of a git repository: `https://host/path`, without credentials, query, or a closing slash.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RepositoryUrl(String);

/// Why an address was refused. The address itself is the caller's to name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UrlError {
    /// Another way of transport, or none.
    #[error("only https:// addresses are fetched")]
    Scheme,
    /// A name or key before the host: it would be stored and shown.
    #[error("it holds a user name or password; use a public repository, or a mirror of it")]
    Credentials,
    /// An IP address, this machine, or no host at all.
    #[error("it names no host; a host has a name such as example.com")]
    Host,
    /// Nothing behind the host, or characters that have no place in it.
    #[error("its path is no path of a repository")]
    Path,
}

impl RepositoryUrl {
    /// Checks an address. A closing slash is taken off; nothing else is changed.
    ///
    /// # Errors
    /// [`UrlError`] with the first reason found.
    pub fn new(text: &str) -> Result<Self, UrlError> {
        let rest = text.strip_prefix("https://").filter(|_| text.len() <= MAX_URL_BYTES).ok_or(UrlError::Scheme)?;
        let (host, path) = rest.split_once('/').ok_or(UrlError::Path)?;
        if host.contains('@') {
            return Err(UrlError::Credentials);
        }
        if !is_host(host) {
            return Err(UrlError::Host);
        }
        let path = path.trim_end_matches('/');
        let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '~' | '/' | '+');
        let segments = || path.split('/');
        if path.is_empty() || !path.chars().all(fine) || segments().any(|part| matches!(part, "" | "." | "..")) {
            return Err(UrlError::Path);
        }
        Ok(Self(format!("https://{}/{path}", host.to_ascii_lowercase())))
    }

    /// The address as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The last part of the path without `.git`: the folder that a clone gets.
    #[must_use]
    pub fn name(&self) -> &str {
        let name = self.0.rsplit('/').next().unwrap_or(&self.0);
        name.strip_suffix(".git").unwrap_or(name)
    }

    /// The address without `.git`, by which a mirror is looked up.
    #[must_use]
    pub fn key(&self) -> &str {
        self.0.strip_suffix(".git").unwrap_or(&self.0)
    }
}

/// Names with a dot and perhaps a port: neither an IP address nor this machine.
fn is_host(host: &str) -> bool {
    let (name, port) = host.split_once(':').map_or((host, None), |(name, port)| (name, Some(port)));
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let last = name.rsplit('.').next().unwrap_or(name);
    name.contains('.')
        && name.split('.').all(label)
        && last.starts_with(|c: char| c.is_ascii_alphabetic())
        && last != "localhost"
        && port.is_none_or(|port| port.parse::<u16>().is_ok())
}

/// The full id of a commit: 40 (SHA-1) or 64 (SHA-256) lower-case hexadecimal digits.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CommitId(String);

/// A text that is no full commit id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it is no full commit id (40 hexadecimal digits)")]
pub struct NotACommit;

impl CommitId {
    /// Checks an id; upper-case digits are taken.
    ///
    /// # Errors
    /// [`NotACommit`].
    pub fn new(text: &str) -> Result<Self, NotACommit> {
        let full = matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if full { Ok(Self(text.to_ascii_lowercase())) } else { Err(NotACommit) }
    }

    /// All digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first 12 digits, for people; never for look-up.
    #[must_use]
    pub fn short(&self) -> String {
        self.0.chars().take(12).collect()
    }
}

/// The repository that a task works in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetRepository {
    /// Where it is fetched from.
    pub url: RepositoryUrl,
    /// Exactly this tree, without its history.
    pub commit: CommitId,
    /// Where it lies in the container; absolute.
    pub folder: String,
    /// Only these files and folders of it; empty = all.
    pub sparse: Vec<RelPath>,
    /// Commands of the shell which are run in its folder while the image is built.
    pub setup: Vec<String>,
}

/// Skills in a repository, as people write it: `https://host/path[@REVISION][#FOLDER]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillSource {
    /// The repository.
    pub url: RepositoryUrl,
    /// A full commit id, or a branch or tag that is looked up; `None` = the head of the default branch.
    pub revision: Option<String>,
    /// The file or folder in it to look at; `None` = all.
    pub folder: Option<RelPath>,
}

/// Why the address of a skill was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SourceError {
    /// The repository's part.
    #[error(transparent)]
    Url(#[from] UrlError),
    /// The revision's part.
    #[error("{0:?} is no commit, branch or tag")]
    Revision(String),
    /// The folder's part.
    #[error("the part after # is no path in a repository: {0}")]
    Folder(#[from] crate::path::PathError),
}

impl SkillSource {
    /// Whether a text is meant as such an address rather than as a place on the disk.
    #[must_use]
    pub fn is_meant(text: &str) -> bool {
        ["https://", "http://", "git://", "ssh://", "git@"].iter().any(|start| text.trim().starts_with(start))
    }
}

impl FromStr for SkillSource {
    type Err = SourceError;

    fn from_str(text: &str) -> Result<Self, SourceError> {
        let text = text.trim();
        let (rest, folder) = text.split_once('#').map_or((text, None), |(rest, folder)| (rest, Some(folder)));
        let folder = folder.map(|folder| folder.trim_matches('/')).filter(|folder| !folder.is_empty());
        // An `@` before the path is a user name, which the address itself refuses.
        let path = rest.find("://").and_then(|at| rest.get(at + 3..)?.find('/').map(|slash| at + 3 + slash));
        let cut = path.and_then(|path| rest.get(path..)?.find('@').map(|at| path + at));
        let (url, revision) = match cut.and_then(|at| Some((rest.get(..at)?, rest.get(at + 1..)?))) {
            Some((url, revision)) => (url, Some(revision)),
            None => (rest, None),
        };
        if let Some(revision) = revision.filter(|revision| !is_revision(revision)) {
            return Err(SourceError::Revision(revision.to_owned()));
        }
        Ok(Self {
            url: RepositoryUrl::new(url)?,
            revision: revision.map(str::to_owned),
            folder: folder.map(RelPath::new).transpose()?,
        })
    }
}

impl fmt::Display for SkillSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.url)?;
        if let Some(revision) = &self.revision {
            write!(f, "@{revision}")?;
        }
        match &self.folder {
            Some(folder) => write!(f, "#{folder}"),
            None => Ok(()),
        }
    }
}

/// A name of a branch or tag, or a commit id: nothing that a program could take for an option or a pattern.
fn is_revision(text: &str) -> bool {
    let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '/' | '+');
    !text.is_empty()
        && text.len() <= 200
        && !text.starts_with(['-', '.', '/'])
        && text.chars().all(fine)
        && !text.contains("..")
}

macro_rules! as_text {
    ($type:ty, $error:ty) => {
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:?}", self.0)
            }
        }

        impl TryFrom<String> for $type {
            type Error = $error;

            fn try_from(text: String) -> Result<Self, $error> {
                Self::new(&text)
            }
        }

        impl From<$type> for String {
            fn from(value: $type) -> Self {
                value.0
            }
        }
    };
}

as_text!(RepositoryUrl, UrlError);
as_text!(CommitId, NotACommit);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_https_and_hold_no_secret() {
        for (text, want) in [
            ("https://github.com/tdd-starters/python", Ok("python")),
            ("https://Git.Example.com:8443/a/b.git/", Ok("b")),
            ("http://example.com/a", Err(UrlError::Scheme)),
            ("git@example.com:a/b", Err(UrlError::Scheme)),
            ("file:///etc", Err(UrlError::Scheme)),
            ("ext::sh -c id", Err(UrlError::Scheme)),
            ("https://me:key@example.com/a", Err(UrlError::Credentials)),
            ("https://localhost/a", Err(UrlError::Host)),
            ("https://127.0.0.1/a", Err(UrlError::Host)),
            ("https://[::1]/a", Err(UrlError::Host)),
            ("https://x.localhost/a", Err(UrlError::Host)),
            ("https://example.com", Err(UrlError::Path)),
            ("https://example.com/", Err(UrlError::Path)),
            ("https://example.com/a/../b", Err(UrlError::Path)),
            ("https://example.com/a?b", Err(UrlError::Path)),
            ("https://example.com/a b", Err(UrlError::Path)),
        ] {
            assert_eq!(RepositoryUrl::new(text).as_ref().map(RepositoryUrl::name), want.as_ref().copied(), "{text}");
        }
        assert_eq!(RepositoryUrl::new("https://example.com/a.git").unwrap().key(), "https://example.com/a");
    }

    #[test]
    fn the_address_of_a_skill_has_three_parts() {
        let parts = |text: &str| {
            text.parse::<SkillSource>()
                .map(|source| (source.url.to_string(), source.revision, source.folder.map(|folder| folder.to_string())))
        };
        let url = || "https://example.com/a/b".to_owned();
        let text = |text: &str| Some(text.to_owned());
        for (source, want) in [
            ("https://example.com/a/b", Ok((url(), None, None))),
            (" https://example.com/a/b@v1.2#skills/pdf/ ", Ok((url(), text("v1.2"), text("skills/pdf")))),
            ("https://example.com/a/b#", Ok((url(), None, None))),
            ("https://example.com/a/b@--upload-pack=x", Err(SourceError::Revision("--upload-pack=x".to_owned()))),
            ("https://example.com/a/b@", Err(SourceError::Revision(String::new()))),
            ("https://me@example.com/a/b", Err(SourceError::Url(UrlError::Credentials))),
            ("https://example.com/a/b#../x", Err(SourceError::Folder(crate::path::PathError::Climbs))),
        ] {
            assert_eq!(parts(source), want, "{source}");
        }
    }

    #[test]
    fn a_commit_is_named_in_full() {
        assert!(CommitId::new(&"ab".repeat(20)).is_ok() && CommitId::new(&"AB".repeat(32)).is_ok());
        assert!(CommitId::new("abc123").is_err() && CommitId::new(&"zz".repeat(20)).is_err());
    }
}
