//! What the command does when the reader of its output has left, as in `lapwing throughput 2>&1 | head -1`; and which
//! path it names when the system refuses a file of the cache.
#![cfg(unix)]

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// The command `lapwing` with `arguments`, separated by spaces.
fn lapwing(arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_lapwing"));
    command.args(arguments.split(' ')).stdin(Stdio::null());
    command
}

/// A pipe whose reader has left.
fn closed_pipe() -> Stdio {
    let (reader, writer) = io::pipe().expect("the system has pipes");
    drop(reader);
    writer.into()
}

/// The exit code of `command` whose readers of both outputs have left.
fn exit_code_without_readers(command: &mut Command) -> Option<i32> {
    let status = command.stdout(closed_pipe()).stderr(closed_pipe()).status();
    status.expect("the binary starts").code()
}

/// A folder with a g++ that says its version, and compiles nothing.
fn folder_of_a_broken_compiler() -> TempDir {
    let folder = TempDir::new().expect("there is a temporary folder");
    let compiler = folder.path().join("g++");
    let script =
        "#!/bin/sh\n[ \"$1\" = --version ] && exit 0\necho 'error: it is broken' >&2\nexit 1\n";
    fs::write(&compiler, script).expect("the folder can be written");
    fs::set_permissions(&compiler, Permissions::from_mode(0o755)).expect("it is ours");
    folder
}

/// A measurement of a rival that `compilers` has to build first, kept in `cache`.
fn with_a_rival_to_build(compilers: &TempDir, cache: &Path) -> Command {
    let arguments = "throughput --topology=unicast --runs=1 --events=100 --contender";
    let mut command = lapwing(&format!("{arguments} std-mpsc,cpp-mutex-queue"));
    command.env("PATH", compilers.path()).env("XDG_CACHE_HOME", cache);
    command
}

#[test]
fn readers_that_have_left_do_not_end_a_measurement() {
    let folder = TempDir::new().expect("there is a temporary folder");
    let json = folder.path().join("report.json");
    let arguments = "throughput --topology=unicast --runs=1 --events=100 --contender=std-mpsc";
    let mut command = lapwing(arguments);
    command.arg("--json").arg(&json);

    assert_eq!(exit_code_without_readers(&mut command), Some(0));
    let text = fs::read_to_string(&json).expect("the file is written");
    let report = serde_json::from_str::<serde_json::Value>(&text).expect("the file is JSON");
    assert_eq!(report["complete"], true);
    let mut command = lapwing("report");
    assert_eq!(exit_code_without_readers(command.arg(folder.path())), Some(0));
}

#[test]
fn an_error_that_nobody_reads_has_its_exit_code() {
    let arguments = "throughput --topology=unicast --runs=1 --events=100 --contender=wrong-answer";
    assert_eq!(exit_code_without_readers(&mut lapwing(arguments)), Some(1));
    assert_eq!(exit_code_without_readers(&mut lapwing("throughput --ring=3")), Some(2));
    assert_eq!(exit_code_without_readers(&mut lapwing("report /no/such/folder")), Some(2));
    assert_eq!(exit_code_without_readers(&mut lapwing("--help")), Some(0));
}

#[test]
fn a_rival_is_built_though_nobody_reads_that_it_is() {
    let (compilers, cache) = (folder_of_a_broken_compiler(), TempDir::new().expect("as above"));
    let mut command = with_a_rival_to_build(&compilers, cache.path());
    assert_eq!(exit_code_without_readers(&mut command), Some(0));
}

#[test]
fn a_cache_that_cannot_be_written_is_named() {
    let compilers = folder_of_a_broken_compiler();
    let file = compilers.path().join("g++");
    for cache in [file.as_path(), Path::new("/proc/no-such-folder")] {
        let Output { status, stdout, .. } =
            with_a_rival_to_build(&compilers, cache).output().expect("the binary starts");
        assert!(status.success());
        let table = String::from_utf8_lossy(&stdout);
        let expected = format!("cannot write {}: ", cache.join("lapwing").display());
        assert!(table.contains(&expected), "expected {expected:?} in {table}");
    }
}
