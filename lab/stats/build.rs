//! Records the compiler and the commit in the binary, for the machine record of every report.

use std::env;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;

/// Changes with every commit.
const HEAD: &str = "../../.git/logs/HEAD";

/// Asks the compiler of this build, and git. What gives no answer is `unknown`.
fn main() {
    let compiler = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let rustc = answer(compiler, &["--version"]);
    let commit = answer("git".into(), &["describe", "--always", "--dirty", "--abbrev=10"]);

    println!("cargo::rustc-env=LAPWING_RUSTC={rustc}");
    println!("cargo::rustc-env=LAPWING_COMMIT={commit}");
    // Without these, each change of a file of this package builds it again, as by default.
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src");
    // A file that is not there would build it each time.
    if Path::new(HEAD).exists() {
        println!("cargo::rerun-if-changed={HEAD}");
    }
}

/// What `program` prints, without the end of its line.
fn answer(program: OsString, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output().ok();
    let text = output.filter(|output| output.status.success()).map(|output| output.stdout);
    text.and_then(|text| String::from_utf8(text).ok())
        .map_or_else(|| "unknown".to_owned(), |text| text.trim().to_owned())
}
