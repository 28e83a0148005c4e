//! The text of an `evals.json` with the lines of its parts: cases and assertions are kept as slices of the text.

use std::time::Duration;

use domain::finding::Finding;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::FILE;
use crate::task::settings::brief;

/// Fields of a case that have a meaning here, or that say something to people alone.
const FIELDS: [&str; 10] = [
    "id",
    "name",
    "prompt",
    "expected_output",
    "files",
    "assertions",
    "expectations",
    "timeout_seconds",
    "eval_name",
    "description",
];

#[derive(Deserialize)]
struct Top<'t> {
    #[serde(default)]
    skill_name: Option<String>,
    #[serde(borrow, default)]
    evals: Option<Vec<&'t RawValue>>,
    #[serde(borrow, default)]
    cases: Option<&'t RawValue>,
}

/// The file, cut into its cases.
pub(super) struct EvalsFile<'t> {
    text: &'t str,
    pub(super) skill_name: Option<String>,
    pub(super) cases: Vec<&'t RawValue>,
}

#[derive(Deserialize)]
struct Fields<'t> {
    #[serde(default)]
    id: Option<Id>,
    #[serde(default)]
    prompt: Option<String>,
    #[serde(default)]
    files: Vec<String>,
    #[serde(borrow, default)]
    assertions: Vec<&'t RawValue>,
    #[serde(borrow, default)]
    expectations: Vec<&'t RawValue>,
    #[serde(default)]
    timeout_seconds: Option<f64>,
}

/// Numbers in skill-creator, words elsewhere.
#[derive(Deserialize)]
#[serde(untagged)]
enum Id {
    Number(i64),
    Text(String),
}

/// One case.
#[derive(Debug)]
pub(super) struct Case<'t> {
    /// Where it begins, from 1.
    pub(super) line: u32,
    pub(super) id: Option<String>,
    pub(super) prompt: String,
    pub(super) files: Vec<String>,
    pub(super) assertions: Vec<&'t RawValue>,
    pub(super) expectations: Vec<&'t RawValue>,
    pub(super) timeout: Option<Duration>,
    /// About its other fields.
    pub(super) findings: Vec<Finding>,
}

impl<'t> EvalsFile<'t> {
    /// Cuts the text.
    ///
    /// # Errors
    /// The finding that says what is wrong with the file as a whole.
    pub(super) fn read(text: &'t str) -> Result<Self, Finding> {
        let top: Top<'t> = serde_json::from_str(text).map_err(|error| {
            let message = format!("the file is no such JSON: {error}");
            let finding = Finding::error("bad_json", FILE, message).at(line(error.line()), None);
            finding.hint("write {\"skill_name\": …, \"evals\": [{\"id\": 1, \"prompt\": …, \"assertions\": […]}]}")
        })?;
        let mut file = Self { text, skill_name: top.skill_name, cases: top.evals.unwrap_or_default() };
        if let Some(cases) = top.cases.filter(|_| file.cases.is_empty()) {
            let message = "`cases` with `question` and `ground_truth` is BenchFlow's dialect: a model judges all of it, so nothing of it is run";
            let hint = "write `evals` with `prompt` and with `assertions` that a script can decide";
            return Err(Finding::error("judged_by_model", FILE, message).at(file.line(cases.get()), None).hint(hint));
        }
        if file.cases.is_empty() {
            let message = "the file has no case: `evals` is empty or not there";
            return Err(
                Finding::error("no_case", FILE, message).hint("add a case with `id`, `prompt` and `assertions`")
            );
        }
        file.skill_name = file.skill_name.filter(|name| !name.trim().is_empty());
        Ok(file)
    }

    /// One case.
    ///
    /// # Errors
    /// The finding that says why it cannot be read.
    pub(super) fn case(&self, raw: &'t RawValue) -> Result<Case<'t>, Finding> {
        let at = self.line(raw.get());
        let wrong = |message: String, line: u32| {
            Finding::error("bad_case", FILE, message)
                .at(line, None)
                .hint("a case is {\"id\": 1, \"prompt\": …, \"assertions\": […]}")
        };
        let fields: Fields<'t> = serde_json::from_str(raw.get()).map_err(|error| {
            wrong(format!("the case cannot be read: {error}"), at.saturating_add(line(error.line())).saturating_sub(1))
        })?;
        let prompt = fields.prompt.map(|prompt| prompt.trim().to_owned()).filter(|prompt| !prompt.is_empty());
        let prompt = prompt.ok_or_else(|| wrong("the case has no `prompt`".to_owned(), at))?;
        let timeout = fields.timeout_seconds.map(|seconds| {
            let fine = (1.0..=604_800.0).contains(&seconds).then_some(seconds);
            let time = fine.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
            time.ok_or_else(|| wrong(format!("`timeout_seconds` must be from 1 to 604800, not {seconds}"), at))
        });
        Ok(Case {
            line: at,
            id: fields.id.map(|id| match id {
                Id::Number(number) => number.to_string(),
                Id::Text(text) => text,
            }),
            prompt,
            files: fields.files,
            assertions: fields.assertions,
            expectations: fields.expectations,
            timeout: timeout.transpose()?,
            findings: unknown(raw, at),
        })
    }

    /// The line, from 1, on which a slice of the text begins.
    pub(super) fn line(&self, slice: &str) -> u32 {
        let offset = (slice.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
        line(self.text.get(..offset).unwrap_or_default().matches('\n').count() + 1)
    }
}

fn unknown(raw: &RawValue, at: u32) -> Vec<Finding> {
    let fields: Map<String, Value> = serde_json::from_str(raw.get()).unwrap_or_default();
    let unknown = fields.keys().filter(|key| !FIELDS.contains(&key.as_str()));
    unknown
        .map(|key| {
            Finding::note("unknown_key", FILE, format!("`{}` is not known and has no effect", brief(key))).at(at, None)
        })
        .collect()
}

fn line(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
