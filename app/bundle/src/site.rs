//! Lays out `target/site`: hashed names, the starter module, public files, compressed copies; then puts it in place at one stroke.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context;
use sha2::{Digest as _, Sha256};

use crate::wasm::{self, NAME, Program};

/// Remembers from what the site was made, so that an unchanged one is left alone.
const STAMP: &str = "inputs.txt";
/// Endings of files that get smaller when compressed.
const COMPRESSIBLE: [&str; 6] = ["css", "html", "js", "svg", "txt", "wasm"];

/// What a site is made from.
pub struct Inputs<'a> {
    /// The compiled browser program.
    pub program: &'a Program,
    /// The whole style sheet.
    pub sheet: &'a str,
    /// A folder that is copied to the top of the site.
    pub public: &'a Path,
}

/// What [`write`] did.
pub enum Outcome {
    /// The site was made from the same inputs already.
    Unchanged,
    /// One line for each file below `pkg`, with its sizes in bytes.
    Written(Vec<String>),
}

/// Makes the site in a folder beside `out` and then renames it, so that a running server never sees half of it.
///
/// # Errors
/// Where glue cannot be made or a file cannot be written.
pub fn write(inputs: &Inputs<'_>, out: &Path) -> anyhow::Result<Outcome> {
    let public = files_below(inputs.public)?;
    let stamp = stamp(inputs, &public)?;
    if fs::read_to_string(out.join(STAMP)).is_ok_and(|old| old == stamp) {
        return Ok(Outcome::Unchanged);
    }
    let fresh = out.with_extension("new");
    let old = out.with_extension("old");
    remove(&fresh)?;
    remove(&old)?;
    let pkg = fresh.join("pkg");
    fs::create_dir_all(&pkg).with_context(|| format!("cannot make {}", pkg.display()))?;
    fill_pkg(inputs, &pkg, &fresh)?;
    for file in &public {
        copy(&inputs.public.join(file), &fresh.join(file))?;
    }
    if inputs.program.release {
        for file in files_below(&fresh)? {
            compress(&fresh.join(file))?;
        }
    }
    let sizes = sizes(&pkg)?;
    fs::write(fresh.join(STAMP), stamp)?;
    if out.exists() {
        fs::rename(out, &old)?;
    }
    fs::rename(&fresh, out).with_context(|| format!("cannot put {} in place", out.display()))?;
    remove(&old)?;
    Ok(Outcome::Written(sizes))
}

/// Glue, wasm, style sheet and starter under hashed names, and `hash.txt` which lists the hashes.
fn fill_pkg(inputs: &Inputs<'_>, pkg: &Path, site: &Path) -> anyhow::Result<()> {
    wasm::bind(inputs.program, pkg)?;
    let js = hashed(&pkg.join(format!("{NAME}.js")), pkg, NAME, "js")?;
    let wasm = hashed(&pkg.join(format!("{NAME}_bg.wasm")), pkg, NAME, "wasm")?;
    let sheet = pkg.join("sheet");
    fs::write(&sheet, inputs.sheet)?;
    let css = hashed(&sheet, pkg, NAME, "css")?;
    let starter = pkg.join("starter");
    fs::write(&starter, starter_text(&js, &wasm))?;
    let start = hashed(&starter, pkg, "start", "js")?;
    fs::write(site.join("hash.txt"), format!("js: {js}\nwasm: {wasm}\ncss: {css}\nstart: {start}\n"))?;
    Ok(())
}

/// The module that a page loads by `src`, so that no page needs an inline script. Its name changes with the names inside it.
fn starter_text(js: &str, wasm: &str) -> String {
    format!(
        "import init, {{ hydrate }} from \"./{NAME}.{js}.js\";\n\
         await init({{ module_or_path: new URL(\"./{NAME}.{wasm}.wasm\", import.meta.url) }});\n\
         hydrate();\n"
    )
}

/// Renames `file` to `stem.<hash>.extension` in `folder`; the hash is 16 digits of the SHA-256 of its contents.
fn hashed(file: &Path, folder: &Path, stem: &str, extension: &str) -> anyhow::Result<String> {
    let bytes = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
    let hash: String = hex::encode(Sha256::digest(&bytes)).chars().take(16).collect();
    fs::rename(file, folder.join(format!("{stem}.{hash}.{extension}")))?;
    Ok(hash)
}

/// Lays `file.br` and `file.gz` beside a file that is worth it.
fn compress(file: &Path) -> anyhow::Result<()> {
    let extension = file.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    if !COMPRESSIBLE.contains(&extension) {
        return Ok(());
    }
    let bytes = fs::read(file)?;
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    gzip.write_all(&bytes)?;
    fs::write(beside(file, "gz"), gzip.finish()?)?;
    let mut packed = Vec::new();
    let settings = brotli::enc::BrotliEncoderParams { quality: 9, lgwin: 22, ..Default::default() };
    brotli::BrotliCompress(&mut bytes.as_slice(), &mut packed, &settings)?;
    fs::write(beside(file, "br"), packed)?;
    Ok(())
}

fn beside(file: &Path, ending: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(".");
    name.push(ending);
    PathBuf::from(name)
}

/// A hash over all inputs.
fn stamp(inputs: &Inputs<'_>, public: &[PathBuf]) -> anyhow::Result<String> {
    let mut digest = Sha256::new();
    digest.update([u8::from(inputs.program.release)]);
    digest.update(Sha256::digest(&inputs.program.bytes));
    digest.update(Sha256::digest(inputs.sheet));
    for file in public {
        digest.update(file.as_os_str().as_encoded_bytes());
        digest.update(Sha256::digest(fs::read(inputs.public.join(file))?));
    }
    Ok(hex::encode(digest.finalize()))
}

/// All files below `folder`, relative to it, in order; none where there is no such folder.
fn files_below(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(inner) = folders.pop() {
        let Ok(entries) = fs::read_dir(folder.join(&inner)) else { continue };
        for entry in entries {
            let entry = entry?;
            let path = inner.join(entry.file_name());
            if entry.file_type()?.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    Ok(files)
}

fn copy(from: &Path, to: &Path) -> anyhow::Result<()> {
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::copy(from, to).with_context(|| format!("cannot copy {}", from.display()))?;
    Ok(())
}

fn remove(folder: &Path) -> anyhow::Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    Ok(())
}

fn sizes(folder: &Path) -> anyhow::Result<Vec<String>> {
    let files = files_below(folder)?;
    files.iter().map(|file| Ok(format!("{:>9}  {}", fs::metadata(folder.join(file))?.len(), file.display()))).collect()
}
