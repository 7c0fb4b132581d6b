//! The other process: the example `busy_ring`.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// How long a test waits for what must come.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A folder of rings.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    /// Returns the only file.
    pub(crate) fn only_file(&self) -> PathBuf {
        let mut files = fs::read_dir(self.path()).unwrap().map(|entry| entry.unwrap().path());
        let file = files.next().unwrap();
        assert!(files.next().is_none());
        file
    }

    /// Starts a process with a ring, and waits until the ring is built.
    pub(crate) fn ring(&self, arguments: &[&str]) -> Ring {
        let mut command = Command::new(example());
        command.args(arguments).arg("--until-input-ends").env("LAPWING_DIR", self.path());
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let said = BufReader::new(process.stdout.take().unwrap());
        let mut ring = Ring { process, said };
        ring.wait_for("ready");
        ring
    }

    /// Runs `lapwing top` until it ends.
    pub(crate) fn top(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Returns the command, whose output is no terminal.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lapwing"));
        command.arg("top").args(arguments).env("LAPWING_DIR", self.path()).stdin(Stdio::null());
        command
    }

    /// Runs `lapwing top` until its output has each of `parts`, and returns the output.
    pub(crate) fn top_until(&self, arguments: &[&str], parts: &[&str]) -> String {
        let begun = Instant::now();
        loop {
            let output = self.top(arguments);
            let text = shown(&output);
            if parts.iter().all(|part| text.contains(part)) {
                return text;
            }
            assert!(begun.elapsed() < PATIENCE, "not all of {parts:?}:\n{text}");
        }
    }
}

/// A process with a ring. It is killed when this is dropped.
pub(crate) struct Ring {
    process: Child,
    said: BufReader<std::process::ChildStdout>,
}

impl Ring {
    pub(crate) fn pid(&self) -> u32 {
        self.process.id()
    }

    /// Waits until the process has said this.
    pub(crate) fn wait_for(&mut self, text: &str) {
        let mut line = String::new();
        while line.trim_end() != text {
            line.clear();
            assert_ne!(
                self.said.read_line(&mut line).unwrap(),
                0,
                "it ends and does not say {text:?}"
            );
        }
    }

    pub(crate) fn stop(&self) {
        kill_process(Pid::from_child(&self.process), Signal::STOP).unwrap();
        let stat = || fs::read_to_string(format!("/proc/{}/stat", self.pid())).unwrap();
        let begun = Instant::now();
        while !stat().rsplit_once(") ").unwrap().1.starts_with('T') {
            assert!(begun.elapsed() < PATIENCE, "it does not stop");
        }
    }

    pub(crate) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// Lets the process drop its ring, and end.
    pub(crate) fn close(mut self) {
        drop(self.process.stdin.take());
        assert!(self.process.wait().unwrap().success());
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Returns the output of a program that has succeeded.
pub(crate) fn shown(output: &Output) -> String {
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {complaint}", output.status);
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Returns the one sentence of a program that has failed.
pub(crate) fn complaint(output: &Output, status: i32) -> String {
    let complaint = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(output.status.code(), Some(status), "{complaint}");
    assert!(output.stdout.is_empty());
    complaint
}

/// Returns the path of the example. `cargo test` builds it, and `cargo test --test top` does not.
fn example() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let example = test.ancestors().nth(2).unwrap().join("examples/busy_ring");
    assert!(example.exists(), "missing: cargo build -p lapwing-cli --example busy_ring");
    example
}
