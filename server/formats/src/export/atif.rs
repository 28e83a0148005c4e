//! The trace of every trial's last attempt as ATIF v1.8, one file each.

use super::{ExportError, ExportFile, Exported, names};
use crate::trace::atif::{Actor, to_atif};

/// The files; a trial whose trace is not there, or has no step, has none.
pub(super) fn render(exported: &Exported<'_>) -> Result<Vec<ExportFile>, ExportError> {
    let plan = &exported.history.plan;
    let mut files = Vec::new();
    for trial in &exported.history.trials {
        let Some(result) = Exported::result(trial) else { continue };
        let Some(trace) = exported.trace(result) else { continue };
        let stem = names::trial(exported.task(trial), exported.task_index(trial), trial);
        let actor = Actor {
            agent: plan.agent.name.clone(),
            version: plan.agent.version.clone(),
            model: plan.model.as_ref().map(|model| model.name.clone()),
            session: Some(format!("evaluation-{}/{stem}", exported.history.id)),
        };
        let Some(atif) = to_atif(&trace, &actor, Some(&result.usage)) else { continue };
        let mut bytes = serde_json::to_vec_pretty(&atif).map_err(ExportError::write)?;
        bytes.push(b'\n');
        files.push(ExportFile { path: format!("{stem}.json"), bytes });
    }
    if files.is_empty() {
        return Err(ExportError::Nothing {
            evaluation: exported.history.id,
            what: "traces",
            hint: "its agent leaves none, or no trial came so far",
        });
    }
    Ok(files)
}
