//! External load: threads of another process that compute without end. Each of them can fill one
//! CPU. The process is the same program with the hidden subcommand `busy-threads COUNT`, which calls [`BusyThreads::serve`].

use std::hint::black_box;
use std::io::{self, Read, Write};
use std::thread;

use crate::child::{self, OwnChild};

/// The subcommand of the process.
const SUBCOMMAND: &str = "busy-threads";
/// What the process writes when its threads run, before the end of a line: the control character for
/// an acknowledgement.
const RUNNING: u8 = 6;

/// Busy threads of another process. They end when this value is dropped.
#[derive(Debug)]
pub struct BusyThreads {
    /// `None` if there are no threads.
    _process: Option<OwnChild>,
}

impl BusyThreads {
    /// Starts `count` threads in another process, and waits until all of them run.
    ///
    /// # Errors
    ///
    /// The system refuses to start the process, it ended early, or this program does not call
    /// [`serve`](Self::serve), as a unit test does not.
    pub fn start(count: u32) -> io::Result<Self> {
        if count == 0 {
            return Ok(Self { _process: None });
        }
        let mut process = OwnChild::start([SUBCOMMAND, &count.to_string()], &[])?;
        let mut started = [0];
        if let Some(mut output) = process.output() {
            output.read_exact(&mut started)?;
            if started != [RUNNING] {
                let text = format!("`{SUBCOMMAND} {count}` of this program starts no busy threads");
                return Err(io::Error::new(io::ErrorKind::InvalidData, text));
            }
        }
        Ok(Self { _process: Some(process) })
    }

    /// In the process: computes in `count` threads until its parent ends, and reports when all of them
    /// run.
    ///
    /// # Errors
    ///
    /// The system refuses to create a thread, or the parent has closed the pipe.
    pub fn serve(count: u32) -> io::Result<()> {
        child::end_with_parent()?;
        for _ in 0..count {
            thread::Builder::new().spawn(compute)?;
        }
        let mut output = io::stdout();
        output.write_all(&[RUNNING, b'\n']).and_then(|()| output.flush())?;
        loop {
            thread::park();
        }
    }
}

/// Computes without end and without memory accesses, so it takes only CPU time.
fn compute() -> ! {
    let mut word = 1_u64;
    loop {
        word = black_box(word.wrapping_mul(31).wrapping_add(7));
    }
}
