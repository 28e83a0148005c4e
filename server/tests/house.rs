//! The house rules that no compiler checks: who may know whom, and that files stay small, explained and free of any one machine.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand};

/// Longest source file, in lines.
const MAX_LINES: usize = 400;
/// Longest module documentation at the top of a file, in lines.
const MAX_HEADER_LINES: usize = 12;

/// Which of our packages a package may use. `ops` never sees `engine`: starting an evaluation writes rows, and the scheduler claims them.
const MAY_KNOW: &[(&str, &[&str])] = &[
    ("app", &["charts", "domain", "ops"]),
    ("bundle", &[]),
    ("charts", &["domain"]),
    ("domain", &[]),
    ("engine", &["domain", "formats", "gateway", "repos"]),
    ("formats", &["domain"]),
    ("forward", &[]),
    ("frontend", &["app"]),
    ("gateway", &["domain", "formats"]),
    ("ops", &["charts", "domain", "formats", "repos", "store"]),
    ("repos", &["domain"]),
    ("server", &["app", "domain", "engine", "formats", "gateway", "ops", "repos", "store"]),
    ("store", &["domain"]),
];

/// Libraries that only these packages may name.
const KEPT_TO: &[(&str, &[&str])] = &[
    ("bollard", &["engine"]),
    ("plotters", &["charts"]),
    ("sqlx", &["store"]),
    ("wasm-bindgen-cli-support", &["bundle"]),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

fn metadata() -> Metadata {
    MetadataCommand::new()
        .manifest_path(root().join("Cargo.toml"))
        .no_deps()
        .other_options(["--offline".to_owned()])
        .exec()
        .unwrap()
}

/// What each package uses outside its tests, by package name.
fn uses(metadata: &Metadata) -> BTreeMap<String, BTreeSet<String>> {
    let packages = metadata.packages.iter();
    packages
        .map(|package| {
            let used = package.dependencies.iter().filter(|used| used.kind != DependencyKind::Development);
            (package.name.to_string(), used.map(|used| used.name.clone()).collect())
        })
        .collect()
}

/// All files of the checkout that are ours to keep tidy, relative to its root, with their text.
fn files() -> Vec<(String, String)> {
    const SKIPPED: [&str; 6] = ["target", "data", "node_modules", "screenshots", ".git", "Cargo.lock"];
    let root = root();
    let mut files = Vec::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if SKIPPED.iter().any(|name| entry.file_name() == *name) {
                continue;
            }
            if entry.file_type().unwrap().is_dir() {
                folders.push(path);
            } else if let Ok(text) = std::fs::read_to_string(&path) {
                files.push((path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned(), text));
            }
        }
    }
    files.sort();
    assert!(files.len() > 50, "the checkout was not found at {}", root.display());
    files
}

/// Fails with all offenders at once.
fn none(offenders: Vec<String>) {
    assert!(offenders.is_empty(), "\n{}", offenders.join("\n"));
}

#[test]
fn packages_know_only_whom_they_may() {
    let uses = uses(&metadata());
    let ours: BTreeSet<&str> = MAY_KNOW.iter().map(|(name, _)| *name).collect();
    let found: BTreeSet<&str> = uses.keys().map(String::as_str).collect();
    assert_eq!(found, ours, "every package needs a line in MAY_KNOW");
    let mut offenders = Vec::new();
    for (name, allowed) in MAY_KNOW {
        for used in uses[*name].iter().filter(|used| ours.contains(used.as_str())) {
            if !allowed.contains(&used.as_str()) {
                offenders.push(format!("{name} must not know {used}"));
            }
        }
    }
    none(offenders);
}

#[test]
fn the_page_side_compiles_without_the_server_side() {
    let metadata = metadata();
    let app = metadata.packages.iter().find(|package| package.name.as_str() == "app").unwrap();
    let offenders =
        app.dependencies.iter().filter(|used| ["charts", "ops"].contains(&used.name.as_str()) && !used.optional);
    none(offenders.map(|used| format!("app: {} must be optional, for the feature ssr alone", used.name)).collect());
}

