//! What changed in a folder, as a patch that `git apply` and `patch -p1` take. Files that are no text, or too long, are named on top with
//! size and hash: both programs pass over what stands before the first file.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::time::Duration;

use domain::hash::ContentHash;
use domain::path::RelPath;
use domain::tamper::ChangeKind;
use domain::tree::{LoadedFile, LoadedTree, Tree, TreeEntry};
use similar::{ChangeTag, TextDiff};

/// Lines around a change.
const CONTEXT: usize = 3;
/// Bytes of a text that is compared line by line.
const LONGEST_TEXT: usize = 1 << 20;
/// Bytes of the whole patch.
const LONGEST_PATCH: usize = 4 << 20;
/// Files of one patch.
const MOST_FILES: usize = 2000;
/// After so long, a comparison is made coarser.
const PATIENCE: Duration = Duration::from_millis(500);

/// A folder at one time: files with their bytes, and those known by size and hash alone.
#[derive(Debug, Clone, Copy)]
pub struct Side<'a> {
    /// With bytes.
    pub files: &'a LoadedTree,
    /// Without.
    pub sums: &'a Tree,
}

/// What changed from one side to the other.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Patch {
    /// The patch; empty where nothing changed.
    pub text: String,
    /// Every file that differs.
    pub changes: Vec<(ChangeKind, RelPath)>,
    /// Lines that are new.
    pub added: u64,
    /// Lines that are gone.
    pub removed: u64,
    /// Files that differ and are named only: no text, too long, or beyond the cap on the whole.
    pub left_out: u64,
}

/// What turns `before` into `after`.
#[must_use]
pub fn between(before: Side<'_>, after: Side<'_>) -> Patch {
    let mut patch = Patch::default();
    let (mut named, mut body) = (String::new(), String::new());
    let sides = [before, after];
    let loaded = sides.iter().flat_map(|side| side.files.iter().map(|(path, _)| path));
    let paths: BTreeSet<&RelPath> = loaded.chain(sides.iter().flat_map(|side| side.sums.iter().map(|s| s.0))).collect();
    for path in paths {
        let (old, new) = (before.at(path), after.at(path));
        let kind = match (&old, &new) {
            (None, None) => continue,
            (Some(old), Some(new)) if old == new => continue,
            (None, Some(_)) => ChangeKind::Added,
            (Some(_), Some(_)) => ChangeKind::Changed,
            (Some(_), None) => ChangeKind::Deleted,
        };
        patch.changes.push((kind, path.clone()));
        let is_full = body.len() >= LONGEST_PATCH || patch.changes.len() > MOST_FILES;
        match comparable(old.as_ref(), new.as_ref()).filter(|_| !is_full) {
            Some(texts) => {
                let (text, added, removed) = one(path, old.as_ref(), new.as_ref(), texts);
                if body.len() + text.len() <= LONGEST_PATCH {
                    body.push_str(&text);
                    patch.added += added;
                    patch.removed += removed;
                    continue;
                }
            }
            None if patch.changes.len() > MOST_FILES => {
                patch.left_out += 1;
                continue;
            }
            None => {}
        }
        patch.left_out += 1;
        name(&mut named, path, kind, old.as_ref(), new.as_ref());
    }
    let unnamed = patch.changes.len().saturating_sub(MOST_FILES);
    if unnamed > 0 {
        append(&mut named, format_args!("# {unnamed} further files differ; they are left out\n"));
    }
    patch.text = named + &body;
    patch
}

/// A file of one side.
#[derive(Debug, PartialEq, Eq)]
enum Content<'a> {
    Loaded(&'a LoadedFile),
    Sum(TreeEntry),
}

impl<'a> Side<'a> {
    fn at(self, path: &RelPath) -> Option<Content<'a>> {
        let loaded = self.files.get(path.as_str()).map(Content::Loaded);
        loaded.or_else(|| self.sums.get(path.as_str()).copied().map(Content::Sum))
    }
}

impl Content<'_> {
    fn text(&self) -> Option<&str> {
        match self {
            Self::Loaded(file) if file.bytes.len() <= LONGEST_TEXT && !file.bytes.contains(&0) => {
                std::str::from_utf8(&file.bytes).ok()
            }
            Self::Loaded(_) | Self::Sum(_) => None,
        }
    }

    const fn mode(&self) -> &'static str {
        let executable = match self {
            Self::Loaded(file) => file.executable,
            Self::Sum(entry) => entry.executable,
        };
        if executable { "100755" } else { "100644" }
    }

    fn in_words(&self) -> String {
        let (size, hash) = match self {
            Self::Loaded(file) => (file.bytes.len() as u64, ContentHash::of(&file.bytes)),
            Self::Sum(entry) => (entry.size, entry.hash),
        };
        format!("{size} bytes, sha256 {hash}")
    }
}

