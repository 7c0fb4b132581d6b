//! Processes that a command starts: busy threads, compilers of rivals, the tools of Aeron, and those that
//! `processes` measures.
#![cfg(unix)]

use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
#[cfg(target_os = "linux")]
use std::time::{Duration, Instant};
use std::{env, thread};

use tempfile::TempDir;

use crate::{complaint, lapwing, printed};

fn folder() -> TempDir {
    TempDir::new().expect("there is a temporary folder")
}

/// A folder with a g++ that says its version, and compiles nothing.
fn folder_of_a_broken_compiler() -> TempDir {
    let folder = folder();
    let compiler = folder.path().join("g++");
    let script =
        "#!/bin/sh\n[ \"$1\" = --version ] && exit 0\necho 'error: it is broken' >&2\nexit 1\n";
    fs::write(&compiler, script).expect("the folder can be written");
    fs::set_permissions(&compiler, Permissions::from_mode(0o755)).expect("it is ours");
    folder
}

/// A measurement of a rival that `compilers` has to build first, kept in `cache`.
fn with_a_rival_to_build(compilers: &TempDir, cache: &Path) -> Command {
    let arguments = "throughput --topology=unicast --runs=1 --events=100";
    let mut command = lapwing(&format!("{arguments} --contender std-mpsc,cpp-mutex-queue"));
    command.env("PATH", compilers.path()).env("XDG_CACHE_HOME", cache);
    command
}

#[test]
fn a_rival_without_its_tools_is_a_line_that_says_so() {
    let rivals = "--contender=std-mpsc,lmax,array-blocking-queue,moodycamel";
    let arguments = format!("throughput --topology=unicast --runs=1 --events=100 {rivals}");
    let report = printed(lapwing(&arguments).env("PATH", ""));
    assert_eq!(report.matches("javac is not installed").count(), 2, "{report}");
    assert_eq!(report.matches("g++ is not installed").count(), 1, "{report}");
}

#[test]
fn a_rival_that_does_not_compile_is_a_line_that_says_so() {
    let (compilers, cache) = (folder_of_a_broken_compiler(), folder());
    let report = printed(&mut with_a_rival_to_build(&compilers, cache.path()));
    assert!(report.contains("not run: cpp-mutex-queue: "), "{report}");
}

#[test]
fn a_cache_that_cannot_be_written_is_named() {
    let compilers = folder_of_a_broken_compiler();
    let file = compilers.path().join("g++");
    for cache in [file.as_path(), Path::new("/proc/no-such-folder")] {
        let table = printed(&mut with_a_rival_to_build(&compilers, cache));
        let expected = format!("cannot write {}: ", cache.join("lapwing").display());
        assert!(table.contains(&expected), "expected {expected:?} in {table}");
    }
}

#[test]
fn aeron_without_its_tools_says_what_is_missing() {
    let bash_only = folder();
    let paths = env::var_os("PATH").expect("a path");
    let bash = env::split_paths(&paths).map(|path| path.join("bash")).find(|bash| bash.is_file());
    symlink(bash.expect("bash is installed"), bash_only.path().join("bash")).expect("it is ours");
    let mut command = lapwing("aeron --rounds=1");
    let output = command.env("PATH", bash_only.path()).output().expect("the binary starts");
    let complaint = complaint(&output);
    assert_eq!(output.status.code(), Some(77), "{complaint}");
    assert!(complaint.contains("clang, a C compiler or libbsd is missing"), "{complaint}");
}

/// The process of busy threads, once all of them run.
fn busy_threads() -> Child {
    let mut command = lapwing("busy-threads 1");
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("the binary starts");
    let mut line = String::new();
    let output = child.stdout.as_mut().expect("it is a pipe");
    BufReader::new(output).read_line(&mut line).expect("the threads run");
    assert_eq!(line, "\u{6}\n");
    child
}

#[test]
fn busy_threads_end_when_their_input_is_closed() {
    let mut child = busy_threads();
    drop(child.stdin.take());
    assert!(child.wait().expect("it ends").success());
}

#[test]
#[cfg(target_os = "linux")]
fn busy_threads_end_with_the_thread_that_started_them() {
    let mut child = thread::spawn(busy_threads).join().expect("it starts");
    let status = child.wait().expect("it ends");
    assert!(!status.success(), "killed by the system: {status}");
}

