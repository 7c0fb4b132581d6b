//! Records the compiler in the binary, for the machine record of every report.

use std::env;
use std::process::Command;

/// Asks the compiler of this build for its version; a compiler that does not answer is `unknown`.
fn main() {
    let compiler = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let answer = Command::new(compiler).arg("--version").output();

    let version = answer
        .ok()
        .and_then(|output| String::from_utf8(output.stdout).ok())
        .map_or_else(|| "unknown".to_owned(), |text| text.trim().to_owned());

    println!("cargo::rustc-env=LAPWING_RUSTC={version}");
    println!("cargo::rerun-if-changed=build.rs");
}
