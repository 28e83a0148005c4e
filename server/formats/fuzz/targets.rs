//! What each fuzz target does with its bytes. Besides "no panic" each holds what its reader promises.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    dead_code,
    reason = "tests"
)]

use std::collections::BTreeMap;
use std::time::Duration;

use domain::finding::Finding;
use domain::imported::ResultFormat;
use domain::path::RelPath;
use domain::task::Scoring;
use domain::time::Timestamp;
use domain::tree::{LoadedFile, LoadedTree, Tree};
use formats::import::{Files, read_files};
use formats::patch::{Side, between};
use formats::skill::{IntakeLimits, manifest, read_zip};
use formats::task::{Checkout, LoadedTask, load};
use formats::trace::{TraceFormat, TraceReader};
use formats::verdict::{VerifierEnding, VerifierRun, judge};

/// What is done with the bytes.
pub type Target = fn(&[u8]);

/// Every target by its name, which is that of its corpus too.
pub const TARGETS: [(&str, Target); 12] = [
    ("frontmatter", frontmatter),
    ("skill", skill),
    ("zip", zip),
    ("task_md", task_md),
    ("task_toml", task_toml),
    ("task_yaml", task_yaml),
    ("evals", evals),
    ("config", config),
    ("verdict", verdict),
    ("trace", trace),
    ("results", results),
    ("patch", patch),
];

/// A manifest exactly where no finding is an error.
pub fn frontmatter(data: &[u8]) {
    let check = manifest::check(data, "SKILL.md", Some("count-sheep"));
    assert_eq!(check.manifest.is_none(), check.findings.iter().any(Finding::is_error));
}

/// The bytes as a skill's only text: what is said about its contents.
pub fn skill(data: &[u8]) {
    let file = |name: &str, bytes: &[u8]| (format!("count-sheep/{name}"), bytes.to_vec());
    let front = b"---\nname: count-sheep\ndescription: x\n---\n";
    let files = vec![file("SKILL.md", &[front.as_slice(), data].concat()), file("notes.md", data), file("a.sh", data)];
    let intake = formats::skill::read_files(files, &IntakeLimits::default()).unwrap();
    assert_eq!(intake.skills.len() + intake.refused.len(), 1);
}

/// Never more bytes than allowed, never a path that leaves the upload.
pub fn zip(data: &[u8]) {
    let limits = IntakeLimits { max_unpacked_bytes: 1 << 18, max_entries: 200, ..IntakeLimits::default() };
    let Ok(intake) = read_zip(data, "upload.zip", &limits) else { return };
    let trees = intake.skills.iter().flat_map(|skill| skill.tree.iter());
    let bytes: usize = trees.map(|(_, file)| file.bytes.len()).sum();
    assert!(bytes as u64 <= limits.max_unpacked_bytes);
}

fn task(files: &[(&str, &[u8])]) -> LoadedTask {
    let rest: [(&str, &[u8]); 4] = [
        ("environment/Dockerfile", b"FROM debian\n"),
        ("tests/test.sh", b"true\n"),
        ("solution/solve.sh", b"true\n"),
        ("instruction.md", b"Count.\n"),
    ];
    let file = |bytes: &[u8]| LoadedFile { executable: false, bytes: bytes.to_vec() };
    let files = rest.iter().chain(files).map(|(path, bytes)| (RelPath::new(path).unwrap(), file(bytes)));
    let loaded = load("sheep", files.collect::<LoadedTree>(), Vec::new());
    assert_eq!(loaded.task.is_none(), loaded.findings.iter().any(Finding::is_error));
    loaded
}

/// The newer layout's one file.
pub fn task_md(data: &[u8]) {
    task(&[("task.md", data)]);
}

/// The older layout's settings.
pub fn task_toml(data: &[u8]) {
    task(&[("task.toml", data)]);
}

/// The YAML that may lie beside: a compose file, a verifier's description; and a Dockerfile.
pub fn task_yaml(data: &[u8]) {
    task(&[("environment/docker-compose.yaml", data), ("tests/verifier.md", data), ("environment/Dockerfile", data)]);
}

/// Each case a task or an error.
pub fn evals(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    for loaded in formats::task::evals_of_text(text, std::path::Path::new("/nowhere/evals/evals.json")) {
        assert_eq!(loaded.task.is_none(), loaded.findings.iter().any(Finding::is_error));
    }
}

/// The configuration of SWE-Skills-Bench: each task of it a task or an error.
pub fn config(data: &[u8]) {
    let folder = tempfile::tempdir().unwrap();
    let put = |path: &str, bytes: &[u8]| {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    };
    put("config/benchmark_config.yaml", data);
    put("tasks/batch1/count-sheep.md", b"# Task: Count\n\n## Background\nx\n");
    put("tests/batch1/test_count_sheep.py", b"def test_x():\n    pass\n");
    put("skills/count-sheep/SKILL.md", b"---\nname: count-sheep\ndescription: x\n---\nx\n");
    match Checkout::open(folder.path()) {
        Ok(checkout) => checkout.tasks().iter().for_each(|task| {
            let loaded = checkout.read(task);
            let mut told = loaded.findings.iter().chain(checkout.findings());
            assert!(loaded.task.is_some() || told.any(Finding::is_error), "{:#?}", loaded.findings);
        }),
        Err(findings) => assert!(findings.iter().any(Finding::is_error)),
    }
}

