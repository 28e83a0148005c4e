//! Files on their way out of a container. The archive is hostile: links are never followed, sizes are capped, odd names are left out.

use std::io::Read;

use domain::hash::ContentHash;
use domain::path::RelPath;
use domain::tree::{LoadedFile, LoadedTree, Tree, TreeEntry};
use sha2::{Digest, Sha256};
use tar::{Archive, Entry, EntryType};

use super::error::SandboxError;

const BUFFER: usize = 64 << 10;

/// How much is taken out at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Caps {
    /// Bytes of one file.
    pub file_bytes: u64,
    /// Bytes of all files.
    pub total_bytes: u64,
    /// Files.
    pub files: usize,
    /// Names of folders and files that are passed over with all below them, wherever they lie.
    pub passed_over: &'static [&'static str],
    /// Whether files beyond the caps on bytes are still read, for their sums.
    pub sums: bool,
}

impl Default for Caps {
    fn default() -> Self {
        Self { file_bytes: 4 << 20, total_bytes: 16 << 20, files: 2000, passed_over: &[], sums: false }
    }
}

/// What was taken out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Download {
    /// Whether the path was a regular file; it then is the only one in `files`, by its own name.
    pub is_file: bool,
    /// Regular files, with paths relative to the folder asked for.
    pub files: LoadedTree,
    /// Files beyond the caps on bytes, where their sums were asked for.
    pub sums: Tree,
    /// What lies there as well and was not taken.
    pub skipped: Vec<Skipped>,
    /// Whether everything was looked at; `false` once a cap on the whole was reached.
    pub complete: bool,
}

/// Something that was left where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// As the archive names it, made readable.
    pub path: String,
    /// Such as `symbolic link` or `larger than 4194304 bytes`.
    pub why: String,
}

impl Download {
    /// The bytes of the file, where a single file was asked for.
    #[must_use]
    pub fn single(&self) -> Option<&[u8]> {
        let (_, file) = self.files.iter().next().filter(|_| self.is_file)?;
        Some(&file.bytes)
    }
}

/// Reads an archive as the engine makes it: every path begins with the last segment of what was asked for.
pub(crate) fn read_archive(reader: impl Read, caps: Caps) -> Result<Download, SandboxError> {
    let mut taking = Taking { caps, taken: 0, download: Download { complete: true, ..Download::default() } };
    let mut archive = Archive::new(reader);
    let entries = archive.entries().map_err(unreadable)?;
    for (index, entry) in entries.enumerate() {
        let Ok(entry) = entry else {
            // Cut off by the cap on the whole, or by a container that went away.
            taking.download.complete = false;
            break;
        };
        if index == 0 && entry.header().entry_type() == EntryType::Regular {
            taking.download.is_file = true;
        }
        if !taking.take(entry)? {
            taking.download.complete = false;
            break;
        }
    }
    Ok(taking.download)
}

struct Taking {
    caps: Caps,
    taken: u64,
    download: Download,
}

