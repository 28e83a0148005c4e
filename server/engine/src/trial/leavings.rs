//! What an agent leaves behind, looked at from outside once its processes have ended: what it changed in its working folder, as a patch,
//! and elsewhere, as evidence; and what of it is taken away before the verifier starts (design §5.4).

use std::sync::Arc;
use std::time::Duration;

use domain::attempt::WorkspacePatch;
use domain::finding::Finding;
use domain::path::RelPath;
use domain::tamper::{ChangeKind, OutsideChanges};
use domain::task::Artifact;
use formats::patch::{Patch, Side};
use formats::test_settings::{Restoration, restoration};

use super::fault::Fault;
use super::place::Place;
use crate::blobs::Blobs;
use crate::sandbox::{Caps, Collect, Download, ExecSpec, Redactor, Sandbox, SandboxError, Upload};

/// Longest run of our own `rm`.
const SHORT: Duration = Duration::from_secs(30);
/// Enough of a file to know that it is there.
const A_LOOK: Caps = Caps { file_bytes: 0, total_bytes: 0, files: 1, passed_over: &[], sums: false };
/// Paths that one finding names.
const NAMED: usize = 20;

/// What was found.
#[derive(Default)]
pub(super) struct Leavings {
    pub(super) outside: Option<OutsideChanges>,
    pub(super) patch: Option<WorkspacePatch>,
    pub(super) findings: Vec<Finding>,
    /// Absolute paths of what is taken away in a shared container.
    plants: Vec<String>,
    /// Test settings of the working folder, by absolute path, with what puts them back.
    settings: Vec<(String, Restoration)>,
}

impl Leavings {
    /// Looks at a container whose processes have ended. Trouble in looking is told, and costs no trial.
    pub(super) async fn look(
        place: &Place,
        keeps_test_settings: bool,
        blobs: &dyn Blobs,
        redactor: &Redactor,
    ) -> Result<Self, Fault> {
        let mut found = Self::default();
        if !place.watched {
            return Ok(found);
        }
        let (before, sandbox) = (place.before.as_ref(), place.sandbox.as_ref());
        let after = async { Some(before?.again(sandbox).await) };
        let (changes, after) = tokio::join!(sandbox.changes(), after);
        match changes {
            Ok(listed) => found.look_outside(place, listed).await,
            Err(error) => found.unknown("what the agent changed outside its working folder", &error.to_string()),
        }
        let inside = "what the agent changed in its working folder";
        let (before, after) = match (before, after) {
            (Some(before), Some(Ok(after))) if after.complete && before.files.complete => (before, Arc::new(after)),
            (_, Some(Err(error))) => {
                found.unknown(inside, &error.to_string());
                return Ok(found);
            }
            (Some(_), _) => {
                found.unknown(inside, "there are too many files in it");
                return Ok(found);
            }
            (None, _) => {
                found.unknown(inside, "it is the root folder");
                return Ok(found);
            }
        };
        let (old, new) = (Arc::clone(&before.files), Arc::clone(&after));
        let compared = tokio::task::spawn_blocking(move || formats::patch::between(side(&old), side(&new))).await;
        let patch = compared.map_err(|error| Fault::Order(format!("the patch could not be made: {error}")))?;
        if !keeps_test_settings {
            found.settings = changed_settings(&before.folder, &before.files, &after, &patch);
        }
        found.findings.extend(changed_tests(&patch));
        found.keep(patch, blobs, redactor).await?;
        Ok(found)
    }

    async fn look_outside(&mut self, place: &Place, listed: Vec<(ChangeKind, String)>) {
        let expected: Vec<&str> = place.expected.iter().map(String::as_str).collect();
        let work = place.before.as_ref().and_then(Before::work);
        let outside = OutsideChanges::examine(listed, work, &expected, place.is_fresh);
        let mut plants: Vec<String> = outside.removable().into_iter().map(str::to_owned).collect();
        for (shim, programs) in outside.shims() {
            // It stands before a program of the image, or it is only one more.
            for program in programs {
                if matches!(place.sandbox.download(&program, A_LOOK).await, Ok(Some(_))) {
                    plants.push(shim);
                    break;
                }
            }
        }
        self.plants = if outside.fresh_container { Vec::new() } else { plants };
        self.outside = Some(outside);
    }