/// The bytes as whatever a verifier may leave, by the line that begins a part.
pub fn verdict(data: &[u8]) {
    let parts = parts(data);
    let part = |name: &str| parts.get(name).cloned();
    let run = VerifierRun {
        ending: match part("exit").as_deref() {
            Some(b"timeout") => VerifierEnding::TimedOut { limit: Duration::from_secs(1) },
            Some(code) => VerifierEnding::Exited { code: code.first().copied().unwrap_or(0).into() },
            None => VerifierEnding::Exited { code: 0 },
        },
        reward_txt: part("reward.txt"),
        reward_json: part("reward.json"),
        ctrf: ["ctrf.json", "ctrf-2.json"].iter().filter_map(|name| Some(((*name).to_owned(), part(name)?))).collect(),
        junit: part("junit.xml").map(|bytes| ("junit.xml".to_owned(), bytes)).into_iter().collect(),
        checks: part("checks"),
        output: String::from_utf8_lossy(&part("output").unwrap_or_default()).into_owned(),
        pass_mark: 1.0,
        scoring: if parts.contains_key("rate") { Scoring::PassRate } else { Scoring::Reward },
    };
    let judged = judge(&run);
    assert_eq!(judged.reward.is_some(), judged.verdict.scored().is_some());
    assert!(judged.reward.is_none_or(|reward| (0.0..=1.0).contains(&reward)));
}

/// The first byte is the format, as a letter from `a`. The same comes out however the bytes are cut.
pub fn trace(data: &[u8]) {
    let Some((first, bytes)) = data.split_first() else { return };
    let format = TraceFormat::ALL[usize::from(first.wrapping_sub(b'a')) % TraceFormat::ALL.len()];
    let whole = formats::trace::read(format, bytes);
    let mut reader = TraceReader::new(format);
    bytes.chunks(7).for_each(|piece| reader.push(piece));
    let pieces = reader.finish();
    assert_eq!((pieces.counts, pieces.usage.tokens), (whole.counts, whole.usage.tokens));
}

/// The first line is the format's word; parts are files by their path.
pub fn results(data: &[u8]) {
    let first = data.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let format = ResultFormat::ALL.into_iter().find(|format| format.word().as_bytes() == first);
    let files: BTreeMap<String, Vec<u8>> = parts(data);
    for (path, bytes) in &files {
        let _ = formats::results::read(path, bytes, 1.0);
    }
    match read_files(&mut Files::at_hand("x", files), format, Timestamp(0)) {
        Err(findings) => assert!(findings.iter().any(Finding::is_error)),
        Ok(reading) => reading.evaluations.iter().for_each(|read| {
            let json = serde_json::to_string(&(&read.plan, &read.trials)).unwrap();
            assert!(!json.contains("NaN"));
        }),
    }
}

/// One file before (`before`) and after (`after`): where it is text, the patch makes the one of the other, line by line.
pub fn patch(data: &[u8]) {
    let parts = parts(data);
    let (nothing, name) = (Tree::new(), RelPath::new("count sheep.txt").unwrap());
    let tree = |part: &str| -> LoadedTree {
        let file = |bytes: &Vec<u8>| (name.clone(), LoadedFile { executable: false, bytes: bytes.clone() });
        parts.get(part).map(file).into_iter().collect()
    };
    let (before, after) = (tree("before"), tree("after"));
    let made = between(Side { files: &before, sums: &nothing }, Side { files: &after, sums: &nothing });
    assert_eq!(made.changes.is_empty(), parts.get("before") == parts.get("after"));
    let text = |part: &str| parts.get(part).map_or(Some(""), |bytes| std::str::from_utf8(bytes).ok());
    if let (Some(before), Some(after), 0, false) = (text("before"), text("after"), made.left_out, made.text.is_empty())
    {
        assert_eq!(patched(before, &made.text), after, "{}", made.text);
    }
}

/// What `before` becomes by a patch of one file, read as `git apply` reads it.
fn patched(before: &str, patch: &str) -> String {
    let mut old = before.split_inclusive('\n');
    let (mut new, mut taken, mut is_in_hunk, mut last) = (String::new(), 0_usize, false, ' ');
    for line in patch.split_inclusive('\n') {
        if let Some(hunk) = line.strip_prefix("@@ -") {
            let mut range = hunk.split(' ').next().unwrap().split(',').map(|number| number.parse::<usize>().unwrap());
            let (first, lines) = (range.next().unwrap(), range.next().unwrap_or(1));
            let untouched = if lines == 0 { first } else { first - 1 };
            new.extend(old.by_ref().take(untouched - taken));
            (taken, is_in_hunk) = (untouched, true);
        } else if is_in_hunk {
            let (mark, rest) = line.split_at(1);
            match mark {
                " " | "-" => {
                    // The patch ends every line; that the text does not is said by the line after.
                    assert_eq!(old.next().map(|line| line.trim_end_matches('\n')), Some(rest.trim_end_matches('\n')));
                    taken += 1;
                    if mark == " " {
                        new.push_str(rest);
                    }
                }
                "+" => new.push_str(rest),
                "\\" => {
                    if last != '-' {
                        assert_eq!(new.pop(), Some('\n'));
                    }
                }
                other => panic!("{other:?} begins a line of a hunk"),
            }
            last = mark.chars().next().unwrap();
        }
    }
    new.extend(old);
    new
}

/// Files of one input: each begins with a line `=== name`.
fn parts(data: &[u8]) -> BTreeMap<String, Vec<u8>> {
    let mut parts: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let mut open: Option<String> = None;
    for line in data.split_inclusive(|byte| *byte == b'\n') {
        if let Some(name) = line.strip_prefix(b"=== ") {
            let name = String::from_utf8_lossy(name).trim().to_owned();
            open = RelPath::new(&name).is_ok().then_some(name);
            parts.extend(open.clone().map(|name| (name, Vec::new())));
        } else if let Some(part) = open.as_ref().and_then(|name| parts.get_mut(name)) {
            part.extend_from_slice(line);
        }
    }
    parts
}
