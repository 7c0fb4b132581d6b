//! Child processes of the same program that never outlive their parent, and the busy threads of such a
//! process.

use std::hint::black_box;
use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{self, Child, ChildStdout, Command, Stdio};
use std::{env, thread};

/// A child that is killed when the guard is dropped.
#[derive(Debug)]
pub(super) struct OwnChild(Child);

impl OwnChild {
    /// Starts this program with `arguments` and further environment variables. Its input and its
    /// output are pipes. Ctrl-C does not reach it.
    ///
    /// # Errors
    ///
    /// The system refuses to start the process.
    pub(super) fn start(arguments: &[String], variables: &[(&str, &str)]) -> io::Result<Self> {
        let mut command = Command::new(env::current_exe()?);
        command
            .args(arguments)
            .envs(variables.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        command.process_group(0);
        command.spawn().map(Self)
    }

    /// Returns its number in the system.
    pub(super) fn id(&self) -> i32 {
        self.0.id() as i32
    }

    /// Returns its output, or `None` if it was taken before.
    pub(super) fn output(&mut self) -> Option<ChildStdout> {
        self.0.stdout.take()
    }
}

impl Drop for OwnChild {
    fn drop(&mut self) {
        // An error means that the child has ended.
        let _ended = self.0.kill();
        let _status = self.0.wait();
    }
}

/// In the child: ends this process when its parent ends.
///
/// # Errors
///
/// The system refuses to create a thread.
pub(super) fn end_with_parent() -> io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
    let watch = thread::Builder::new().name("parent-watch".to_owned());
    watch.spawn(|| {
        // The parent writes nothing, so the read returns when the pipe is closed.
        let _closed = io::stdin().read(&mut [0]);
        process::exit(0);
    })?;
    Ok(())
}

/// Threads of another process that compute without end. They end when this value is dropped.
#[derive(Debug)]
pub(super) struct BusyThreads(#[expect(dead_code, reason = "its drop ends them")] OwnChild);

impl BusyThreads {
    /// Starts `count` threads in another process, and waits until all of them run.
    ///
    /// # Errors
    ///
    /// The system refuses to start the process, or it ended early.
    pub(super) fn start(count: u32) -> io::Result<Self> {
        let mut process = OwnChild::start(&["busy-threads".to_owned(), count.to_string()], &[])?;
        let mut started = [0];
        if let Some(mut output) = process.output() {
            output.read_exact(&mut started)?;
        }
        Ok(Self(process))
    }
}

/// In the process: computes in `count` threads until its parent ends, and reports when all of them
/// run.
///
/// # Errors
///
/// The system refuses to create a thread, or the parent has closed the pipe.
pub(super) fn be_busy(count: u32) -> io::Result<()> {
    end_with_parent()?;
    for _ in 0..count {
        thread::Builder::new().spawn(compute)?;
    }
    let mut output = io::stdout();
    output.write_all(b"\n").and_then(|()| output.flush())?;
    loop {
        thread::park();
    }
}

/// Computes without end and without memory accesses, so it takes only CPU time.
fn compute() -> ! {
    let mut word = 1_u64;
    loop {
        word = black_box(word.wrapping_mul(31).wrapping_add(7));
    }
}
