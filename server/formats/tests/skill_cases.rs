//! The troubles met in the field (S: skill files, Z: packaging), each read and compared with its answer.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::path::{Path, PathBuf};
use std::process::Command;

use domain::finding::Finding;
use formats::skill::{Intake, IntakeLimits, IntakeRefusal, LoadedSkill, RefusedSkill, read_folder, read_zip};
use serde_json::Value;

fn cases() -> Option<PathBuf> {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/cases"));
    if path.is_dir() {
        Some(path.to_owned())
    } else {
        println!("skipped: no folder {}", path.display());
        None
    }
}

fn expected(case: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(case.join("expect.json")).unwrap()).unwrap()
}

fn folder(path: &Path) -> Intake {
    read_folder(path, &IntakeLimits::default()).unwrap()
}

fn archive(path: &Path) -> Result<Intake, IntakeRefusal> {
    read_zip(&std::fs::read(path).unwrap(), "upload.zip", &IntakeLimits::default())
}

fn good(intake: &Intake, name: &str) -> LoadedSkill {
    let found = intake.skills.iter().find(|skill| skill.manifest.name == name);
    found.unwrap_or_else(|| panic!("no {name} in {intake:#?}")).clone()
}

fn refused<'i>(intake: &'i Intake, folder: &str) -> &'i RefusedSkill {
    let found = intake.refused.iter().find(|skill| skill.path.starts_with(&format!("{folder}/")));
    found.unwrap_or_else(|| panic!("{folder} not refused in {intake:#?}"))
}

/// Findings about how the skill is packed and written down, without advice on what stands in it (tests/skill_contents.rs).
fn about_form(skill: &LoadedSkill) -> Vec<&Finding> {
    const ADVICE: [&str; 4] = ["description_without_trigger", "missing_file", "license_missing", "runs_scripts"];
    skill.findings.iter().filter(|finding| !ADVICE.contains(&finding.code.as_str())).collect()
}

fn codes(skill: &RefusedSkill) -> Vec<&str> {
    skill.findings.iter().filter(|finding| finding.is_error()).map(|finding| finding.code.as_str()).collect()
}

#[test]
fn s01_unquoted_colon() {
    let Some(cases) = cases() else { return };
    let want = expected(&cases.join("S01"));
    let intake = folder(&cases.join("S01"));
    let finding = &refused(&intake, "count-sheep").findings[0];
    assert_eq!(finding.code, want["code"]);
    assert_eq!(finding.file, want["file"]);
    assert_eq!(u64::from(finding.line.unwrap()), want["line"]);
    assert!(u64::from(finding.column.unwrap()).abs_diff(want["column_near"].as_u64().unwrap()) <= 2, "{finding}");
    assert!(finding.hint.as_ref().unwrap().contains("quotes"));
}

#[test]
fn s02_block_scalars() {
    let Some(cases) = cases() else { return };
    let want = expected(&cases.join("S02"));
    let intake = folder(&cases.join("S02"));
    for (name, description) in want.as_object().unwrap() {
        // The answer of `chomp-indent` keeps the leading blanks, which a manifest trims.
        assert_eq!(good(&intake, name).manifest.description, description.as_str().unwrap().trim(), "{name}");
    }
}

#[test]
fn s03_byte_order_mark() {
    let Some(cases) = cases() else { return };
    let skill = good(&folder(&cases.join("S03")), "bom");
    let codes: Vec<&str> = about_form(&skill).iter().map(|finding| finding.code.as_str()).collect();
    assert_eq!(codes, ["bom"]);
    let stored = &skill.tree.get("SKILL.md").unwrap().bytes;
    assert_eq!(*stored, std::fs::read(cases.join("S03/bom/SKILL.md")).unwrap(), "the bytes stay those uploaded");
}

#[test]
fn s04_line_ends() {
    let Some(cases) = cases() else { return };
    let intake = folder(&cases.join("S04"));
    for (folder, want) in expected(&cases.join("S04")).as_object().unwrap() {
        let skill = good(&intake, want["name"].as_str().unwrap());
        assert_eq!(skill.manifest.description, want["description"], "{folder}");
        assert!(about_form(&skill).is_empty(), "{skill:#?}");
    }
}

