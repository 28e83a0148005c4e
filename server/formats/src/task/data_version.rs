//! Tasks that carry both of SkillsBench's layouts, read in the one that was asked for.

use domain::finding::Finding;
use domain::task::{DataVersion, TaskLayout};
use domain::tree::LoadedTree;

use super::{v1_0, v1_1};

/// Takes the newer layout's parts out of a task that is asked for in the older one, and has it. What is left out is no part of the task's
/// version: read in another layout it is another task.
pub(super) fn choose(version: DataVersion, files: &mut LoadedTree, out: &mut Vec<Finding>) {
    let has_older = [v1_0::CONFIG, v1_0::PROMPT].into_iter().any(|file| files.get(file).is_some());
    if version != DataVersion::V10 || files.get(v1_1::CONFIG).is_none() || !has_older {
        return;
    }
    let has = |folder: &str| files.iter().any(|(path, _)| path.below(folder).is_some());
    let pairs = [(v1_1::VERIFIER, v1_0::VERIFIER), (v1_1::ORACLE, v1_0::ORACLE)];
    let folders: Vec<&str> = pairs.into_iter().filter(|(_, older)| has(older)).map(|(newer, _)| newer).collect();
    let kept = files.iter().filter(|(path, _)| {
        path.as_str() != v1_1::CONFIG && !folders.iter().any(|folder| path.below(folder).is_some())
    });
    *files = kept.map(|(path, file)| (path.clone(), file.clone())).collect();
    let message = format!("the task is read in the layout {version}, as was asked for; this file is left out");
    out.push(Finding::note("read_as_asked", v1_1::CONFIG, message));
}

/// Why a task in this layout is not what was asked for.
#[must_use]
pub fn other_layout(version: DataVersion, layout: TaskLayout, file: &str) -> Option<Finding> {
    (!version.takes(layout)).then(|| {
        let message = format!("the task is in the layout {}, and {version} was asked for", layout.word());
        Finding::error("other_layout", file, message).hint("leave the task out, or ask for no layout")
    })
}
