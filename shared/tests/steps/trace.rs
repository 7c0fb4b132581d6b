//! A process that is traced, and killed at one of its steps.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use crate::role::{FOLDER, ROLE};

/// The words, seats and stamps of a small segment: all that is before its slots, as
/// `lapwing_shared::docs::layout` has it.
const WORDS: std::ops::Range<usize> = 4096..8192;

/// A step: the number of stores that others have seen, or the number of stops at a call of the system.
#[derive(Debug, Clone, Copy)]
pub(crate) enum At {
    Store(usize),
    Call(usize),
}

/// A process that has stopped where its part begins.
pub(crate) struct Traced {
    process: Child,
    thread: i32,
    memory: PathBuf,
    _output: BufReader<ChildStdout>,
}

/// Why the thread has stopped.
enum Stop {
    /// After an instruction, or at a call.
    Step,
    /// At the end of its part.
    End,
}

impl Traced {
    pub(crate) fn start(role: &str, folder: &Path) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "role::role", "--include-ignored", "--nocapture", "--quiet"]);
        command.env(ROLE, role).env(FOLDER, folder).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let thread = loop {
            let mut line = String::new();
            assert_ne!(output.read_line(&mut line).unwrap(), 0, "the process has ended");
            if let Some((_, number)) = line.split_once("> ") {
                break number.trim().parse().unwrap();
            }
        };
        let traced =
            Self { process, thread, memory: folder.join("steps.segment/memory"), _output: output };
        assert!(matches!(traced.wait(), Stop::End), "it stops where its part begins");
        traced
    }

    /// Kills the process at this step. Returns false if its part ends before; then it ends as it likes.
    pub(crate) fn kill_at(mut self, at: At) -> bool {
        let is_killed = match at {
            At::Store(stores) => self.go_to_store(stores),
            At::Call(calls) => (0..calls).all(|_| self.go_on(libc::PTRACE_SYSCALL)),
        };
        if !is_killed {
            self.trace(libc::PTRACE_DETACH, 0);
            self.process.wait().unwrap();
        }
        is_killed // on drop
    }

    /// Goes on until the words have changed so many times. Returns false if its part ends before.
    pub(crate) fn go_to_store(&self, stores: usize) -> bool {
        let (mut seen, mut last) = (0, self.words());
        while seen < stores {
            if !self.go_on(libc::PTRACE_SINGLESTEP) {
                return false;
            }
            let words = self.words();
            if words != last {
                (seen, last) = (seen + 1, words);
            }
        }
        true
    }

    /// Returns the words of the segment, if there is one.
    fn words(&self) -> Option<Vec<u8>> {
        let mut words = vec![0; WORDS.len()];
        let file = File::open(&self.memory).ok()?;
        file.read_exact_at(&mut words, WORDS.start as u64).ok()?;
        Some(words)
    }

    /// Takes a step. Returns false at the end of the part.
    fn go_on(&self, request: libc::c_uint) -> bool {
        self.trace(request, 0);
        matches!(self.wait(), Stop::Step)
    }

    fn trace(&self, request: libc::c_uint, signal: i32) {
        // SAFETY: the thread is a stopped tracee of this one, and the request reads no memory.
        let result = unsafe { libc::ptrace(request, self.thread, 0, i64::from(signal)) };
        assert_eq!(result, 0, "{}", std::io::Error::last_os_error());
    }

    fn wait(&self) -> Stop {
        let mut status = 0;
        // SAFETY: writes the status.
        let waited = unsafe { libc::waitpid(self.thread, &raw mut status, libc::__WALL) };
        assert_eq!(waited, self.thread, "{}", std::io::Error::last_os_error());
        assert!(libc::WIFSTOPPED(status), "the process has ended: {status:#x}");
        match libc::WSTOPSIG(status) {
            libc::SIGSTOP => Stop::End,
            libc::SIGTRAP => Stop::Step,
            other => panic!("signal {other}"),
        }
    }
}

impl Drop for Traced {
    fn drop(&mut self) {
        let _ = self.process.kill();
        // The process has not ended before the end of the traced thread is seen.
        // SAFETY: without a place for the status, it writes none.
        while unsafe { libc::waitpid(self.thread, std::ptr::null_mut(), libc::__WALL) } > 0 {}
        let _ = self.process.wait();
    }
}