#[test]
fn s08_square_brackets() {
    let Some(cases) = cases() else { return };
    let intake = folder(&cases.join("S08"));
    for (folder, valid) in expected(&cases.join("S08")).as_object().unwrap() {
        if valid.as_bool().unwrap() {
            let skill = good(&intake, folder);
            let finding = about_form(&skill)[0];
            assert_eq!((finding.code.as_str(), finding.line), ("unknown_key", Some(4)));
            assert!(finding.message.contains("list"), "{finding}");
        } else {
            let finding = &refused(&intake, folder).findings[0];
            assert_eq!((finding.code.as_str(), finding.line), ("yaml_syntax", Some(4)), "{folder}");
            assert!(finding.hint.as_ref().unwrap().contains("quotes"), "{finding}");
        }
    }
}

#[test]
fn s10_name_of_the_file() {
    let Some(cases) = cases() else { return };
    let intake = folder(&cases.join("S10"));
    for wrong in ["lower", "mixed"] {
        assert_eq!(codes(refused(&intake, wrong)), ["wrong_file_name"]);
    }
    let both = good(&intake, "both");
    assert_eq!(both.findings[0].code, expected(&cases.join("S10"))["both"]["warning"]);
    assert!(both.tree.get("skill.md").is_some(), "the other stays a plain file");

    let limits = IntakeLimits { rename_skill_md: true, ..IntakeLimits::default() };
    let renamed = read_folder(&cases.join("S10"), &limits).unwrap();
    assert_eq!(good(&renamed, "lower").path, "lower/SKILL.md");
    assert!(good(&renamed, "mixed").findings.iter().any(|finding| finding.code == "renamed_skill_md"));
    assert!(good(&renamed, "both").tree.get("skill.md").is_some());
}

#[test]
fn s11_name_and_folder() {
    let Some(cases) = cases() else { return };
    let want = expected(&cases.join("S11"));
    for top in ["S11", "S11/pen-counter"] {
        let skill = good(&folder(&cases.join(top)), "count-sheep");
        assert_eq!(skill.findings[0].code, want["pen-counter"]["finding"], "{top}");
        assert!(skill.findings[0].message.contains("pen-counter"));
        assert_eq!(skill.package().folder(), "count-sheep");
    }
    let root = archive(&cases.join("S11/root-level.zip")).unwrap();
    assert!(about_form(&good(&root, "count-sheep")).is_empty(), "{root:#?}");
}

#[test]
fn s12_two_of_one_name() {
    let Some(cases) = cases() else { return };
    let want = &expected(&cases.join("S12"))["two.zip"];
    let intake = archive(&cases.join("S12/two.zip")).unwrap();
    assert_eq!(intake.skills, []);
    for (skill, path) in intake.refused.iter().zip(want["paths"].as_array().unwrap()) {
        assert_eq!(skill.path, *path);
        assert_eq!(skill.findings[0].code, want["code"]);
        assert!(skill.findings[0].message.contains("a/SKILL.md and b/SKILL.md"));
    }
}

#[test]
fn s13_other_encodings() {
    let Some(cases) = cases() else { return };
    let intake = folder(&cases.join("S13"));
    for (folder, valid) in expected(&cases.join("S13")).as_object().unwrap() {
        if valid.as_bool().unwrap() {
            assert_eq!(good(&intake, folder).manifest.name, *folder);
        } else {
            assert_eq!(codes(refused(&intake, folder)), ["not_utf8"], "{folder}");
        }
    }
    let latin = &refused(&intake, "latin1").findings[0];
    assert_eq!(latin.line, Some(3));
    assert!(latin.message.contains("byte 31"), "{latin}");
}

#[test]
fn s16_tabs() {
    let Some(cases) = cases() else { return };
    let intake = folder(&cases.join("S16"));
    let finding = &refused(&intake, "tab-indent").findings[0];
    assert_eq!(u64::from(finding.line.unwrap()), expected(&cases.join("S16"))["tab-indent"]["line"]);
    assert_eq!(finding.code, "yaml_tab");
    assert_eq!(good(&intake, "tab-after-colon").manifest.description, "Counts sheep.");
}

#[test]
fn s17_no_frontmatter() {
    let Some(cases) = cases() else { return };
    let intake = folder(&cases.join("S17"));
    for (folder, want) in expected(&cases.join("S17")).as_object().unwrap() {
        let want: Vec<&str> = match want {
            Value::String(code) => vec![code],
            list => list.as_array().unwrap().iter().map(|code| code.as_str().unwrap()).collect(),
        };
        assert_eq!(codes(refused(&intake, folder)), want, "{folder}");
    }
}

