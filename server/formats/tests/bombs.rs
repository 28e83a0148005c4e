//! Inputs that are small and unpack to much, or that never end: they are refused, or read as far as the limit goes, and memory stays flat. One test
//! alone in its program, because the peak is the process's.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::io::{Cursor, Write};
use std::path::Path;

use formats::skill::{IntakeLimits, manifest, read_zip};
use formats::task::evals_of_text;
use formats::trace::{TraceFormat, TraceReader};
use formats::verdict::{ctrf, read_reward};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

const MIB: u64 = 1 << 20;

fn status(field: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(field)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}

/// Bytes by which the peak of the process rose above what it had.
fn peak(run: impl FnOnce()) -> u64 {
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
    let before = status("VmRSS");
    run();
    status("VmHWM").saturating_sub(before)
}

/// An archive with a skill and files that are filled with `piece` over and over.
fn bomb(files: usize, bytes: usize, piece: &[u8]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    zip.start_file("s/SKILL.md", SimpleFileOptions::default()).unwrap();
    zip.write_all(b"---\nname: s\ndescription: x\n---\nx\n").unwrap();
    for file in 0..files {
        zip.start_file(format!("s/{file}"), SimpleFileOptions::default()).unwrap();
        (0..bytes / piece.len().max(1)).for_each(|_| zip.write_all(piece).unwrap());
    }
    zip.finish().unwrap().into_inner()
}

#[test]
fn memory_stays_flat() {
    let limits = IntakeLimits::default();
    let tight = IntakeLimits { max_unpacked_bytes: 8 * MIB, ..limits };
    let refused = |bytes: &[u8], limits: &IntakeLimits, code: &str| {
        assert_eq!(read_zip(bytes, "x.zip", limits).unwrap_err().code(), code);
    };
    let zeros = bomb(1, 64 << 20, &[0; 1 << 16]);
    let many = bomb(10_001, 0, b"");
    // Little over the bytes that an entry may have whatever its ratio, so that only the sum is too large.
    let sum = bomb(24, 1 << 20, &[7; 1 << 16]);
    let aliases = {
        let mut text = "---\nname: x\na0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
        (1..12).for_each(|n| text += &format!("a{n}: &a{n} [{}]\n", vec![format!("*a{}", n - 1); 9].join(", ")));
        text + "---\n"
    };
    let deep = format!("{{\"evals\": {}", "[".repeat(4 << 20));
    for (name, most, run) in [
        ("zeros", 32 * MIB, Box::new(|| refused(&zeros, &limits, "ratio_too_large")) as Box<dyn FnOnce()>),
        ("entries", 8 * MIB, Box::new(|| refused(&many, &limits, "too_many_entries"))),
        ("sum", 24 * MIB, Box::new(|| refused(&sum, &tight, "unpacked_too_large"))),
        (
            "aliases",
            16 * MIB,
            Box::new(|| assert!(manifest::check(aliases.as_bytes(), "SKILL.md", None).manifest.is_none())),
        ),
        ("cases", 16 * MIB, Box::new(|| assert!(evals_of_text(&deep, Path::new("evals.json"))[0].task.is_none()))),
        ("report", 16 * MIB, Box::new(|| assert!(ctrf::read_ctrf(deep.as_bytes()).is_err()))),
        ("reward", 16 * MIB, Box::new(|| assert!(read_reward(Some(deep.as_bytes()), None).is_err()))),
        (
            "line",
            48 * MIB,
            Box::new(|| {
                let mut reader = TraceReader::new(TraceFormat::ClaudeStream);
                let piece = [b'x'; 1 << 16];
                reader.push(b"{\"type\":\"");
                (0..512).for_each(|_| reader.push(&piece));
                reader.push(b"\n{}\n");
                assert_eq!(reader.finish().counts.left_out, 1);
            }),
        ),
    ] {
        let rose = peak(run);
        assert!(rose <= most, "{name}: {} MiB, more than {}", rose / MIB, most / MIB);
    }
}
