//! Compiles the forwarder of closed networks (`server/forward`) statically, so that the program carries it in itself and needs nothing
//! beside. Where that fails, an empty file is carried and closed networks say so when they are asked for.

use std::env::var_os;
use std::path::Path;
use std::process::Command;

const SOURCE: &str = "../forward/src";

fn main() {
    println!("cargo:rerun-if-changed={SOURCE}");
    println!("cargo:rerun-if-changed=build.rs");
    let (Some(rustc), Some(target), Some(out)) = (var_os("RUSTC"), var_os("TARGET"), var_os("OUT_DIR")) else {
        println!("cargo:warning=cargo sets RUSTC, TARGET and OUT_DIR");
        std::process::exit(1);
    };
    let program = Path::new(&out).join("forward");
    let mut compiling = Command::new(rustc);
    compiling.args(["--edition", "2024", "--crate-name", "forward", "--crate-type", "bin", "-A", "missing_docs"]);
    for option in ["opt-level=2", "panic=abort", "strip=symbols", "target-feature=+crt-static"] {
        compiling.args(["-C", option]);
    }
    if let Some(linker) = var_os("RUSTC_LINKER") {
        compiling.arg("-C").arg(["linker=", &linker.to_string_lossy()].concat());
    }
    compiling.arg("--target").arg(target).arg("-o").arg(&program).arg(Path::new(SOURCE).join("main.rs"));
    let made = compiling.status().is_ok_and(|status| status.success());
    if !made {
        println!(
            "cargo:warning=the forwarder could not be linked statically; trials with a closed network will be refused"
        );
        if let Err(error) = std::fs::write(&program, []) {
            println!("cargo:warning={}: {error}", program.display());
            std::process::exit(1);
        }
    }
}
