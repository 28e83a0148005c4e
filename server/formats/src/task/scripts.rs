//! The shell scripts of verifier and oracle: line ends, emptiness, execute bits.

use domain::finding::{Finding, Severity};
use domain::path::RelPath;
use domain::tree::{LoadedFile, LoadedTree};

/// Checks the entry script of a phase. `severity` is that of a script which cannot run.
pub(super) fn check_entry(path: &str, file: &LoadedFile, severity: Severity, out: &mut Vec<Finding>) {
    if file.bytes.iter().all(u8::is_ascii_whitespace) {
        let finding = Finding::new(severity, "empty_script", path, "the script is empty");
        return out.push(finding.hint("a verifier's script writes a reward, an oracle's script solves the task"));
    }
    out.extend(windows_line_ends(path, file, severity));
    if !file.executable {
        let name = path.rsplit('/').next().unwrap_or(path);
        out.push(Finding::note(
            "not_executable",
            path,
            format!("{name} is not executable; it is run as `bash {name}`"),
        ));
    }
}

/// Warns about further scripts in the folder with Windows line ends.
pub(super) fn check_others(files: &LoadedTree, folder: &RelPath, entry: &str, out: &mut Vec<Finding>) {
    let scripts = files.iter().filter(|(path, _)| path.below(folder.as_str()).is_some() && path.as_str() != entry);
    let scripts = scripts.filter(|(path, _)| path.as_str().ends_with(".sh"));
    out.extend(scripts.filter_map(|(path, file)| windows_line_ends(path.as_str(), file, Severity::Warning)));
}

/// Bash takes the carriage return for a part of the command or file name.
fn windows_line_ends(path: &str, file: &LoadedFile, severity: Severity) -> Option<Finding> {
    let lines = file.bytes.split(|byte| *byte == b'\n');
    let line = lines.take_while(|line| line.last() != Some(&b'\r')).count();
    let found = file.bytes.windows(2).any(|pair| pair == b"\r\n");
    let name = path.rsplit('/').next().unwrap_or(path);
    found.then(|| {
        Finding::new(severity, "windows_line_ends", path, format!("{name} has Windows line ends"))
            .at(u32::try_from(line + 1).unwrap_or(u32::MAX), None)
            .hint(format!("save it with bare line feeds: sed -i 's/\\r$//' {path}"))
    })
}
