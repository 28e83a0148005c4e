//! `cargo bundle`: builds everything the browser loads into `target/site`.
//!
//! Every file below `pkg/` has the hash of its contents in its name, so it can be cached for ever and never meets a page of another build.
//! `hash.txt` tells the server the names, in the form that Leptos reads (`hash_files`).

mod site;
mod style;
mod wasm;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::Parser;

/// Builds the browser program, the style sheet and the public files into `target/site`.
#[derive(Debug, Parser)]
#[command(name = "cargo bundle")]
struct Options {
    /// Small and fast for users (profile `wasm-release`, compressed copies) instead of quick to build.
    #[arg(long)]
    release: bool,
    /// Where the site goes; replaced as a whole.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

fn main() -> ExitCode {
    match run(Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bundle: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: Options) -> anyhow::Result<()> {
    let root = workspace_root()?;
    let out = options.out.unwrap_or_else(|| root.join("target/site"));
    let program = wasm::build(&root, options.release)?;
    let sheet = style::bundle(&root.join("style/main.css"))?;
    let public = root.join("public");
    let inputs = site::Inputs { program: &program, sheet: &sheet, public: &public };
    match site::write(&inputs, &out)? {
        site::Outcome::Unchanged => eprintln!("bundle: {} is up to date", out.display()),
        site::Outcome::Written(sizes) => {
            eprintln!("bundle: wrote {}", out.display());
            for line in sizes {
                eprintln!("bundle:   {line}");
            }
        }
    }
    Ok(())
}

/// The folder of the workspace: two above this package.
fn workspace_root() -> anyhow::Result<PathBuf> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = package.ancestors().nth(2).context("the package lies outside its workspace")?;
    Ok(root.to_path_buf())
}