    fn unknown(&mut self, what: &str, why: &str) {
        self.findings.push(Finding::note("changes_unknown", "between the phases", format!("{what} is unknown: {why}")));
    }

    async fn keep(&mut self, patch: Patch, blobs: &dyn Blobs, redactor: &Redactor) -> Result<(), Fault> {
        let text = redactor.clean_text(&patch.text);
        if text != patch.text {
            self.findings.push(super::live::secret_printed("a file of the agent", 1));
        }
        let file = match text.is_empty() {
            true => None,
            false => {
                let kept = blobs.put(text.into_bytes()).await;
                Some(kept.map_err(|source| Fault::Blobs { what: "the patch", source })?)
            }
        };
        self.patch = Some(WorkspacePatch {
            file,
            files: patch.changes.len() as u64,
            added: patch.added,
            removed: patch.removed,
            left_out: patch.left_out,
        });
        Ok(())
    }

    /// Only what lies at one of these places reaches the verifier: of the rest there is nothing to put back.
    pub(super) fn only_at(&mut self, places: &[Artifact]) {
        let is_at = |path: &str, place: &Artifact| {
            path.strip_prefix(&place.path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.settings.retain(|(path, _)| places.iter().any(|place| is_at(path, place)));
    }

    /// Takes away what no honest result consists of, in the container that the verifier gets. Every file is first made empty from
    /// outside: that works also where the container's own programs cannot be trusted.
    pub(super) async fn clear(&mut self, sandbox: &dyn Sandbox) -> Result<(), Fault> {
        let (mut gone, mut written) = (self.plants.clone(), Vec::new());
        for (path, restoration) in &self.settings {
            match restoration {
                Restoration::Write(bytes) => written.push((path.clone(), bytes.clone())),
                Restoration::Remove => gone.push(path.clone()),
            }
        }
        written.extend(gone.iter().map(|path| (path.clone(), Vec::new())));
        let undone = self.write(sandbox, written).await?;
        remove(sandbox, &gone).await?;
        if let Some(outside) = &mut self.outside {
            outside.undo(&undone);
        }
        if !self.settings.is_empty() {
            let named = named(self.settings.iter().map(|(path, _)| path.clone()));
            let message = format!(
                "the agent changed settings of the test runner; they were put back before it was judged: {named}"
            );
            self.findings.push(Finding::warning("test_settings_restored", "between the phases", message));
        }
        Ok(())
    }

    /// Writes all of them at once or, where one cannot be written (its folder is a file now), each by itself. Answers what was written.
    async fn write(&mut self, sandbox: &dyn Sandbox, files: Vec<(String, Vec<u8>)>) -> Result<Vec<String>, Fault> {
        let paths = |files: &[(String, Vec<u8>)]| files.iter().map(|(path, _)| path.clone()).collect::<Vec<_>>();
        let put = |upload: Upload, (path, bytes): &(String, Vec<u8>)| upload.file(path, bytes.clone(), false);
        match sandbox.upload(files.iter().fold(Upload::new(), put)).await {
            Ok(()) => return Ok(paths(&files)),
            Err(lost @ SandboxError::Lost { .. }) => return Err(lost.into()),
            Err(error) => tracing::debug!(%error, "written one by one"),
        }
        let mut written = Vec::new();
        for file in files {
            match sandbox.upload(put(Upload::new(), &file)).await {
                Ok(()) => written.push(file.0),
                Err(lost @ SandboxError::Lost { .. }) => return Err(lost.into()),
                Err(error) => self.findings.push(Finding::note(
                    "not_restored",
                    "between the phases",
                    format!("{} could not be put back as it was: {error}", file.0),
                )),
            }
        }
        Ok(written)
    }
}

async fn remove(sandbox: &dyn Sandbox, paths: &[String]) -> Result<(), Fault> {
    if paths.is_empty() {
        return Ok(());
    }
    let command = ["rm", "-f", "--"].into_iter().map(str::to_owned).chain(paths.iter().cloned());
    let mut spec = ExecSpec::new(command, SHORT);
    spec.user = Some("0".to_owned());
    spec.workdir = Some("/".to_owned());
    let mut output = Collect::default();
    let end = sandbox.exec(&spec, &mut output).await?;
    if !end.exit.is_success() {
        tracing::debug!(exit = %end.exit, "emptied, but not removed");
    }
    Ok(())
}

/// A folder as it was when the agent started.
pub(super) struct Before {
    pub(super) folder: String,
    pub(super) files: Arc<Download>,
    /// What of the folder is not looked at: skills, and an agent's own files where the folder is its home.
    pub(super) passed_over: PassedOver,
}

impl Before {
    /// The folder, where all in it is the agent's work; in a home there are things that programs load by themselves.
    fn work(&self) -> Option<&str> {
        (!self.passed_over.dotted).then_some(self.folder.as_str())
    }

    /// The folder as it is now; one that is gone is empty.
    async fn again(&self, sandbox: &dyn Sandbox) -> Result<Download, SandboxError> {
        let now = sandbox.download(&self.folder, super::place::SNAPSHOT).await?;
        let mut now = now.unwrap_or(Download { complete: true, ..Download::default() });
        self.passed_over.apply(&mut now);
        Ok(now)
    }
}

/// What of a working folder is not the agent's work.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct PassedOver {
    /// Relative to the folder.
    pub(super) folders: Vec<String>,
    /// Whether names that begin with a dot are passed over at the top: the folder is a home.
    pub(super) dotted: bool,
}

impl PassedOver {
    pub(super) fn apply(&self, download: &mut Download) {
        let keep = |path: &RelPath| {
            let is_dotted = self.dotted && path.as_str().starts_with('.');
            let is_below = self.folders.iter().any(|folder| path.below(folder).is_some());
            !is_dotted && !is_below
        };
        download.files =
            download.files.iter().filter(|(path, _)| keep(path)).map(|(p, f)| (p.clone(), f.clone())).collect();
        download.sums = download.sums.filter(keep);
    }
}

fn side(download: &Download) -> Side<'_> {
    Side { files: &download.files, sums: &download.sums }
}

