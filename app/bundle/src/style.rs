//! Makes one style sheet of `main.css` and what it imports.
//!
//! Only `@import "file.css";` and `@import "file.css" layer(name);` on lines of their own are resolved; all else is passed on as it is.

use std::path::Path;

use anyhow::{Context, bail};

/// Imports nested deeper than this are taken for a circle.
const MAX_DEPTH: usize = 8;

/// The text of `main` with every import replaced by the imported text. Empty where there is no such file.
///
/// # Errors
/// Where an imported file is missing, an import has a condition that is not understood, or imports go round in a circle.
pub fn bundle(main: &Path) -> anyhow::Result<String> {
    if !main.exists() {
        return Ok(String::new());
    }
    let mut sheet = String::new();
    append(main, 0, &mut sheet)?;
    Ok(sheet)
}

fn append(file: &Path, depth: usize, sheet: &mut String) -> anyhow::Result<()> {
    if depth > MAX_DEPTH {
        bail!("{}: imports go round in a circle", file.display());
    }
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let folder = file.parent().unwrap_or(Path::new("."));
    for (number, line) in text.lines().enumerate() {
        if !line.trim_start().starts_with("@import") {
            sheet.push_str(line);
            sheet.push('\n');
            continue;
        }
        let Some((name, layer)) = import(line) else {
            bail!(
                "{}:{}: write `@import \"file.css\";` or `@import \"file.css\" layer(name);`",
                file.display(),
                number + 1
            );
        };
        if let Some(layer) = layer {
            sheet.push_str(&format!("@layer {layer} {{\n"));
        }
        append(&folder.join(name), depth + 1, sheet)?;
        if layer.is_some() {
            sheet.push_str("}\n");
        }
    }
    Ok(())
}

/// File and layer of an import line.
fn import(line: &str) -> Option<(&str, Option<&str>)> {
    let rest = line.trim().strip_prefix("@import")?.trim_start().strip_prefix('"')?;
    let (name, rest) = rest.split_once('"')?;
    let condition = rest.strip_suffix(';')?.trim();
    if condition.is_empty() {
        return Some((name, None));
    }
    let layer = condition.strip_prefix("layer(")?.strip_suffix(')')?;
    Some((name, Some(layer)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(files: &[(&str, &str)]) -> Result<String, String> {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        bundle(&folder.path().join("main.css")).map_err(|error| format!("{error:#}"))
    }

    #[test]
    fn imports_are_put_in_place_and_in_order() {
        let sheet = check(&[
            ("main.css", "@import \"a.css\";\n@import \"b.css\" layer(base);\nbody {}\n"),
            ("a.css", ":root {}\n"),
            ("b.css", "p {}\n"),
        ]);
        assert_eq!(sheet.unwrap(), ":root {}\n@layer base {\np {}\n}\nbody {}\n");
    }

    #[test]
    fn no_style_sheet_is_an_empty_one() {
        assert_eq!(check(&[]).unwrap(), "");
    }

    #[test]
    fn a_bad_import_is_named_by_file_and_line() {
        for (text, part) in [
            ("p {}\n@import url(x.css);\n", "main.css:2"),
            ("@import \"gone.css\";\n", "gone.css"),
            ("@import \"main.css\";\n", "circle"),
        ] {
            let error = check(&[("main.css", text)]).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }
}