impl Taking {
    /// Takes one entry; `false` when a cap on the whole is reached.
    fn take(&mut self, mut entry: Entry<'_, impl Read>) -> Result<bool, SandboxError> {
        let raw = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let relative = if self.download.is_file {
            raw.clone()
        } else {
            raw.trim_end_matches('/').split_once('/').map_or_else(String::new, |(_, rest)| rest.to_owned())
        };
        let kind = entry.header().entry_type();
        if kind == EntryType::Directory || relative.split('/').any(|name| self.caps.passed_over.contains(&name)) {
            return Ok(true);
        }
        let seen = self.download.files.len() + self.download.sums.len() + self.download.skipped.len();
        if seen >= self.caps.files {
            return Ok(false);
        }
        let size = entry.size();
        let is_regular = matches!(kind, EntryType::Regular | EntryType::Continuous);
        let is_beyond = size > self.caps.file_bytes || self.taken + size > self.caps.total_bytes;
        if self.caps.sums && is_regular && is_beyond {
            return Ok(self.sum(entry, &raw, &relative));
        }
        let why = match kind {
            EntryType::Regular | EntryType::Continuous if size > self.caps.file_bytes => {
                Some(format!("larger than {} bytes", self.caps.file_bytes))
            }
            EntryType::Regular | EntryType::Continuous => None,
            EntryType::Link => return Ok(self.take_hard_link(&entry, &raw, &relative)),
            EntryType::Symlink => Some("symbolic link".to_owned()),
            _ => Some("not a regular file".to_owned()),
        };
        if let Some(why) = why {
            self.skip(&raw, why);
            return Ok(true);
        }
        if self.taken + size > self.caps.total_bytes {
            self.skip(&raw, format!("all together larger than {} bytes", self.caps.total_bytes));
            return Ok(false);
        }
        let Ok(path) = RelPath::new(&relative) else {
            self.skip(&raw, "a name that cannot be stored".to_owned());
            return Ok(true);
        };
        let mut bytes = Vec::new();
        if entry.read_to_end(&mut bytes).is_err() || bytes.len() as u64 != size {
            return Ok(false);
        }
        self.taken += size;
        let executable = is_executable(&entry);
        self.download.files.insert(path, LoadedFile { executable, bytes });
        Ok(true)
    }

    /// Reads a file for its sum; `false` when the archive ends in it.
    fn sum(&mut self, mut entry: Entry<'_, impl Read>, raw: &str, relative: &str) -> bool {
        let (mut hasher, mut buffer, mut size) = (Sha256::new(), vec![0; BUFFER], 0);
        loop {
            match entry.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => {
                    hasher.update(buffer.get(..count).unwrap_or_default());
                    size += count as u64;
                }
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => return false,
            }
        }
        if size != entry.size() {
            return false;
        }
        match RelPath::new(relative) {
            Ok(path) => {
                let hash = ContentHash::from_digest(hasher.finalize().into());
                self.download.sums.insert(path, TreeEntry { executable: is_executable(&entry), size, hash });
            }
            Err(_) => self.skip(raw, "a name that cannot be stored".to_owned()),
        }
        true
    }

    /// A second name of a file that came earlier in the same archive.
    fn take_hard_link(&mut self, entry: &Entry<'_, impl Read>, raw: &str, relative: &str) -> bool {
        let target =
            entry.link_name_bytes().map(|name| String::from_utf8_lossy(&name).into_owned()).unwrap_or_default();
        let target = target.split_once('/').map(|(_, rest)| rest).unwrap_or_default();
        match (self.download.files.get(target).cloned(), RelPath::new(relative)) {
            (Some(file), Ok(path)) if self.taken + file.bytes.len() as u64 <= self.caps.total_bytes => {
                self.taken += file.bytes.len() as u64;
                self.download.files.insert(path, file);
            }
            (None, Ok(path)) => match self.download.sums.get(target).copied() {
                Some(entry) => self.download.sums.insert(path, entry),
                None => self.skip(raw, "hard link".to_owned()),
            },
            _ => self.skip(raw, "hard link".to_owned()),
        }
        true
    }

    fn skip(&mut self, path: &str, why: String) {
        self.download.skipped.push(Skipped { path: path.to_owned(), why });
    }
}

fn is_executable(entry: &Entry<'_, impl Read>) -> bool {
    entry.header().mode().is_ok_and(|mode| mode & 0o100 != 0)
}

fn unreadable(error: std::io::Error) -> SandboxError {
    SandboxError::other("read the engine's archive", error)
}

#[cfg(test)]
mod tests {
    use tar::{Builder, Header};

    use super::*;

    fn entry(builder: &mut Builder<Vec<u8>>, path: &str, kind: EntryType, body: &[u8], link: Option<&str>) {
        let mut header = Header::new_gnu();
        header.set_entry_type(kind);
        header.set_mode(0o644);
        header.set_size(body.len() as u64);
        if let Some(link) = link {
            header.set_link_name(link).unwrap();
        }
        builder.append_data(&mut header, path, body).unwrap();
    }