fn changed_settings(folder: &str, before: &Download, after: &Download, patch: &Patch) -> Vec<(String, Restoration)> {
    let bytes = |side: &Download, path: &RelPath| side.files.get(path.as_str()).map(|file| file.bytes.clone());
    let changed = patch.changes.iter().filter_map(|(_, path)| {
        let back = restoration(path, bytes(before, path).as_deref(), bytes(after, path).as_deref())?;
        Some((format!("{folder}/{path}"), back))
    });
    changed.collect()
}

/// Tests that the agent changed: whether it may is the task's matter, and the verifier's own lie over them.
fn changed_tests(patch: &Patch) -> Option<Finding> {
    let tests = patch.changes.iter().filter(|(kind, path)| *kind != ChangeKind::Added && is_test(path));
    let named = named(tests.map(|(kind, path)| format!("{path} ({})", kind.word())));
    (!named.is_empty()).then(|| {
        Finding::note("tests_changed", "working folder", format!("the agent changed tests that were there: {named}"))
    })
}

fn is_test(path: &RelPath) -> bool {
    let name = path.file_name();
    let stem = name.split('.').next().unwrap_or(name);
    let in_folder = path.as_str().split('/').rev().skip(1).any(|part| matches!(part, "test" | "tests" | "__tests__"));
    in_folder
        || stem.starts_with("test_")
        || stem.ends_with("_test")
        || name.contains(".test.")
        || name.contains(".spec.")
}

fn named(paths: impl Iterator<Item = String>) -> String {
    let all: Vec<String> = paths.collect();
    let shown = all.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    match all.len().saturating_sub(NAMED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_are_known_by_name_or_folder() {
        for (path, want) in [
            ("tests/test_pen.py", true),
            ("tests/data/sheep.txt", true),
            ("src/test_pen.py", true),
            ("pkg/pen_test.go", true),
            ("src/pen.spec.ts", true),
            ("src/pen.py", false),
            ("contest.py", false),
            ("latest/x.py", false),
        ] {
            assert_eq!(is_test(&RelPath::new(path).unwrap()), want, "{path}");
        }
    }
}