/// Waits until `is_over`, for half a minute.
#[cfg(target_os = "linux")]
fn wait_until(what: &str, is_over: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !is_over() {
        assert!(Instant::now() < deadline, "{what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// The processes whose parent has this number.
#[cfg(target_os = "linux")]
fn children_of(parent: u32) -> Vec<String> {
    let processes = fs::read_dir("/proc").expect("there are processes").flatten();
    let statuses = processes.map(|process| process.path().join("status"));
    let parent = format!("PPid:\t{parent}");
    let is_child = |status: &String| status.lines().any(|line| line == parent);
    statuses.filter_map(|path| fs::read_to_string(path).ok()).filter(is_child).collect()
}

/// A command that is killed when it is dropped.
#[cfg(target_os = "linux")]
struct Killed(Child);

#[cfg(target_os = "linux")]
impl Drop for Killed {
    fn drop(&mut self) {
        // An error means that it has ended.
        let _ended = self.0.kill();
        let _status = self.0.wait();
    }
}

/// Kills a command with this contender while its processes wait for events. They end too, and the
/// next command removes their memory.
#[cfg(target_os = "linux")]
fn assert_ends_end_with_their_command(contender: &str, processes: usize) {
    let flags = "--runs 1 --events 100 --load idle";
    let idle = format!("processes {flags} --contender {contender} --idle-seconds 600");
    let mut command = lapwing(&idle);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let killed = Killed(command.spawn().expect("it starts"));
    let number = killed.0.id();
    let folder = PathBuf::from(format!("/dev/shm/lapwing-lab-{number}-0"));
    let has_memory = || fs::read_dir(&folder).is_ok_and(|files| files.count() > 0);
    wait_until("it makes its memory", has_memory);
    let ends = children_of(number);
    assert_eq!(ends.len(), processes, "{ends:?}");
    drop(killed);
    for end in ends {
        let number = end.lines().find_map(|line| line.strip_prefix("Pid:\t"));
        let status = format!("/proc/{}/status", number.expect("a process has a number"));
        let is_zombie = |status: String| status.contains("State:\tZ");
        wait_until("its ends are killed", || fs::read_to_string(&status).map_or(true, is_zombie));
    }
    assert!(folder.exists());
    let next = format!("processes {flags} --contender lapwing-shared --idle-seconds 0.01");
    printed(&mut lapwing(&next));
    assert!(!folder.exists());
}

#[test]
#[cfg(target_os = "linux")]
fn ends_of_a_command_that_was_killed_end_too_and_the_next_one_removes_their_memory() {
    assert_ends_end_with_their_command("lapwing-shared", 2);
}

#[test]
#[cfg(target_os = "linux")]
fn aeron_between_processes_without_its_tools_is_a_line_that_says_so() {
    let flags = "--runs 1 --events 100 --load stream --readers 1 --event-bytes 8";
    let arguments = format!("processes {flags} --contender pipe,aeron-ipc");
    let report = printed(lapwing(&arguments).env("PATH", ""));
    assert!(report.contains("not run: aeron-ipc: javac is not installed"), "{report}");
    assert!(report.contains("all verified: 1 rows"), "{report}");
}

/// Skipped if the tools are missing.
#[test]
#[cfg(target_os = "linux")]
fn aeron_between_processes_loses_nothing_and_leaves_nothing() {
    // The largest events do not fit the smallest term, so the writer has to wait for its readers.
    let flags = "--runs 1 --events 300 --ring 64 --readers 3 --event-bytes 256,8";
    let loads = "--load stream,back-to-back,idle --idle-seconds 0.01";
    let mut command = lapwing(&format!("processes {flags} {loads} --contender aeron-ipc"));
    command.env("COLUMNS", "250").stdout(Stdio::piped()).stderr(Stdio::inherit());
    let running = command.spawn().expect("the binary starts");
    let number = running.id();
    let output = running.wait_with_output().expect("it ends");
    let report = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{report}");
    if report.contains("not run: aeron-ipc") {
        return eprintln!("skipped: {report}");
    }
    assert!(report.contains("all verified: 8 rows, 8 runs"), "{report}");
    assert!(!report.contains("files left"), "{report}");
    let memory = fs::read_dir("/dev/shm").expect("there is memory").flatten();
    let prefix = format!("lapwing-lab-{number}-");
    let mut names = memory.map(|file| file.file_name().to_string_lossy().into_owned());
    assert!(!names.any(|name| name.starts_with(&prefix)), "{report}");
    // The driver, the writer and a reader.
    assert_ends_end_with_their_command("aeron-ipc", 3);
}
