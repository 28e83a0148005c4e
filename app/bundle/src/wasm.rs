//! Compiles the `frontend` crate to wasm and makes its JavaScript glue.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail};
use wasm_bindgen_cli_support::Bindgen;

/// Stem of the emitted files; the server's `LEPTOS_OUTPUT_NAME`.
pub const NAME: &str = "skilldelta";

/// The compiled browser program, before glue was made.
pub struct Program {
    /// The file that cargo wrote.
    pub path: PathBuf,
    /// Its contents.
    pub bytes: Vec<u8>,
    /// Whether it is meant for users: then it carries no names of functions.
    pub release: bool,
}

/// Compiles `frontend`, showing cargo's own progress.
///
/// # Errors
/// Where cargo fails, or the wasm target is missing (cargo says so).
pub fn build(root: &Path, release: bool) -> anyhow::Result<Program> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let profile = if release { "wasm-release" } else { "dev" };
    let output = Command::new(cargo)
        .current_dir(root)
        .args(["build", "--package", "frontend", "--target", "wasm32-unknown-unknown", "--profile", profile])
        .arg("--message-format=json-render-diagnostics")
        .stderr(Stdio::inherit())
        .output()
        .context("cannot start cargo")?;
    if !output.status.success() {
        bail!("the browser program does not compile (is the target there? `rustup target add wasm32-unknown-unknown`)");
    }
    let path = artifact(&output.stdout).context("cargo named no wasm file for the package `frontend`")?;
    let bytes = std::fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(Program { path, bytes, release })
}

/// The wasm file among cargo's messages; cargo names it also when nothing had to be compiled.
fn artifact(messages: &[u8]) -> Option<PathBuf> {
    messages
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice::<serde_json::Value>(line).ok())
        .filter(|message| message.pointer("/target/name").and_then(|name| name.as_str()) == Some("frontend"))
        .filter_map(|message| message.get("filenames")?.as_array().cloned())
        .flatten()
        .filter_map(|name| name.as_str().map(PathBuf::from))
        .find(|path| path.extension().is_some_and(|extension| extension == "wasm"))
}

/// Writes `skilldelta.js`, `skilldelta_bg.wasm` and the snippets of libraries into `folder`.
///
/// # Errors
/// Where the wasm was not made by the wasm-bindgen that this program is built with.
pub fn bind(program: &Program, folder: &Path) -> anyhow::Result<()> {
    Bindgen::new()
        .input_path(&program.path)
        .out_name(NAME)
        .web(true)?
        .typescript(false)
        .remove_name_section(program.release)
        .omit_default_module_path(true)
        .generate(folder)
        .context("cannot make the JavaScript glue")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wasm_file_is_found_among_the_messages() {
        let messages = concat!(
            r#"{"reason":"compiler-artifact","target":{"name":"app"},"filenames":["/t/libapp.rlib"]}"#,
            "\nno json\n",
            r#"{"reason":"compiler-artifact","target":{"name":"frontend"},"filenames":["/t/libfrontend.rlib","/t/frontend.wasm"]}"#,
            "\n",
            r#"{"reason":"build-finished","success":true}"#,
        );
        assert_eq!(artifact(messages.as_bytes()), Some(PathBuf::from("/t/frontend.wasm")));
        assert_eq!(artifact(b""), None);
    }
}
