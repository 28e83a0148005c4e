//! The cases of skill files and packaging (S, Z): what `check --json` says of each is what the page says of the same upload, code by code.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::common::{Answer, Home, Site};

type Codes = BTreeMap<String, usize>;

/// Folders and archives of the cases, each an input of its own.
fn inputs(cases: &Path) -> Vec<PathBuf> {
    let children = |folder: &Path| -> Vec<PathBuf> {
        let mut found: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        found.sort();
        found
    };
    let is_case = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        path.is_dir() && name.len() == 3 && name.starts_with(['S', 'Z'])
    };
    let is_input = |path: &PathBuf| path.is_dir() || path.extension().is_some_and(|extension| extension == "zip");
    children(cases).into_iter().filter(is_case).flat_map(|case| children(&case)).filter(is_input).collect()
}

fn files(folder: &Path, at: &str, into: &mut Vec<(String, Vec<u8>)>) {
    for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap()) {
        let path = format!("{at}/{}", entry.file_name().to_string_lossy());
        if entry.path().is_dir() {
            files(&entry.path(), &path, into);
        } else {
            into.push((path, std::fs::read(entry.path()).unwrap()));
        }
    }
}

fn upload(site: &Site<'_>, csrf: &str, input: &Path) -> Answer {
    let name = input.file_name().unwrap().to_string_lossy().into_owned();
    let mut all = Vec::new();
    if input.is_dir() {
        files(input, &name, &mut all);
    } else {
        all.push((name, std::fs::read(input).unwrap()));
    }
    let parts: Vec<(&str, &[u8])> = all.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).collect();
    site.upload(csrf, &parts)
}

fn of_json(report: &Value) -> (Codes, usize) {
    let mut codes = Codes::new();
    let skills = report["skills"].as_array().unwrap();
    let lists = skills.iter().map(|skill| &skill["findings"]).chain([&report["findings"]]);
    for finding in lists.flat_map(|list| list.as_array().unwrap()) {
        *codes.entry(finding["code"].as_str().unwrap().to_owned()).or_default() += 1;
    }
    let usable = skills.iter().filter(|skill| !skill["version"].is_null()).count();
    (codes, usable)
}

fn of_page(page: &str) -> Codes {
    let mut codes = Codes::new();
    for part in page.split("<code class=\"code\">").skip(1) {
        *codes.entry(part.split('<').next().unwrap().to_owned()).or_default() += 1;
    }
    codes
}

#[test]
fn the_page_says_of_every_case_what_the_check_says() {
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/cases");
    if !cases.is_dir() {
        return eprintln!("left out: {} is not there", cases.display());
    }
    let home = Home::new("cases");
    let site = home.serve(&[]);
    let csrf = site.csrf();
    let mut seen = 0;
    for input in inputs(&cases) {
        let ended = home.run(&["check", &input.display().to_string(), "--json"]);
        let (codes, usable) =
            of_json(&serde_json::from_str(&ended.out).unwrap_or_else(|error| panic!("{error}: {ended}")));
        let page = upload(&site, &csrf, &input);
        let place = input.display();
        assert_eq!(page.status, if usable == 0 && page.status == 422 { 422 } else { 200 }, "{place}: {}", page.body);
        assert_eq!(of_page(&page.body), codes, "{place}: {}", page.body);
        seen += 1;
    }
    assert!(seen > 40, "{seen} inputs");
    for list in ["/skills", "/leaderboard", "/"] {
        assert_eq!(site.get(list).status, 200, "{list} whatever was uploaded (S13)");
    }
    site.stop();
    home.finish();
}
