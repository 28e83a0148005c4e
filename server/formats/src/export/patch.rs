//! What the agent of every trial's last attempt changed in its working folder, one unified diff each.

use super::{ExportError, ExportFile, Exported, names};

/// The files; a trial whose agent changed nothing, or nobody looked at, has none.
pub(super) fn render(exported: &Exported<'_>) -> Result<Vec<ExportFile>, ExportError> {
    let patches = exported.history.trials.iter().filter_map(|trial| {
        let file = Exported::result(trial)?.patch?.file?;
        let bytes = exported.files.get(&file.hash)?.clone();
        let stem = names::trial(exported.task(trial), exported.task_index(trial), trial);
        Some(ExportFile { path: format!("{stem}.patch"), bytes })
    });
    let files: Vec<_> = patches.collect();
    if files.is_empty() {
        return Err(ExportError::Nothing {
            evaluation: exported.history.id,
            what: "patches",
            hint: "its agents changed nothing in their working folders, or were not looked at: nop and oracle never are",
        });
    }
    Ok(files)
}
