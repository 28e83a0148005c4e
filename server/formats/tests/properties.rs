//! Properties of versions: the hash of a tree says exactly what is in it, and a skill has one version however it is handed over.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::collections::BTreeMap;
use std::io::{Cursor, Write};
use std::os::unix::fs::PermissionsExt;

use domain::path::RelPath;
use domain::tree::{LoadedFile, LoadedTree};
use formats::skill::{IntakeLimits, LoadedSkill, read_files, read_folder, read_zip};
use proptest::prelude::*;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

type Files = BTreeMap<String, (bool, Vec<u8>)>;

/// Up to six files with paths that may share folders and beginnings.
fn files() -> impl Strategy<Value = Files> {
    let path = prop::collection::vec("[ab]{1,2}", 1..4).prop_map(|parts| format!("{}.t", parts.join("/")));
    prop::collection::btree_map(path, (any::<bool>(), prop::collection::vec(any::<u8>(), 0..6)), 0..6)
}

fn tree<'f>(files: impl Iterator<Item = (&'f String, &'f (bool, Vec<u8>))>) -> LoadedTree {
    let file = |executable: bool, bytes: &[u8]| LoadedFile { executable, bytes: bytes.to_vec() };
    files.map(|(path, (executable, bytes))| (RelPath::new(path).unwrap(), file(*executable, bytes))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn trees_are_equal_exactly_where_their_hashes_are(one in files(), other in files()) {
        let hash = |files: &Files| tree(files.iter()).summary().hash();
        prop_assert_eq!(hash(&one) == hash(&other), one == other);
        prop_assert_eq!(tree(one.iter().rev()).summary().hash(), hash(&one), "the order of taking up does not count");
    }

    #[test]
    fn each_part_of_a_file_counts(files in files(), pick in any::<prop::sample::Index>()) {
        prop_assume!(!files.is_empty());
        let hash = |files: &Files| tree(files.iter()).summary().hash();
        let path = files.keys().nth(pick.index(files.len())).unwrap().clone();
        let changed = |change: &dyn Fn(&mut Files)| {
            let mut files = files.clone();
            change(&mut files);
            hash(&files)
        };
        let before = hash(&files);
        prop_assert_ne!(changed(&|files| files.get_mut(&path).unwrap().0 ^= true), before);
        prop_assert_ne!(changed(&|files| files.get_mut(&path).unwrap().1.push(0)), before);
        prop_assert_ne!(changed(&|files| drop(files.remove(&path))), before);
        prop_assert_ne!(changed(&|files| { let file = files.remove(&path).unwrap(); files.insert(format!("{path}x"), file); }), before);
    }

    #[test]
    fn a_skill_has_one_version_as_folder_archive_and_loose_files(files in files()) {
        let mut files: Files = files.into_iter().map(|(path, (_, bytes))| {
            // What has no mode is executable where it begins so: then all three ways know the same.
            let executable = bytes.starts_with(b"#!");
            (path, (executable, bytes))
        }).collect();
        files.insert("SKILL.md".to_owned(), (false, b"---\nname: pens\ndescription: x\n---\nx\n".to_vec()));
        let limits = IntakeLimits::default();
        let one = |mut skills: Vec<LoadedSkill>| skills.remove(0).package().version();
        let want = tree(files.iter()).summary().hash();
        let loose = files.iter().map(|(path, (_, bytes))| (format!("pens/{path}"), bytes.clone())).collect();
        prop_assert_eq!(one(read_files(loose, &limits).unwrap().skills), want);
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        for (path, (executable, bytes)) in &files {
            let mode = if *executable { 0o755 } else { 0o644 };
            zip.start_file(format!("x/pens/{path}"), SimpleFileOptions::default().unix_permissions(mode)).unwrap();
            zip.write_all(bytes).unwrap();
        }
        prop_assert_eq!(one(read_zip(&zip.finish().unwrap().into_inner(), "x.zip", &limits).unwrap().skills), want);
        let folder = tempfile::tempdir().unwrap();
        for (path, (executable, bytes)) in &files {
            let place = folder.path().join("pens").join(path);
            std::fs::create_dir_all(place.parent().unwrap()).unwrap();
            std::fs::write(&place, bytes).unwrap();
            std::fs::set_permissions(&place, std::fs::Permissions::from_mode(if *executable { 0o755 } else { 0o644 })).unwrap();
        }
        prop_assert_eq!(one(read_folder(folder.path(), &limits).unwrap().skills), want);
    }
}