/// Both texts, one that is not there as an empty one; `None` where one side is no text.
fn comparable<'a>(old: Option<&'a Content<'_>>, new: Option<&'a Content<'_>>) -> Option<(&'a str, &'a str)> {
    let text = |side: Option<&'a Content<'_>>| side.map_or(Some(""), Content::text);
    Some((text(old)?, text(new)?))
}

fn one(
    path: &RelPath,
    old: Option<&Content<'_>>,
    new: Option<&Content<'_>>,
    (before, after): (&str, &str),
) -> (String, u64, u64) {
    let mut text = format!("diff --git a/{path} b/{path}\n");
    match (old, new) {
        (None, Some(new)) => append(&mut text, format_args!("new file mode {}\n", new.mode())),
        (Some(old), None) => append(&mut text, format_args!("deleted file mode {}\n", old.mode())),
        (Some(old), Some(new)) if old.mode() != new.mode() => {
            append(&mut text, format_args!("old mode {}\nnew mode {}\n", old.mode(), new.mode()));
        }
        _ => {}
    }
    if before == after {
        return (text, 0, 0);
    }
    // A tab ends a name that has blanks in it.
    let end = if path.as_str().contains(' ') { "\t" } else { "" };
    let side = |mark: char, there: bool| if there { format!("{mark}/{path}{end}") } else { "/dev/null".to_owned() };
    append(&mut text, format_args!("--- {}\n+++ {}\n", side('a', old.is_some()), side('b', new.is_some())));
    // The crate's own lines end at a lone carriage return too; those of the programs that read a patch do not.
    let [before, after] = [before, after].map(|text| text.split_inclusive('\n').collect::<Vec<_>>());
    let diff = TextDiff::configure().timeout(PATIENCE).newline_terminated(true).diff_slices(&before, &after);
    let count = |wanted: ChangeTag| diff.iter_all_changes().filter(|change| change.tag() == wanted).count() as u64;
    let (added, removed) = (count(ChangeTag::Insert), count(ChangeTag::Delete));
    for hunk in diff.unified_diff().context_radius(CONTEXT).iter_hunks() {
        append(&mut text, format_args!("{}\n", hunk.header()));
        for change in hunk.iter_changes() {
            let line = change.value();
            let end = if line.ends_with('\n') { "" } else { "\n\\ No newline at end of file\n" };
            append(&mut text, format_args!("{}{line}{end}", change.tag()));
        }
    }
    (text, added, removed)
}

fn name(out: &mut String, path: &RelPath, kind: ChangeKind, old: Option<&Content<'_>>, new: Option<&Content<'_>>) {
    let words = [old, new].into_iter().flatten().map(Content::in_words).collect::<Vec<_>>().join(" -> ");
    append(out, format_args!("# left out: {path} {}: {words}\n", kind.word()));
}

