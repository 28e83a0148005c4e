//! The frontmatter splitter and its YAML, as tables of texts.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use formats::skill::frontmatter::{FrontmatterError, split};
use formats::skill::manifest;
use serde::Deserialize;

#[test]
fn a_file_is_cut_at_its_fences() {
    let front = split(b"\xef\xbb\xbf---\r\nname: x\r\rtitle: y\n --- \n# Body\r\n---\nrest\xef\xbb\xbf").unwrap();
    assert!(front.bom);
    assert_eq!((front.yaml.as_str(), front.yaml_start_line), ("name: x\n\ntitle: y\n", 2));
    assert_eq!((front.body.as_str(), front.body_start_line), ("# Body\n---\nrest\u{feff}", 6));
    assert_eq!(split(b"---\n---").unwrap().body_start_line, 3);
}

#[test]
fn each_kind_of_missing_frontmatter_is_told_apart() {
    let long = format!("---\na: \"{}\"\n---\n", "x".repeat(300_000));
    for (bytes, want) in [
        (&b""[..], FrontmatterError::Empty),
        (b"\xef\xbb\xbf", FrontmatterError::Empty),
        (b" \n\t\n", FrontmatterError::Empty),
        (b"# Title\n---\n", FrontmatterError::Missing),
        (b"----\nname: x\n----\n", FrontmatterError::Missing),
        (b"---\nname: x\n", FrontmatterError::NeverClosed),
        (b"---", FrontmatterError::NeverClosed),
        (b"\n\n---\nname: x\n---\n", FrontmatterError::FenceNotFirst { line: 3 }),
        (b"  ---\nname: x\n---\n", FrontmatterError::FenceNotFirst { line: 1 }),
        (b"---\r\nname: \xff\r\n---\n", FrontmatterError::NotUtf8 { offset: 11, line: 2 }),
        (b"\xff\xfe-\0", FrontmatterError::NotUtf8 { offset: 0, line: 1 }),
        (long.as_bytes(), FrontmatterError::TooLong { bytes: 300_006 }),
    ] {
        assert_eq!(split(bytes).err(), Some(want));
    }
}

#[test]
fn yaml_faults_name_line_cause_and_remedy() {
    let bomb = "a: &a [x, x, x, x]\nb: &b [*a, *a, *a, *a]\nc: &c [*b, *b, *b, *b]\nd: &d [*c, *c, *c, *c]\n\
                e: &e [*d, *d, *d, *d]\nf: &f [*e, *e, *e, *e]\ng: &g [*f, *f, *f, *f]\nh: [*g, *g, *g, *g]\n";
    let deep = format!("a:\n{}", (1..60).map(|depth| format!("{}b:\n", " ".repeat(depth))).collect::<String>());
    for (yaml, line, column, code, hint) in [
        ("a: b\nd: one: two", 3, 7, "yaml_syntax", "`d: \"one: two\"`"),
        ("d: Counts\n  in ways: by colour", 3, 10, "yaml_syntax", "whole value in quotes"),
        ("d: ends with:", 2, 13, "yaml_syntax", "`d: \"ends with:\"`"),
        ("a: [x] [y]", 2, 4, "yaml_syntax", "`a: \"[x] [y]\"`"),
        ("a: {x} y", 2, 4, "yaml_syntax", "`a: \"{x} y\"`"),
        ("a: \"b\" c", 2, 4, "yaml_syntax", "quote the whole value"),
        ("a: @b", 2, 4, "yaml_syntax", "`a: \"@b\"`"),
        ("a: *.md", 2, 4, "yaml_syntax", "`a: \"*.md\"`"),
        ("a: b\n  c: d", 3, 3, "yaml_syntax", "first column"),
        ("m:\n\ta: b", 3, 1, "yaml_tab", "use spaces"),
        ("m:\n  - a\n\t- b", 4, 1, "yaml_tab", "use spaces"),
        ("name: a\nname: b", 3, 1, "yaml_duplicate_key", "keep one"),
        ("- a\n- b", 2, 1, "yaml_shape", "`name: …`"),
        ("only words", 2, 1, "yaml_shape", "`name: …`"),
        (bomb, 0, 0, "yaml_too_complex", "without anchors"),
        (&deep, 0, 0, "yaml_too_complex", "plain"),
    ] {
        let fault = split(format!("---\n{yaml}\n---\n").as_bytes()).unwrap().fields().unwrap_err();
        assert_eq!(fault.code, code, "{yaml:?}: {fault:?}");
        assert!(fault.hint.as_ref().is_some_and(|told| told.contains(hint)), "{yaml:?}: {fault:?}");
        if line > 0 {
            assert_eq!((fault.line, fault.column), (Some(line), Some(column)), "{yaml:?}: {fault:?}");
        }
    }
}

