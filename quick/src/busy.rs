//! Busy threads of another process: the system takes CPUs away from a run, as it does on a machine with other work. The
//! process is this program with a hidden argument. It ends when its standard input closes, so it does not outlive an
//! evaluation that panics, is interrupted or is killed.

use std::env;
use std::hint::black_box;
use std::io::{self, Read, Write};
use std::process::{self, Child, Command, Stdio};
use std::thread;

use crate::crew::Failure;

/// The hidden argument; the number of threads follows it.
pub(crate) const ARGUMENT: &str = "--busy-threads";

/// Busy threads of another process. They end when this is dropped.
#[derive(Debug)]
pub(crate) struct BusyThreads(Option<Child>);

impl BusyThreads {
    /// Starts `count` threads in a process of their own, and waits until all of them run.
    ///
    /// # Errors
    ///
    /// The system refuses the process, or the process ends early.
    pub(crate) fn start(count: u32) -> io::Result<Self> {
        if count == 0 {
            return Ok(Self(None));
        }
        let mut command = Command::new(env::current_exe()?);
        command.args([ARGUMENT, &count.to_string()]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let output = child.stdout.take();
        let busy = Self(Some(child));
        // The process writes one byte when its threads run.
        output.map_or(Ok(()), |mut output| output.read_exact(&mut [0]))?;
        Ok(busy)
    }
}

impl Drop for BusyThreads {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            // An error means that the process has ended.
            let _ended = child.kill();
            let _status = child.wait();
        }
    }
}

/// The process: computes in `count` threads until its standard input closes.
///
/// # Errors
///
/// `count` is no number, or the system refuses a thread.
pub(crate) fn serve(count: &str) -> Result<(), Failure> {
    for _ in 0..count.parse::<u32>()? {
        thread::Builder::new().spawn(compute)?;
    }
    let mut output = io::stdout();
    output.write_all(b"\n").and_then(|()| output.flush())?;
    // Nothing is ever written to the input: the copy ends when the evaluation has ended.
    let _closed = io::copy(&mut io::stdin(), &mut io::sink());
    process::exit(0)
}

/// Computes without end, and without memory: it takes CPU time and nothing else.
fn compute() -> ! {
    let mut word = 1_u64;
    loop {
        word = black_box(word.wrapping_mul(31).wrapping_add(7));
    }
}
