//! Codes of findings are a promise to CI: every one that skills and tasks can give stands in docs/findings.md, and no other does.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use regex::Regex;

fn sources(folder: &Path) -> String {
    let entries: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries
        .iter()
        .map(|path| if path.is_dir() { sources(path) } else { std::fs::read_to_string(path).unwrap() })
        .map(|text| text.split("#[cfg(test)]").next().unwrap().to_owned())
        .collect()
}

#[test]
fn every_code_is_documented_and_every_documented_code_exists() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let source = ["skill", "task"].map(|folder| sources(&top.join("src").join(folder))).concat();
    let docs = std::fs::read_to_string(top.join("../../docs/findings.md")).unwrap();
    let code = Regex::new("`([a-z]+(?:_[a-z0-9]+)*)`").unwrap();
    let documented: BTreeSet<&str> = code.captures_iter(&docs).map(|found| found.get(1).unwrap().as_str()).collect();
    let given = Regex::new(
        r#"(?s)(?:Finding::(?:error|warning|note)\(|Finding::new\([^"]{0,40}|\.error\(|\.opening\(|\.finding\([^"]{0,40}|Rule\([^"]{0,40}|add\(Severity::\w+, |code: |code = |=> |wrong\(|\n\s*\(\s*)"([a-z]+(?:_[a-z0-9]+)+)""#,
    )
    .unwrap();
    let words: BTreeSet<&str> = given.captures_iter(&source).map(|found| found.get(1).unwrap().as_str()).collect();
    // Words of settings and of other tables stand in the same places of the code.
    let keys = [
        "docker_image",
        "sandbox_mode",
        "setup_commands",
        "mcp_servers",
        "file_exists",
        "network_mode",
        "env_file",
        "tool_call",
    ];
    let missing: Vec<&&str> =
        words.iter().filter(|word| !documented.contains(**word) && !keys.contains(word)).collect();
    assert!(missing.is_empty(), "not in docs/findings.md: {missing:?}");
    let composed = ["name_missing", "name_invalid", "description_missing", "description_invalid"];
    let stale: Vec<&&str> = documented
        .iter()
        .filter(|code| code.contains('_') && !source.contains(&format!("\"{code}\"")) && !composed.contains(code))
        .collect();
    assert!(stale.is_empty(), "in docs/findings.md, and nowhere in the sources: {stale:?}");
}
