//! What of a source was not read: told, so that nothing is left out in silence.

use domain::finding::Finding;

use super::Files;

/// Paths that are named one by one.
const NAMED: usize = 5;

/// One note about the files that were not read; `None` where all were.
pub(super) fn note(files: &Files) -> Option<Finding> {
    let taken = files.taken();
    let left: Vec<String> = files.paths().into_iter().filter(|path| !taken.contains(path.as_str())).collect();
    if left.is_empty() {
        return None;
    }
    let named = left.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = if left.len() > NAMED { format!(" and {} more", left.len() - NAMED) } else { String::new() };
    let message = format!("{} files hold no result of a run and were not read: {named}{more}", left.len());
    Some(Finding::note("not_read", files.name(), message))
}
