//! No bytes whatever make the readers panic: good inputs, cut, spliced and flipped by a generator with a fixed seed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::io::{Cursor, Write};

use formats::skill::{IntakeLimits, manifest, read_zip};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit.max(1) as u64).unwrap()
    }
}

fn mutated(random: &mut Random, seed: &[u8], pieces: &[&[u8]]) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len());
        match random.below(5) {
            0 => bytes.truncate(at),
            1 => drop(bytes.splice(at..at, pieces[random.below(pieces.len())].iter().copied())),
            2 if !bytes.is_empty() => bytes[at] = random.next().to_le_bytes()[0],
            3 if !bytes.is_empty() => bytes[at] ^= 1 << random.below(8),
            _ => {
                let end = at + random.below(bytes.len() - at);
                drop(bytes.drain(at..end));
            }
        }
    }
    bytes
}

#[test]
fn no_text_makes_the_manifest_reader_panic() {
    let seeds: [&[u8]; 5] = [
        b"---\nname: count-sheep\ndescription: >-\n  Counts\n  sheep.\nmetadata:\n  a: 'b'\n---\n# Body\n",
        b"\xef\xbb\xbf---\r\nname: x\r\ndescription: |2\r\n    a\r\n---\r\n",
        b"---\na: &a [1, 2]\nb: *a\n? c\n: {d: e}\n<<: *a\n---\n",
        b"---\nname: [x] [y]\ndescription: one: two\n\tx: y\n---\n",
        b"---\n\"k\\u00e9\": \"v\"\n!!binary k: !t v\n... \n---\n",
    ];
    let pieces: [&[u8]; 16] = [
        b": ",
        b"\n",
        b"\r",
        b"\t",
        b"---",
        b"[",
        b"{",
        b"&a ",
        b"*a",
        b"|2-\n",
        b"\"",
        b"'",
        b"\xef\xbb\xbf",
        b"\xff",
        b"\0",
        "é🐑\u{85}".as_bytes(),
    ];
    let mut random = Random(1);
    let mut readable = 0;
    for round in 0..20_000 {
        let bytes = mutated(&mut random, seeds[round % seeds.len()], &pieces);
        let check = manifest::check(&bytes, "SKILL.md", Some("count-sheep"));
        assert_eq!(check.manifest.is_none(), check.findings.iter().any(domain::finding::Finding::is_error));
        readable += usize::from(check.manifest.is_some());
    }
    assert!(readable > 100, "the generator makes nothing but rubbish: {readable}");
}

#[test]
fn no_bytes_make_the_archive_reader_panic() {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (path, text) in [
        ("s/SKILL.md", "---\nname: s\ndescription: Counts sheep.\n---\nbody\n"),
        ("s/scripts/tally.sh", "#!/bin/sh\n"),
        ("s/zeros", &"0".repeat(4000)),
    ] {
        zip.start_file(path, SimpleFileOptions::default().unix_permissions(0o755)).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    let seed = zip.finish().unwrap().into_inner();
    let pieces: [&[u8]; 8] = [
        b"PK\x01\x02",
        b"PK\x03\x04",
        b"PK\x05\x06",
        b"PK\x06\x06",
        b"PK\x06\x07",
        b"\xff\xff\xff\xff",
        b"\0\0\0\0",
        b"../",
    ];
    let limits = IntakeLimits { max_unpacked_bytes: 1 << 20, ..IntakeLimits::default() };
    let mut random = Random(2);
    let (mut good, mut refused) = (0, 0);
    for _ in 0..20_000 {
        let bytes = mutated(&mut random, &seed, &pieces);
        match read_zip(&bytes, "upload.zip", &limits) {
            Ok(intake) => good += intake.skills.len(),
            Err(refusal) => refused += usize::from(!refusal.to_string().is_empty()),
        }
    }
    assert!(good > 100 && refused > 100, "the generator is one-sided: {good} good, {refused} refused");
}
