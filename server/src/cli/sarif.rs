//! Findings as SARIF 2.1.0, the form in which code hosts take them: they show each at its line of a change.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use domain::finding::{Finding, Severity};
use ops::{CheckedPlace, CheckedPlaces};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use serde::Serialize;

/// Characters that may not stand in the path of an address.
const NOT_IN_PATHS: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// A whole log.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Log {
    #[serde(rename = "$schema")]
    schema: &'static str,
    version: &'static str,
    runs: [Run; 1],
}

#[derive(Debug, Serialize)]
struct Run {
    tool: Tool,
    results: Vec<Outcome>,
}

#[derive(Debug, Serialize)]
struct Tool {
    driver: Driver,
}

#[derive(Debug, Serialize)]
struct Driver {
    name: &'static str,
    version: &'static str,
    rules: Vec<Rule>,
}

#[derive(Debug, Serialize)]
struct Rule {
    id: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Outcome {
    rule_id: String,
    rule_index: usize,
    level: &'static str,
    message: Text,
    locations: [Location; 1],
}

#[derive(Debug, Serialize)]
struct Text {
    text: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Location {
    physical_location: Place,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Place {
    artifact_location: Artifact,
    #[serde(skip_serializing_if = "Option::is_none")]
    region: Option<Region>,
}

#[derive(Debug, Serialize)]
struct Artifact {
    uri: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Region {
    start_line: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    start_column: Option<u32>,
}

/// The findings of a check; files are named as seen from where the program was started, as code hosts want it. `roots` are the places on
/// the disk, one for each that was checked.
pub(super) fn log(checked: &CheckedPlaces, roots: &[PathBuf]) -> Log {
    let codes: BTreeSet<&str> = checked.all().map(|finding| finding.code.as_str()).collect();
    let codes: Vec<&str> = codes.into_iter().collect();
    let of_place = |(place, root): (&CheckedPlace, &PathBuf)| {
        place.report.all().map(|finding| outcome(finding, &codes, root)).collect::<Vec<_>>()
    };
    let together = checked.findings.iter().map(|finding| outcome(finding, &codes, Path::new("")));
    let results = checked.places.iter().zip(roots).flat_map(of_place).chain(together).collect();
    let rules = codes.iter().map(|code| Rule { id: (*code).to_owned() }).collect();
    let driver = Driver { name: "skilldelta", version: env!("CARGO_PKG_VERSION"), rules };
    Log {
        schema: "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        version: "2.1.0",
        runs: [Run { tool: Tool { driver }, results }],
    }
}

fn outcome(finding: &Finding, codes: &[&str], root: &Path) -> Outcome {
    let hint = finding.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
    let region = finding.line.map(|start_line| Region { start_line, start_column: finding.column });
    let place = Place { artifact_location: Artifact { uri: uri(&finding.file, root) }, region };
    Outcome {
        rule_id: finding.code.clone(),
        rule_index: codes.iter().position(|code| *code == finding.code).unwrap_or_default(),
        level: match finding.severity {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        },
        message: Text { text: format!("{}{hint}", finding.message) },
        locations: [Location { physical_location: place }],
    }
}

/// A finding names a file as seen from what was checked, which may be the file's own folder; the address is that of the file that is there.
fn uri(file: &str, root: &Path) -> String {
    let folders = root.ancestors().take(3);
    let found = folders.map(|folder| folder.join(file)).find(|path| path.exists()).unwrap_or_else(|| root.join(file));
    let plain: Vec<String> = found
        .components()
        .filter_map(|part| match part {
            Component::Normal(name) => Some(utf8_percent_encode(&name.to_string_lossy(), NOT_IN_PATHS).to_string()),
            Component::ParentDir => Some("..".to_owned()),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
        })
        .collect();
    let plain = plain.join("/");
    if found.is_absolute() { format!("file:///{plain}") } else { plain }
}
