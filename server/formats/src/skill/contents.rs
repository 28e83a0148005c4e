//! What is to be said about a skill as a whole once its manifest is read: files it points to, secrets, habits, its licence.

use std::collections::BTreeMap;

use domain::finding::Finding;
use domain::path::RelPath;
use domain::skill::{SkillManifest, folder_name};
use domain::tree::LoadedTree;

use super::layout::SKILL_MD;
use super::{frontmatter, habits, references, secrets};

/// Larger files are data and not looked into.
const MAX_BYTES: usize = 1 << 20;
/// Bytes of a skill that are looked into; no honest one has as much text.
const MAX_TOTAL: usize = 16 << 20;

/// Findings about the files of a skill. `folder` is where it lies in the upload.
pub(super) fn check(folder: Option<&RelPath>, manifest: &SkillManifest, tree: &LoadedTree) -> Vec<Finding> {
    let name = |inner: &str| folder.map_or_else(|| inner.to_owned(), |folder| format!("{folder}/{inner}"));
    let texts = texts(tree);
    let mut findings = Vec::new();
    if let Some(front) = texts.get(SKILL_MD).and_then(|text| frontmatter::split_text(text).ok()) {
        let own = folder.map_or_else(|| folder_name(&manifest.name), |folder| folder.file_name().to_owned());
        findings.extend(references::check(&front, &own, tree, &texts, &name));
    }
    findings.extend(license(manifest, tree, &name(SKILL_MD)));
    for (path, text) in &texts {
        secrets::check(&name(path), text, &mut findings);
    }
    findings.extend(habits::check(&texts, &name));
    findings
}

/// The files that are texts, by path.
pub(super) type Texts<'t> = BTreeMap<&'t str, &'t str>;

fn texts(tree: &LoadedTree) -> Texts<'_> {
    let mut left = MAX_TOTAL;
    let small = tree.iter().filter(|(_, file)| file.bytes.len() <= MAX_BYTES);
    let texts = small.filter_map(|(path, file)| Some((path.as_str(), std::str::from_utf8(&file.bytes).ok()?)));
    texts
        .take_while(|(_, text)| {
            left = left.saturating_sub(text.len());
            left > 0
        })
        .collect()
}

/// Whether others may use and hand on the skill.
fn license(manifest: &SkillManifest, tree: &LoadedTree, file: &str) -> Option<Finding> {
    let shipped = |name: &str| tree.iter().any(|(path, _)| path.as_str().eq_ignore_ascii_case(name));
    let texts = ["LICENSE", "LICENSE.txt", "LICENSE.md", "LICENCE", "LICENCE.txt", "LICENCE.md", "COPYING"];
    let Some(license) = &manifest.license else {
        if texts.iter().any(|name| shipped(name)) {
            return None;
        }
        let message = "no licence is named and none is shipped";
        return Some(Finding::note("license_missing", file, message).hint("add `license: Apache-2.0` or the like"));
    };
    let words = license.split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | ',' | ';' | '`'));
    let pointed = words.map(|word| word.trim_end_matches('.')).find(|word| texts.contains(word) && word.contains('.'));
    if let Some(missing) = pointed.filter(|name| !shipped(name)) {
        let message = format!("`license` refers to {missing}, which is not shipped");
        return Some(
            Finding::warning("license_file_missing", file, message).hint("ship it: without it nobody knows the terms"),
        );
    }
    let closed = ["proprietary", "all rights reserved", "confidential", "unlicensed"];
    let lower = license.to_lowercase();
    closed.iter().any(|word| lower.contains(word)).then(|| {
        let message = "the licence keeps others from handing the skill on";
        Finding::note("license_proprietary", file, message).hint("do not publish it on a board that others read")
    })
}
