//! Everything, in our own JSON.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use domain::comparison::Baseline;
use domain::hash::ContentHash;
use domain::history::{EvaluationHistory, TrialHistory};
use domain::plan::{SkillRef, Treatment};
use domain::trial::TrialState;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Number, Value};

use super::document::{
    BaselinePart, Document, EvaluationPart, FilePart, SCHEMA, TreatmentPart, TrialPart, VersionPart,
};
use super::{ExportError, Exported};

/// The document as text.
pub(super) fn render(exported: &Exported<'_>) -> Result<Vec<u8>, ExportError> {
    let document = document(exported).map_err(ExportError::write)?;
    let mut bytes = serde_json::to_vec_pretty(&document).map_err(ExportError::write)?;
    bytes.push(b'\n');
    Ok(bytes)
}

fn document(exported: &Exported<'_>) -> serde_json::Result<Document> {
    let history = exported.history;
    let files = exported.files.iter().map(|(hash, bytes)| (*hash, file(bytes)));
    let trials: Vec<TrialPart> = history.trials.iter().map(|trial| trial_part(exported, trial)).collect();
    Ok(Document {
        schema: SCHEMA.to_owned(),
        evaluation: readable(&evaluation(history))?,
        imported: history.imported.clone(),
        trials: readable(&trials)?,
        files: files.collect(),
        files_left_out: exported.left_out.to_vec(),
        report: Some(readable(exported.report)?),
    })
}

fn evaluation(history: &EvaluationHistory) -> EvaluationPart {
    let plan = &history.plan;
    // Another runner's seed and limits are unknown; what stands in the plan for them is no measurement.
    let foreign = history.imported.as_ref().is_some_and(domain::imported::Imported::is_foreign);
    let version = |name: &str, version: ContentHash| VersionPart { name: name.to_owned(), version: version.known() };
    let skills = |skills: &[SkillRef]| skills.iter().map(|skill| version(&skill.name, skill.version)).collect();
    EvaluationPart {
        id: Some(history.id.0),
        title: plan.title.clone(),
        created_at: history.created_at,
        treatment: match &plan.treatment {
            Treatment::TasksOwn => TreatmentPart::TasksOwn,
            Treatment::Skills { versions } => TreatmentPart::Skills { versions: skills(versions) },
            Treatment::Nothing => TreatmentPart::Nothing,
        },
        baseline: match &plan.comparison.baseline {
            Baseline::NoSkill => BaselinePart::NoSkill,
            Baseline::PreviousVersion { versions } => BaselinePart::PreviousVersion { versions: skills(versions) },
            Baseline::Control { versions } => BaselinePart::Control { versions: skills(versions) },
            Baseline::Same => BaselinePart::Same,
        },
        distractors: skills(&plan.comparison.distractors),
        tasks: plan.tasks.iter().map(|task| version(&task.name, task.version)).collect(),
        task_set: plan.task_set.clone(),
        agent: plan.agent.clone(),
        model: plan.model.clone(),
        repeats: plan.repeats,
        seed: (!foreign).then_some(plan.seed),
        settings: (!foreign).then(|| plan.settings.clone()),
        stopped: history.stopped.clone(),
    }
}

fn trial_part(exported: &Exported<'_>, trial: &TrialHistory) -> TrialPart {
    TrialPart {
        task: exported.task(trial).to_owned(),
        task_index: exported.task_index(trial),
        condition: trial.condition,
        repeat: trial.repeat,
        state: trial.state.word().to_owned(),
        verdict: trial.state.verdict().cloned(),
        finished_at: match trial.state {
            TrialState::Finished { at, .. } => Some(at),
            TrialState::Queued { .. } | TrialState::Running { .. } => None,
        },
        attempts: trial.attempts.clone(),
    }
}

fn file(bytes: &[u8]) -> FilePart {
    match std::str::from_utf8(bytes) {
        Ok(text) => FilePart::Text(text.to_owned()),
        Err(_) => FilePart::Base64(STANDARD.encode(bytes)),
    }
}

/// The value with every fraction in at most fifteen significant digits: such a number is the same to every reader of JSON, one of seventeen is not.
fn readable<T: Serialize + DeserializeOwned>(value: &T) -> serde_json::Result<T> {
    let mut json = serde_json::to_value(value)?;
    round(&mut json);
    serde_json::from_value(json)
}

fn round(json: &mut Value) {
    match json {
        Value::Number(number) if number.is_f64() => {
            let rounded = number.as_f64().map(fifteen_digits).and_then(Number::from_f64);
            *number = rounded.unwrap_or_else(|| number.clone());
        }
        Value::Array(items) => items.iter_mut().for_each(round),
        Value::Object(fields) => fields.values_mut().for_each(round),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn fifteen_digits(number: f64) -> f64 {
    format!("{number:.14e}").parse().unwrap_or(number)
}

#[cfg(test)]
mod tests {
    use super::fifteen_digits;

    #[test]
    fn what_is_written_is_what_is_read() {
        for n in 1..200_u32 {
            for k in 0..=n {
                let share = fifteen_digits(f64::from(k) / f64::from(n));
                let text = serde_json::to_string(&share).unwrap();
                assert_eq!(serde_json::from_str::<f64>(&text).unwrap().to_bits(), share.to_bits(), "{k}/{n} {text}");
                assert!((share - f64::from(k) / f64::from(n)).abs() < 1e-14);
            }
        }
    }
}
