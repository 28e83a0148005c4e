//! No bytes whatever make an importer panic: good sources, cut, spliced and flipped by a generator with a fixed seed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod results_support;

use std::collections::BTreeMap;
use std::path::Path;

use domain::draw::Draw;
use domain::history::EvaluationHistory;
use domain::id::EvaluationId;
use domain::imported::ResultFormat;
use formats::export::ExportFormat;
use formats::import::{Files, read_files};

use crate::results_support::{Any, NOW, exported};

fn mutated(draw: &mut Draw, seed: &[u8]) -> Vec<u8> {
    const PIECES: [&[u8]; 12] = [
        b"null",
        b"-1",
        b"1e999",
        b"{}",
        b"[]",
        b"\"\"",
        b",",
        b"\xff",
        b"99999999999999999999",
        b"true",
        b"\n",
        b"\"repeat\":4294967295,",
    ];
    let mut bytes = seed.to_vec();
    for _ in 0..=draw.below(3) {
        let at = draw.below(bytes.len().max(1));
        match draw.below(5) {
            0 => bytes.truncate(at),
            1 => drop(bytes.splice(at..at, PIECES[draw.below(PIECES.len())].iter().copied())),
            2 if !bytes.is_empty() => bytes[at] ^= 1 << draw.below(8),
            // A value in place of another keeps the rest readable.
            3 => {
                if let Some(colon) = bytes.iter().skip(at).position(|byte| *byte == b':').map(|colon| colon + at + 1) {
                    let end = bytes.iter().skip(colon).position(|byte| matches!(byte, b',' | b'}' | b']' | b'\n'));
                    let end = end.map_or(bytes.len(), |end| colon + end);
                    drop(bytes.splice(colon..end, PIECES[draw.below(PIECES.len())].iter().copied()));
                }
            }
            _ => {
                let end = at + draw.below((bytes.len() - at).clamp(1, 40));
                drop(bytes.drain(at..end.min(bytes.len())));
            }
        }
    }
    bytes
}

fn seeds(folder: &Path, at: &str, files: &mut BTreeMap<String, Vec<u8>>) {
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = format!("{at}{}", entry.file_name().to_str().unwrap());
        if entry.path().is_dir() {
            seeds(&entry.path(), &format!("{path}/"), files);
        } else {
            files.insert(path, std::fs::read(entry.path()).unwrap());
        }
    }
}

#[test]
fn no_bytes_make_an_importer_panic() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/import_cases");
    let mut sources: Vec<(ResultFormat, BTreeMap<String, Vec<u8>>)> = Vec::new();
    for format in ResultFormat::ALL.into_iter().filter(|format| *format != ResultFormat::Skilldelta) {
        let mut files = BTreeMap::new();
        seeds(&cases.join(format.word()), "", &mut files);
        sources.push((format, files));
    }
    let (history, files) = Any(Draw::from_seed(3)).evaluation();
    let own = exported(&history, &files, ExportFormat::Json).remove(0).bytes;
    sources.push((ResultFormat::Skilldelta, BTreeMap::from([("e.json".to_owned(), own)])));
    let result = serde_json::to_vec(&history.report()).unwrap();
    sources.push((ResultFormat::Skilldelta, BTreeMap::from([("r.json".to_owned(), result)])));
    let mut draw = Draw::from_seed(9);
    let (mut read, mut refused) = (0, 0);
    for round in 0..6_000 {
        let (format, mut files) = sources[round % sources.len()].clone();
        let victims: Vec<String> = files.keys().cloned().collect();
        let victim = &victims[draw.below(victims.len())];
        let bytes = mutated(&mut draw, &files[victim]);
        files.insert(victim.clone(), bytes);
        match read_files(&mut Files::at_hand("x", files), Some(format), NOW) {
            Err(findings) => {
                refused += 1;
                let errors: Vec<_> = findings.iter().filter(|finding| finding.is_error()).collect();
                assert!(!errors.is_empty() && errors.iter().all(|finding| finding.hint.is_some()), "{findings:#?}");
            }
            Ok(reading) => {
                read += 1;
                for evaluation in reading.evaluations {
                    let history = EvaluationHistory {
                        id: EvaluationId(1),
                        created_at: evaluation.created_at,
                        plan: evaluation.plan,
                        imported: None,
                        stopped: evaluation.stopped,
                        trials: evaluation.trials,
                    };
                    let json = serde_json::to_string(&history.report()).unwrap();
                    assert!(!json.contains("NaN"), "{json}");
                }
            }
        }
    }
    assert!(
        read > 1_000 && refused > 1_000,
        "the generator makes too little of one kind: {read} read, {refused} refused"
    );
}
