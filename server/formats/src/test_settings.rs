//! Settings of test runners in a workspace: what an agent changed of them is put back before its work is judged, so that neither a hook
//! nor an option turns red into green. Of a file that has other purposes, only the test runner's sections.

use domain::path::RelPath;

/// What puts a file back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Restoration {
    /// It was not there.
    Remove,
    /// It had, or has without the change, this content.
    Write(Vec<u8>),
}

/// Files that serve a test runner or an interpreter alone.
const WHOLE: [&str; 5] = ["conftest.py", "pytest.ini", ".pytest.ini", "sitecustomize.py", "usercustomize.py"];

/// What puts the test settings of the file at `path` back; `None` where it has none, or they are as they were.
#[must_use]
pub fn restoration(path: &RelPath, before: Option<&[u8]>, after: Option<&[u8]>) -> Option<Restoration> {
    if before == after {
        return None;
    }
    match path.file_name() {
        name if WHOLE.contains(&name) => {
            Some(before.map_or(Restoration::Remove, |old| Restoration::Write(old.to_vec())))
        }
        "pyproject.toml" => sections(before, after?, is_pytest_table, pytest_table),
        "setup.cfg" => sections(before, after?, |header| header == "tool:pytest", |_| None),
        "tox.ini" => sections(before, after?, |header| header == "pytest", |_| None),
        _ => None,
    }
}

/// The file as it is now, with the test runner's sections as they were. Where that does not bring the `meaning` back (a table written
/// otherwise than as a section), the whole file as it was.
fn sections(
    before: Option<&[u8]>,
    after: &[u8],
    is_ours: impl Fn(&str) -> bool,
    meaning: impl Fn(&str) -> Option<toml::Value>,
) -> Option<Restoration> {
    let (old, new) = (String::from_utf8_lossy(before.unwrap_or_default()), String::from_utf8_lossy(after));
    let ((mut kept, new_ours), (_, old_ours)) = (split(&new, &is_ours), split(&old, &is_ours));
    if new_ours == old_ours && meaning(&new) == meaning(&old) {
        return None;
    }
    if !old_ours.is_empty() && !kept.is_empty() && !kept.ends_with('\n') {
        kept.push('\n');
    }
    kept.push_str(&old_ours);
    let content = if meaning(&kept) == meaning(&old) { kept.into_bytes() } else { before.unwrap_or_default().to_vec() };
    let is_nothing = before.is_none() && content.iter().all(u8::is_ascii_whitespace);
    Some(if is_nothing { Restoration::Remove } else { Restoration::Write(content) })
}

/// The lines outside and inside the sections that are meant.
fn split(text: &str, is_ours: impl Fn(&str) -> bool) -> (String, String) {
    let (mut others, mut ours, mut inside) = (String::new(), String::new(), false);
    for line in text.split_inclusive('\n') {
        if let Some(header) = header(line) {
            inside = is_ours(&header);
        }
        if inside { &mut ours } else { &mut others }.push_str(line);
    }
    (others, ours)
}

/// The name of the section that a line begins, without blanks and quotes.
fn header(line: &str) -> Option<String> {
    let inner = line.trim_start().strip_prefix('[')?;
    let (name, _) = inner.trim_start_matches('[').split_once(']')?;
    Some(name.chars().filter(|c| !c.is_whitespace() && !matches!(c, '"' | '\'')).collect())
}

fn is_pytest_table(header: &str) -> bool {
    header == "tool.pytest" || header.starts_with("tool.pytest.")
}

fn pytest_table(text: &str) -> Option<toml::Value> {
    toml::from_str::<toml::Table>(text).ok()?.get("tool")?.get("pytest").cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, before: Option<&str>, after: Option<&str>, want: Option<Option<&str>>) {
        let got = restoration(&RelPath::new(path).unwrap(), before.map(str::as_bytes), after.map(str::as_bytes));
        let want =
            want.map(|text| text.map_or(Restoration::Remove, |text| Restoration::Write(text.as_bytes().to_vec())));
        assert_eq!(got, want, "{path}: {before:?} -> {after:?}");
    }

    #[test]
    fn files_of_the_test_runner_come_back_whole() {
        check("conftest.py", None, Some("hook"), Some(None));
        check("a/b/conftest.py", Some("old"), Some("hook"), Some(Some("old")));
        check("pytest.ini", Some("old"), None, Some(Some("old")));
        check("sitecustomize.py", None, Some("x"), Some(None));
        check("src/main.py", None, Some("x"), None);
        check("conftest.py", Some("same"), Some("same"), None);
    }

    #[test]
    fn of_other_files_only_the_test_runners_sections() {
        let old = "[project]\nname = \"a\"\n[tool.pytest.ini_options]\npythonpath = \"src\"\n";
        check(
            "pyproject.toml",
            Some(old),
            Some(
                "[project]\nname = \"a\"\nversion = \"2\"\n[tool.pytest.ini_options]\naddopts = \"--co\"\n[tool.x]\ny = 1\n",
            ),
            Some(Some(
                "[project]\nname = \"a\"\nversion = \"2\"\n[tool.x]\ny = 1\n[tool.pytest.ini_options]\npythonpath = \"src\"\n",
            )),
        );
        check("pyproject.toml", Some(old), Some(&old.replace("\"a\"", "\"b\"")), None);
        check("pyproject.toml", None, Some("[tool.pytest.ini_options]\naddopts = \"--co -q\"\n"), Some(None));
        check("pyproject.toml", None, Some("[project]\nname = \"a\"\n"), None);
        check(
            "setup.cfg",
            Some("[metadata]\n"),
            Some("[metadata]\n[tool:pytest]\naddopts = x\n"),
            Some(Some("[metadata]\n")),
        );
        check("tox.ini", None, Some("[tox]\n[pytest]\naddopts = x\n"), Some(Some("[tox]\n")));
    }

    #[test]
    fn a_table_written_otherwise_brings_the_whole_file_back() {
        let old = "[project]\nname = \"a\"\n";
        for changed in
            ["tool.pytest.ini_options.addopts = \"--co\"\n", "[tool]\npytest = {ini_options = {addopts = \"--co\"}}\n"]
        {
            check("pyproject.toml", Some(old), Some(changed), Some(Some(old)));
            check("pyproject.toml", None, Some(changed), Some(None));
        }
    }
}