#[test]
fn libraries_are_kept_to_their_package() {
    let mut offenders = Vec::new();
    for (name, used) in uses(&metadata()) {
        for (library, owners) in KEPT_TO {
            if used.contains(*library) && !owners.contains(&name.as_str()) {
                offenders.push(format!("{name} must not name {library}; that is for {owners:?}"));
            }
        }
    }
    none(offenders);
}

#[test]
fn versions_and_lints_stand_in_the_workspace_alone() {
    let mut offenders = Vec::new();
    for package in metadata().packages {
        let text = std::fs::read_to_string(&package.manifest_path).unwrap();
        let manifest: toml::Table = text.parse().unwrap();
        let inherits = |table: &toml::Value| table.get("workspace").and_then(toml::Value::as_bool) == Some(true);
        if !manifest.get("lints").is_some_and(inherits) {
            offenders.push(format!("{}: [lints] must say workspace = true", package.name));
        }
        for section in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let Some(section) = manifest.get(section).and_then(toml::Value::as_table) else { continue };
            let own = section.iter().filter(|(_, value)| !inherits(value));
            offenders.extend(own.map(|(used, _)| format!("{}: {used} must say workspace = true", package.name)));
        }
    }
    none(offenders);
}

#[test]
fn only_the_server_reads_the_environment() {
    let elsewhere = files().into_iter().filter(|(path, _)| {
        let exempt = path.starts_with("server/src/") || path.starts_with("app/bundle/") || path.contains("/tests/");
        // A build script is told everything by its environment.
        let exempt = exempt || path.ends_with("/build.rs");
        path.ends_with(".rs") && !exempt
    });
    let reads = elsewhere.filter(|(_, text)| text.contains("env::var"));
    none(reads.map(|(path, _)| format!("{path} reads the environment; take it as an argument")).collect());
}

#[test]
fn files_are_small() {
    const SOURCES: [&str; 6] = [".rs", ".css", ".mjs", ".py", ".sql", ".sh"];
    let long = files().into_iter().filter(|(path, text)| {
        let source = SOURCES.iter().any(|ending| path.ends_with(ending)) || path.starts_with(".ci/");
        source && text.lines().count() > MAX_LINES
    });
    none(
        long.map(|(path, text)| format!("{path} has {} lines; split it by reason to change", text.lines().count()))
            .collect(),
    );
}

#[test]
fn each_module_says_what_it_is_for() {
    let mut offenders = Vec::new();
    for (path, text) in files().into_iter().filter(|(path, _)| path.ends_with(".rs")) {
        let header = text.lines().take_while(|line| line.starts_with("//!")).count();
        if header == 0 || header > MAX_HEADER_LINES {
            offenders.push(format!("{path} starts with {header} lines of `//!`"));
        }
    }
    none(offenders);
}

#[test]
fn nothing_names_the_machine_it_was_made_on() {
    // Put together here, so that this file does not offend itself.
    let words =
        [["/work", "/main"], ["/work", "/shared"], ["/work", "/."], ["deb.debian", ".org"], ["registry.npmjs", ".org"]];
    let hosts = [["static.crates", ".io"], ["index.crates", ".io"], ["files.pythonhosted", ".org"]];
    let words: Vec<String> = words.iter().chain(&hosts).map(|parts| parts.concat()).collect();
    let mut offenders = Vec::new();
    for (path, text) in files() {
        for word in words.iter().filter(|word| text.contains(word.as_str())) {
            offenders.push(format!("{path} names {word}"));
        }
    }
    none(offenders);
}

#[test]
fn migrations_are_numbered_without_a_gap() {
    let names: Vec<String> =
        files().into_iter().filter_map(|(path, _)| Some(path.strip_prefix("migrations/")?.to_owned())).collect();
    let numbers: Vec<usize> = names
        .iter()
        .filter(|name| name.ends_with(".sql"))
        .map(|name| name.split('_').next().unwrap().parse().unwrap_or_else(|_| panic!("{name}: write NNNN_what.sql")))
        .collect();
    assert_eq!(numbers, (1..=numbers.len()).collect::<Vec<_>>());
}