    fn check(archive: Vec<u8>, caps: Caps, files: &[(&str, &str)], skipped: &[&str], complete: bool) {
        let got = read_archive(archive.as_slice(), caps).unwrap();
        let got_files: Vec<(String, String)> =
            got.files.iter().map(|(p, f)| (p.to_string(), String::from_utf8(f.bytes.clone()).unwrap())).collect();
        let want: Vec<(String, String)> = files.iter().map(|(p, f)| ((*p).to_owned(), (*f).to_owned())).collect();
        let got_skipped: Vec<&str> = got.skipped.iter().map(|s| s.why.as_str()).collect();
        assert_eq!((got_files, got_skipped.as_slice(), got.complete), (want, skipped, complete));
    }

    #[test]
    fn only_regular_files_come_out_and_only_so_many() {
        let mut builder = Builder::new(Vec::new());
        entry(&mut builder, "logs/", EntryType::Directory, b"", None);
        entry(&mut builder, "logs/a.txt", EntryType::Regular, b"aaa", None);
        entry(&mut builder, "logs/up", EntryType::Symlink, b"", Some("/etc/hostname"));
        entry(&mut builder, "logs/twin", EntryType::Link, b"", Some("logs/a.txt"));
        entry(&mut builder, "logs/pipe", EntryType::Fifo, b"", None);
        entry(&mut builder, "logs/big", EntryType::Regular, b"123456789", None);
        let archive = builder.into_inner().unwrap();
        let caps = Caps { file_bytes: 5, ..Caps::default() };
        let skipped = ["symbolic link", "not a regular file", "larger than 5 bytes"];
        check(archive.clone(), caps, &[("a.txt", "aaa"), ("twin", "aaa")], &skipped, true);
        check(archive.clone(), Caps { files: 2, ..caps }, &[("a.txt", "aaa")], &["symbolic link"], false);
        let mut cut = archive;
        cut.truncate(512 * 2 + 2);
        check(cut, caps, &[], &[], false);
    }

    #[test]
    fn beyond_the_caps_a_file_is_still_known_by_its_sum_and_named_folders_are_passed_over() {
        let mut builder = Builder::new(Vec::new());
        entry(&mut builder, "app/", EntryType::Directory, b"", None);
        for path in ["app/a.txt", "app/.git/config", "app/sub/node_modules/x.js", "app/big.bin", "app/also.bin"] {
            let body = vec![b'x'; if path.ends_with(".bin") { 100_000 } else { 3 }];
            entry(&mut builder, path, EntryType::Regular, &body, None);
        }
        entry(&mut builder, "app/twin.bin", EntryType::Link, b"", Some("app/big.bin"));
        let caps = Caps { file_bytes: 10, passed_over: &[".git", "node_modules"], sums: true, ..Caps::default() };
        let got = read_archive(builder.into_inner().unwrap().as_slice(), caps).unwrap();
        let names: Vec<_> = got.files.iter().map(|(path, _)| path.as_str()).collect();
        let sums: Vec<_> = got.sums.iter().map(|(path, entry)| (path.as_str(), entry.size, entry.hash)).collect();
        let hash = ContentHash::of(&[b'x'; 100_000]);
        assert_eq!((names.as_slice(), got.complete), (["a.txt"].as_slice(), true));
        assert_eq!(sums, ["also.bin", "big.bin", "twin.bin"].map(|path| (path, 100_000, hash)));
    }

    #[test]
    fn a_single_file_is_told_from_a_folder_of_that_name() {
        for (kind, body, want) in
            [(EntryType::Regular, b"1".as_slice(), Some(b"1".as_slice())), (EntryType::Directory, b"", None)]
        {
            let mut builder = Builder::new(Vec::new());
            entry(&mut builder, "reward.txt", kind, body, None);
            let got = read_archive(builder.into_inner().unwrap().as_slice(), Caps::default()).unwrap();
            assert_eq!((got.is_file, got.single()), (kind == EntryType::Regular, want));
        }
    }
}