/// Writing to a string cannot fail.
fn append(text: &mut String, what: std::fmt::Arguments<'_>) {
    let _infallible = text.write_fmt(what);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &[u8], bool)]) -> LoadedTree {
        let file = |bytes: &[u8], executable| LoadedFile { executable, bytes: bytes.to_vec() };
        files.iter().map(|(path, bytes, mode)| (RelPath::new(path).unwrap(), file(bytes, *mode))).collect()
    }

    fn patch(before: &LoadedTree, after: &LoadedTree) -> Patch {
        let sums = Tree::new();
        between(Side { files: before, sums: &sums }, Side { files: after, sums: &sums })
    }

    #[test]
    fn a_patch_turns_one_folder_into_the_other_by_the_programs_that_people_use() {
        let before = tree(&[
            ("a.txt", b"one\ntwo\nthree\n", false),
            ("deep/with blank.txt", b"x\n", false),
            ("gone.txt", b"bye", false),
            ("returns.txt", b"one\rtwo\r", false),
            ("run.sh", b"#!/bin/sh\n", false),
            ("same.txt", b"same\n", false),
        ]);
        let after = tree(&[
            ("a.txt", b"one\n2\nthree", false),
            ("deep/new.txt", "größer\n".as_bytes(), false),
            ("deep/with blank.txt", b"y\r\n", false),
            ("empty", b"", false),
            ("returns.txt", b"one\r2\rthree", false),
            ("run.sh", b"#!/bin/sh\n", true),
            ("same.txt", b"same\n", false),
        ]);
        let made = patch(&before, &after);
        assert_eq!((made.added, made.removed, made.left_out), (5, 5, 0), "{}", made.text);
        for program in [["git", "apply"].as_slice(), &["patch", "-p1", "--quiet"]] {
            let folder = tempfile::tempdir().unwrap();
            for (path, file) in before.iter() {
                let path = folder.path().join(path.as_str());
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, &file.bytes).unwrap();
            }
            let patch_file = folder.path().join("the.patch");
            std::fs::write(&patch_file, &made.text).unwrap();
            let input = std::fs::File::open(&patch_file).unwrap();
            let mut command = std::process::Command::new(program[0]);
            match command.args(&program[1..]).current_dir(folder.path()).stdin(input).output() {
                Ok(ended) => assert!(
                    ended.status.success(),
                    "{program:?}: {}\n{}",
                    String::from_utf8_lossy(&ended.stderr),
                    made.text
                ),
                Err(error) => {
                    println!("skipped: {}: {error}", program[0]);
                    continue;
                }
            }
            std::fs::remove_file(&patch_file).unwrap();
            for (path, file) in after.iter() {
                let there = folder.path().join(path.as_str());
                assert_eq!(std::fs::read(&there).unwrap(), file.bytes, "{program:?} {path}");
            }
            assert!(!folder.path().join("gone.txt").exists(), "{program:?}");
        }
    }

    #[test]
    fn what_is_no_text_is_named_with_size_and_hash() {
        let before = tree(&[("a.bin", b"\0\x01", false), ("b.txt", b"x\n", false)]);
        let after = tree(&[("a.bin", b"\0\x02\x03", false), ("b.txt", b"\xff\xfe", false), ("c.txt", b"new\n", false)]);
        let made = patch(&before, &after);
        assert_eq!((made.changes.len(), made.left_out, made.added), (3, 2, 1));
        let hash = ContentHash::of(b"\0\x02\x03");
        assert!(made.text.contains("# left out: a.bin changed: 2 bytes, sha256 "), "{}", made.text);
        assert!(made.text.contains(&format!("-> 3 bytes, sha256 {hash}\n")), "{}", made.text);
        assert!(
            !made.text.contains("b/b.txt") && made.text.contains("+++ b/c.txt\n@@ -0,0 +1 @@\n+new\n"),
            "{}",
            made.text
        );
    }

    #[test]
    fn a_file_known_by_its_sum_is_compared_by_it() {
        let empty = LoadedTree::new();
        let entry = |size, hash: &[u8]| TreeEntry { executable: false, size, hash: ContentHash::of(hash) };
        let sums = |entry| [(RelPath::new("big.dat").unwrap(), entry)].into_iter().collect::<Tree>();
        let (one, other) = (sums(entry(9, b"one")), sums(entry(9, b"other")));
        let made = |after: &Tree| between(Side { files: &empty, sums: &one }, Side { files: &empty, sums: after });
        assert_eq!(made(&one), Patch::default());
        assert_eq!((made(&other).left_out, made(&other).changes.len()), (1, 1));
    }

    #[test]
    fn a_patch_without_end_is_cut_and_says_so() {
        let long = vec![b'x'; 600_000];
        let names: Vec<String> = (0..10).map(|n| format!("{n}.txt")).collect();
        let files: Vec<_> = names.iter().map(|name| (name.as_str(), long.as_slice(), false)).collect();
        let made = patch(&LoadedTree::new(), &tree(&files));
        assert!(made.text.len() < LONGEST_PATCH + 10_000, "{}", made.text.len());
        assert_eq!((made.changes.len(), made.left_out), (10, 4));
        let many: Vec<String> = (0..MOST_FILES + 7).map(|n| format!("{n}")).collect();
        let files: Vec<_> = many.iter().map(|name| (name.as_str(), b"x\n".as_slice(), false)).collect();
        let made = patch(&LoadedTree::new(), &tree(&files));
        assert_eq!((made.changes.len(), made.left_out), (MOST_FILES + 7, 7));
        assert!(made.text.starts_with("# 7 further files differ; they are left out\n"));
    }
}