#[test]
fn typed_values_are_read_with_the_same_parser() {
    #[derive(Debug, PartialEq, Deserialize)]
    struct Task {
        title: String,
        internet: bool,
        timeout_sec: f64,
    }
    let front = split(b"---\ntitle: 007\ninternet: yes\ntimeout_sec: 600\n---\n").unwrap();
    let task = Task { title: "007".to_owned(), internet: true, timeout_sec: 600.0 };
    assert_eq!(front.parse::<Task>().unwrap(), task);
    let fault = split(b"---\ntitle: x\ninternet: true\ntimeout_sec: soon\n---\n").unwrap().parse::<Task>().unwrap_err();
    assert_eq!((fault.code, fault.line), ("yaml_shape", Some(4)), "{fault:?}");
}

#[test]
fn fields_keep_order_line_and_text() {
    let front = split(b"---\n# note\nb: yes\n\na: 007\nc: 2026-01-02\n---\n").unwrap();
    let fields = front.fields().unwrap();
    let seen: Vec<_> = fields.iter().map(|field| (field.key.as_str(), field.value.as_str(), field.line)).collect();
    assert_eq!(seen, [("b", Some("yes"), 3), ("a", Some("007"), 5), ("c", Some("2026-01-02"), 6)]);
}

/// Codes and lines of all findings about a `SKILL.md`, in order.
fn linted(text: &str) -> Vec<(String, Option<u32>)> {
    let check = manifest::check(text.as_bytes(), "SKILL.md", None);
    let stops = check.findings.iter().any(domain::finding::Finding::is_error);
    assert_eq!(check.manifest.is_none(), stops, "{text:?}");
    check.findings.into_iter().map(|finding| (finding.code, finding.line)).collect()
}

#[test]
fn the_specification_is_checked_line_by_line() {
    let ok = "name: a\ndescription: if b\n";
    let long_body = "line\n".repeat(501);
    for (yaml, body, want) in [
        (ok, "x", vec![]),
        ("name: é-9\ndescription: if b\n", "x", vec![]),
        ("description: if b\n", "x", vec![("name_missing", 1)]),
        ("name:\ndescription: ' '\n", "x", vec![("name_missing", 2), ("description_missing", 3)]),
        ("name: 12\ndescription: [b]\n", "x", vec![("name_invalid", 2), ("description_invalid", 3)]),
        ("name: \"a\\nb\"\ndescription: if b\n", "x", vec![("name_invalid", 2)]),
        ("name: FFmpeg Audio\ndescription: if b\n", "x", vec![("name_not_conforming", 2)]),
        ("name: a--b\ndescription: if b\n", "x", vec![("name_not_conforming", 2)]),
        ("name: dialogue_graph\ndescription: if b\n", "x", vec![("name_not_conforming", 2)]),
        ("name: a\ndescription: \"if b\u{202e}c\"\n", "x", vec![("hidden_characters", 3)]),
        ("name: a\nversion: 1\ndescription: if b\n", "x", vec![("unknown_key", 3)]),
        ("name: a\ndescription: if b\nlicense: [MIT]\n", "x", vec![("license_not_text", 4)]),
        ("name: a\ndescription: if b\nmetadata:\n  version: 1.0\n", "x", vec![("metadata_not_texts", 4)]),
        ("name: a\ndescription: if b\nmetadata:\n", "x", vec![]),
        ("name: a\ndescription: if b\nallowed-tools: [Bash]\n", "x", vec![("allowed_tools_not_text", 4)]),
        ("name: a\ndescription: if b\nallowed-tools: Bash Read\n", "x", vec![]),
        ("name: a\ndescription: if b\ncompatibility: 3\n", "x", vec![("compatibility_invalid", 4)]),
        (ok, " \n", vec![("body_empty", 5)]),
        (ok, &long_body, vec![("body_long", 5)]),
    ] {
        let want: Vec<_> = want.into_iter().map(|(code, line)| (code.to_owned(), Some(line))).collect();
        assert_eq!(linted(&format!("---\n{yaml}---\n{body}")), want, "{yaml:?}");
    }
    let long = format!("---\nname: {}\ndescription: {}\n---\nx", "a".repeat(65), "if ".repeat(342));
    let codes: Vec<String> = linted(&long).into_iter().map(|(code, _)| code).collect();
    assert_eq!(codes, ["name_not_conforming", "description_long"]);
}
