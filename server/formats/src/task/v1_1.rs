//! The layout of SkillsBench v1.1: `task.md` with frontmatter and prompt, `verifier/`, `oracle/`.

use domain::finding::{Finding, Severity};
use domain::path::RelPath;
use domain::tree::LoadedFile;
use serde_json::{Map, Value};

use super::prompt;
use super::settings::{Source, brief};
use crate::skill::frontmatter::{self, Frontmatter};

pub(super) const CONFIG: &str = "task.md";
pub(super) const VERIFIER: &str = "verifier";
pub(super) const ORACLE: &str = "oracle";

/// What a `task.md` says.
#[derive(Debug, Clone)]
pub(super) struct Document {
    pub(super) source: Source,
    /// May be empty.
    pub(super) instruction: String,
    /// From the shorthand `verifier: path`.
    pub(super) verifier: Option<RelPath>,
    /// From the shorthand `oracle: path`.
    pub(super) oracle: Option<RelPath>,
}

/// Reads a `task.md`; `None` where it cannot be read.
pub(super) fn document(file: &LoadedFile, out: &mut Vec<Finding>) -> Option<Document> {
    let front = match frontmatter::split(&file.bytes) {
        Ok(front) => front,
        Err(error) => {
            let hint = "begin the file with a line `---`, the settings, and a line `---`; the prompt follows";
            out.push(error.finding(CONFIG).hint(hint));
            return None;
        }
    };
    let mut values: Map<String, Value> = match front.fields() {
        Ok(fields) => fields.into_iter().map(|field| (field.key, field.value)).collect(),
        Err(fault) => {
            out.push(fault.finding(CONFIG));
            return None;
        }
    };
    let verifier = folder_shorthand(&mut values, "verifier", out);
    let oracle = ["oracle", "solution"].iter().filter_map(|key| folder_shorthand(&mut values, key, out)).next();
    name_and_image_shorthands(&mut values);
    let instruction = instruction(&front, out);
    let source = Source::new(CONFIG, with_opening_fence(&front), values, out);
    Some(Document { source, instruction, verifier, oracle })
}

/// The YAML behind one line, so that lines count as in the file.
fn with_opening_fence(front: &Frontmatter) -> String {
    format!("---\n{}", front.yaml)
}

fn instruction(front: &Frontmatter, out: &mut Vec<Finding>) -> String {
    let prompt = prompt::read(&front.body);
    let line = |line: usize| front.body_start_line.saturating_add(u32::try_from(line).unwrap_or(u32::MAX));
    for (heading, at) in &prompt.twice {
        let message = format!("the section `## {}` stands there twice", brief(heading));
        out.push(Finding::error("duplicate_section", CONFIG, message).at(line(*at), None).hint("keep one of them"));
    }
    if let Some((heading, at)) = prompt.other_sections.first() {
        let message = format!(
            "the section `## {}` is for several agents or a simulated user, which is not supported",
            brief(heading)
        );
        out.push(Finding::error("unsupported_multi_agent", CONFIG, message).at(line(*at), None));
    }
    prompt.instruction
}

/// `verifier: path` in place of a table.
fn folder_shorthand(values: &mut Map<String, Value>, key: &str, out: &mut Vec<Finding>) -> Option<RelPath> {
    let text = values.get(key)?.as_str()?.to_owned();
    values.remove(key);
    let path = RelPath::new(text.trim().trim_start_matches("./").trim_end_matches('/'));
    if let Err(error) = &path {
        let message = format!("`{key}: {}` names no folder of the task: {error}", brief(&text));
        out.push(Finding::new(Severity::Error, "bad_folder", CONFIG, message));
    }
    path.ok()
}

/// Top-level `name:` and `image:`; the long forms win.
fn name_and_image_shorthands(values: &mut Map<String, Value>) {
    values.remove("name");
    let Some(image) = values.remove("image") else { return };
    let spelled = if values.contains_key("sandbox") { "sandbox" } else { "environment" };
    let environment = values.entry(spelled).or_insert_with(|| Value::Object(Map::new()));
    if let Value::Object(environment) = environment {
        environment.entry("docker_image").or_insert(image);
    }
}