#[test]
fn z01_mac_finder() {
    let Some(cases) = cases() else { return };
    let want = expected(&cases.join("Z01"));
    let intake = archive(&cases.join("Z01/finder.zip")).unwrap();
    assert_eq!(intake.left_out.len() as u64, want["ignored"]);
    let skill = good(&intake, want["skills"][0].as_str().unwrap());
    let plain = archive(&cases.join("Z02/one-folder.zip")).unwrap();
    assert_eq!(skill.package().version(), good(&plain, "count-sheep").package().version());
}

#[test]
fn z02_layouts() {
    let Some(cases) = cases() else { return };
    for (name, number) in expected(&cases.join("Z02")).as_object().unwrap() {
        let intake = archive(&cases.join(format!("Z02/{name}.zip"))).unwrap();
        assert_eq!(intake.skills.len() as u64, *number, "{name}");
        assert_eq!(intake.refused, [], "{name}");
    }
    let inner = archive(&cases.join("Z02/inner.zip")).unwrap();
    assert!(inner.skills[0].tree.get("examples/demo/SKILL.md").is_some());
    let none = archive(&cases.join("Z02/none.zip")).unwrap();
    assert_eq!(none.findings[0].message, "no SKILL.md found; looked at 1 entries");
}

#[test]
fn z03_paths_that_climb() {
    let Some(cases) = cases() else { return };
    for (name, valid) in expected(&cases.join("Z03")).as_object().unwrap() {
        let read = archive(&cases.join(format!("Z03/{name}.zip")));
        if valid.as_bool().unwrap() {
            assert_eq!(read.unwrap().skills[0].tree.len(), 3);
        } else {
            let finding = read.unwrap_err().finding("upload.zip");
            assert_eq!(finding.code, "path_refused", "{name}");
            assert!(finding.message.contains(if name == "dotdot-inside" { ".." } else { "climbed.txt" }), "{finding}");
        }
    }
}

/// Runs the script of a case in a folder of its own and answers that folder.
fn made(case: &Path) -> Option<tempfile::TempDir> {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("make.py");
    std::fs::copy(case.join("make.py"), &script).unwrap();
    match Command::new("python3").arg(&script).status() {
        Ok(status) if status.success() => Some(folder),
        other => {
            println!("skipped: {} did not run: {other:?}", script.display());
            None
        }
    }
}

#[test]
fn z05_bombs() {
    let Some(cases) = cases() else { return };
    let Some(folder) = made(&cases.join("Z05")) else { return };
    let codes =
        [("zeros-64m", "ratio_too_large"), ("entries-20001", "too_many_entries"), ("deep-300", "path_too_long")];
    for (name, code) in codes {
        assert_eq!(expected(&cases.join("Z05"))[name], false);
        let refusal = archive(&folder.path().join(format!("{name}.zip"))).unwrap_err();
        assert_eq!(refusal.code(), code, "{refusal}");
    }
}

#[test]
fn z07_links() {
    let Some(cases) = cases() else { return };
    let intake = archive(&cases.join("Z07/link.zip")).unwrap();
    assert_eq!(intake.skills, []);
    assert_eq!(intake.refused[0].findings[0].message, "symbolic link references/notes.md");
    let refusal = archive(&cases.join("Z07/dirlink.zip")).unwrap_err();
    assert_eq!(refusal.code(), "path_below_link");
}

#[test]
fn z09_execute_bits() {
    let Some(cases) = cases() else { return };
    for (name, files) in expected(&cases.join("Z09")).as_object().unwrap() {
        let skill = archive(&cases.join(format!("Z09/{name}.zip"))).unwrap().skills.remove(0);
        for (path, mode) in files.as_object().unwrap() {
            assert_eq!(skill.tree.get(path).unwrap().executable, mode == "0755", "{name} {path}");
        }
        let told = match name.as_str() {
            "dos" => vec!["modes_guessed"],
            "sticky" => vec!["mode_bits_dropped"],
            _ => vec![],
        };
        let codes: Vec<&str> = about_form(&skill).iter().map(|finding| finding.code.as_str()).collect();
        assert_eq!(codes, told, "{name}");
    }
}

#[test]
fn z10_large_uploads() {
    let Some(cases) = cases() else { return };
    let Some(folder) = made(&cases.join("Z10")) else { return };
    assert_eq!(archive(&folder.path().join("big-3m.zip")).unwrap().skills.len(), 1);
    let refusal = archive(&folder.path().join("big-60m.zip")).unwrap_err();
    assert_eq!(refusal.code(), "upload_too_large");
    assert!(refusal.to_string().contains("50 MiB"), "{refusal}");
}
