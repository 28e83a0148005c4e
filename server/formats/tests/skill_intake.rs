//! Uploads of every form, made here: archives that lie, folders with links, files from a browser.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::io::{Cursor, Write};

use formats::skill::{
    Intake, IntakeLimits, IntakeRefusal, read_files, read_folder, read_path, read_single, read_upload, read_zip,
};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

const GOOD: &str = "---\nname: count-sheep\ndescription: Counts sheep. Use when needed.\nlicense: MIT\n---\nbody\n";

fn skill(name: &str) -> String {
    GOOD.replace("count-sheep", name)
}

fn zipped(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (path, bytes) in files {
        zip.start_file(*path, SimpleFileOptions::default().unix_permissions(0o644)).unwrap();
        zip.write_all(bytes).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn read(bytes: &[u8]) -> Result<Intake, IntakeRefusal> {
    read_zip(bytes, "upload.zip", &IntakeLimits::default())
}

/// Replaces every occurrence of a text by one of the same length, as a liar edits an archive.
fn forged(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let mut bytes = bytes.to_vec();
    let places: Vec<usize> = (0..bytes.len() - from.len()).filter(|at| bytes[*at..].starts_with(from)).collect();
    assert!(!places.is_empty());
    for at in places {
        bytes[at..at + to.len()].copy_from_slice(to);
    }
    bytes
}

fn codes(intake: &Intake) -> Vec<&str> {
    intake.all_findings().map(|finding| finding.code.as_str()).collect()
}

#[test]
fn hostile_archives_are_refused_whole() {
    let two = zipped(&[("s/SKILL.md", GOOD.as_bytes()), ("s/a.txt", b"1"), ("s/b.txt", b"2")]);
    let below = zipped(&[("s/SKILL.md", GOOD.as_bytes()), ("s/xx", b"1"), ("s/xxy", b"2")]);
    let not_utf8 = zipped(&[("s/SKILL.md", GOOD.as_bytes()), ("s/ab.txt", b"1")]);
    for (bytes, code) in [
        (forged(&two, b"s/b.txt", b"s/a.txt"), "duplicate_path"),
        (zipped(&[("s/SKILL.md", GOOD.as_bytes()), ("s/x", b"1"), ("s/x/y", b"2")]), "path_below_file"),
        (forged(&not_utf8, b"s/ab.txt", b"s/\xe9b.txt"), "entry_name_not_utf8"),
        (forged(&below, b"s/xxy", b"s\\xxy"), "path_refused"),
        (forged(&below, b"s/xxy", b"s//xy"), "path_refused"),
        (b"PK\x03\x04 cut off".to_vec(), "archive_unreadable"),
        (Vec::new(), "archive_unreadable"),
    ] {
        let refusal = read(&bytes).unwrap_err();
        assert_eq!(refusal.code(), code, "{refusal}");
        assert!(refusal.finding("upload.zip").hint.is_some());
    }
}

#[test]
fn damaged_entries_are_named() {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    zip.start_file("SKILL.md", stored).unwrap();
    zip.write_all(GOOD.as_bytes()).unwrap();
    let bytes = zip.finish().unwrap().into_inner();
    let refusal = read(&forged(&bytes, b"Counts sheep", b"Counts goats")).unwrap_err();
    assert_eq!(refusal.code(), "entry_unreadable");
    assert!(refusal.to_string().contains("SKILL.md"));

    // Version, flags, and a method of packing (12, bzip2) that is not read; in the local and the central header alike.
    let local = forged(&bytes, b"PK\x03\x04\x0a\0\0\0\0\0", b"PK\x03\x04\x0a\0\0\0\x0c\0");
    let central = forged(&local, b"\x0a\0\0\0\0\0", b"\x0a\0\0\0\x0c\0");
    assert_eq!(read(&central).unwrap_err().code(), "entry_method");
}

#[test]
fn limits_hold_whatever_the_headers_say() {
    let noise: Vec<u8> = (0..200_000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let files = [("SKILL.md", GOOD.as_bytes()), ("a", &noise), ("b", &noise)];
    let small = IntakeLimits { max_unpacked_bytes: 300_000, ..IntakeLimits::default() };
    let packed = zipped(&files);
    assert_eq!(read_zip(&packed, "x", &small).unwrap_err().code(), "unpacked_too_large");
    let loose = files.iter().map(|(path, bytes)| ((*path).to_owned(), bytes.to_vec())).collect();
    assert_eq!(read_files(loose, &small).unwrap_err().code(), "unpacked_too_large");
    // An archive whose directory says that the files are tiny.
    let size = u32::try_from(noise.len()).unwrap().to_le_bytes();
    let lying = forged(&packed, &size, &10u32.to_le_bytes());
    assert!(read_zip(&lying, "x", &small).is_err());

    let few = IntakeLimits { max_entries: 2, ..IntakeLimits::default() };
    assert_eq!(read_zip(&packed, "x", &few).unwrap_err().code(), "too_many_entries");
    let one = IntakeLimits { max_skills: 1, ..IntakeLimits::default() };
    let two = zipped(&[("a/SKILL.md", skill("a").as_bytes()), ("b/skill.md", b"x")]);
    assert_eq!(read_zip(&two, "x", &one).unwrap_err().code(), "too_many_skills");
    let tight = IntakeLimits { max_upload_bytes: 1000, ..IntakeLimits::default() };
    assert_eq!(read_zip(&packed, "x", &tight).unwrap_err().code(), "upload_too_large");
    // What lies outside of skills is not unpacked and counts against nothing.
    let outside = zipped(&[("s/SKILL.md", GOOD.as_bytes()), ("data/a", &noise), ("data/b", &noise)]);
    let intake = read_zip(&outside, "x", &small).unwrap();
    assert_eq!((intake.skills.len(), codes(&intake)), (1, vec!["files_outside", "name_folder_mismatch"]));
}

#[test]
fn case_alone_does_not_tell_files_apart() {
    let intake = read(&zipped(&[("SKILL.md", GOOD.as_bytes()), ("a/X.txt", b"1"), ("a/x.txt", b"2")])).unwrap();
    assert_eq!(intake.refused[0].findings[0].code, "case_collision");
    let both = read(&zipped(&[("SKILL.md", GOOD.as_bytes()), ("Skill.MD", b"1")])).unwrap();
    assert_eq!(codes(&both), ["second_skill_md"]);
}

#[test]
fn good_and_bad_skills_of_one_upload_go_their_own_ways() {
    let files = [
        ("k/good/SKILL.md", skill("good")),
        ("k/good/.git/config", "x".to_owned()),
        ("k/good/.git/HEAD", "x".to_owned()),
        ("k/bad/SKILL.md", "---\nname: bad\n---\n".to_owned()),
        ("k/copy/SKILL.md", skill("good")),
        ("k/plain/skill.md", "no fence".to_owned()),
        ("README.md", "x".to_owned()),
    ];
    let files = files.into_iter().map(|(path, text)| (path.to_owned(), text.into_bytes())).collect();
    let intake = read_files(files, &IntakeLimits::default()).unwrap();
    let good: Vec<&str> = intake.skills.iter().map(|skill| skill.path.as_str()).collect();
    let bad: Vec<(&str, Option<&str>)> =
        intake.refused.iter().map(|skill| (skill.path.as_str(), skill.name.as_deref())).collect();
    assert_eq!(good, ["k/copy/SKILL.md"]);
    assert_eq!(bad, [("k/bad/SKILL.md", None), ("k/plain/skill.md", None)]);
    assert_eq!(intake.left_out, ["k/good/.git"]);
    let upload: Vec<&str> = intake.findings.iter().map(|finding| finding.code.as_str()).collect();
    assert_eq!(upload, ["same_skill_twice", "files_outside"]);
    let plain: Vec<&str> = intake.refused[1].findings.iter().map(|finding| finding.code.as_str()).collect();
    assert_eq!(plain, ["wrong_file_name", "no_frontmatter"], "all that is wrong is told at once");
}

#[test]
fn paths_of_loose_files_are_checked_like_those_of_archives() {
    for path in ["../SKILL.md", "/SKILL.md", "a/./SKILL.md", "C:\\SKILL.md", ""] {
        let files = vec![(path.to_owned(), GOOD.as_bytes().to_vec())];
        let refusal = read_files(files, &IntakeLimits::default()).unwrap_err();
        assert_eq!(refusal.code(), "path_refused", "{path:?}");
    }
    let twice = vec![("SKILL.md".to_owned(), GOOD.into()), ("SKILL.md".to_owned(), GOOD.into())];
    assert_eq!(read_files(twice, &IntakeLimits::default()).unwrap_err().code(), "duplicate_path");
}

#[test]
fn one_file_is_a_skill_if_it_has_the_name() {
    let limits = IntakeLimits::default();
    let intake = read_upload(GOOD.into(), "SKILL.md", &limits).unwrap();
    assert_eq!((intake.skills.len(), codes(&intake)), (1, vec![]));
    let named = read_upload(GOOD.into(), "count.md", &limits).unwrap();
    assert_eq!((named.refused[0].name.as_deref(), codes(&named)), (Some("count-sheep"), vec!["wrong_file_name"]));
    let wish = IntakeLimits { rename_skill_md: true, ..limits };
    let renamed = read_single(GOOD.into(), "count.md", &wish).unwrap();
    assert_eq!((renamed.skills[0].path.as_str(), codes(&renamed)), ("SKILL.md", vec!["renamed_skill_md"]));
    assert_eq!(read_upload(b"\x7fELF".to_vec(), "x.tar.gz", &limits).unwrap_err().code(), "unknown_kind");
    let archive = zipped(&[("SKILL.md", GOOD.as_bytes())]);
    assert_eq!(read_upload(archive, "count-sheep.skill", &limits).unwrap().skills.len(), 1);
}

#[cfg(unix)]
#[test]
fn a_folder_is_read_without_following_links() {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};

    let top = tempfile::tempdir().unwrap();
    let put = |path: &str, text: &str| {
        let path = top.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    put("skills/good/SKILL.md", &skill("good"));
    put("skills/good/run.sh", "#!/bin/sh\n");
    put("skills/good/tool.py", "#!/usr/bin/env python3\n");
    put("skills/linked/SKILL.md", &skill("linked"));
    put(".git/objects/x", "x");
    fs::set_permissions(top.path().join("skills/good/run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    symlink("/etc/passwd", top.path().join("skills/linked/notes.md")).unwrap();
    symlink("skills/good", top.path().join("again")).unwrap();

    let intake = read_folder(top.path(), &IntakeLimits::default()).unwrap();
    let good = &intake.skills[0];
    assert!(good.tree.get("run.sh").unwrap().executable);
    assert!(!good.tree.get("tool.py").unwrap().executable);
    assert_eq!(codes(&intake), ["links_left_out", "symlink", "script_not_executable", "runs_scripts"]);
    assert_eq!(intake.refused[0].findings[0].file, "skills/linked/notes.md");
    assert_eq!(intake.left_out, [".git"]);

    // The same skill by any way has the same version, modes being equal.
    let alone = read_path(&top.path().join("again"), &IntakeLimits::default()).unwrap();
    assert_eq!(alone.skills[0].package().version(), good.package().version());
    assert_eq!(alone.skills[0].path, "SKILL.md");
    let missing = read_path(&top.path().join("none"), &IntakeLimits::default()).unwrap_err();
    assert_eq!(missing.code(), "unreadable");
}

#[cfg(target_os = "linux")]
#[test]
fn names_that_cannot_be_kept_refuse_their_skill_alone() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let top = tempfile::tempdir().unwrap();
    for (folder, file) in [("good", &b"x.txt"[..]), ("odd", b"x\\y.txt"), ("latin", b"\xe9.txt")] {
        let folder_path = top.path().join(folder);
        std::fs::create_dir(&folder_path).unwrap();
        std::fs::write(folder_path.join("SKILL.md"), skill(folder)).unwrap();
        std::fs::write(folder_path.join(OsStr::from_bytes(file)), "x").unwrap();
    }
    let intake = read_folder(top.path(), &IntakeLimits::default()).unwrap();
    assert_eq!((intake.skills.len(), codes(&intake)), (1, vec!["unusable_entry", "unusable_entry"]));
}
