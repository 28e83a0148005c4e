//! The corpora of the fuzz targets, replayed: what once was interesting to a reader stays harmless. Also guards that every target has a corpus.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

#[path = "../fuzz/targets.rs"]
mod targets;

use std::path::Path;

#[test]
fn no_input_of_the_corpora_breaks_a_reader() {
    let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus");
    for (name, target) in targets::TARGETS {
        let inputs: Vec<_> =
            std::fs::read_dir(corpora.join(name)).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert!(inputs.len() > 2, "{name} has too small a corpus");
        for input in inputs {
            println!("{}", input.display());
            target(&std::fs::read(input).unwrap());
        }
        target(b"");
    }
}
