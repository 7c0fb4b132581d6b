//! What ends a program that serves: a signal, or the end of an input that another program holds.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{FileType, fstat};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// Whether a signal asks the program to end.
///
/// ```
/// use exchange::ends::Termination;
///
/// let termination = Termination::watch()?;
/// assert!(!termination.is_asked());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Termination(Arc<AtomicBool>);

impl Termination {
    /// Watches for SIGTERM and SIGINT from now on. Further ones change nothing: programs such as
    /// `timeout` send a signal to a process, and then to its group.
    ///
    /// # Errors
    ///
    /// The error of the system.
    pub fn watch() -> io::Result<Self> {
        let is_asked = Arc::new(AtomicBool::new(false));
        for signal in [SIGTERM, SIGINT] {
            flag::register(signal, Arc::clone(&is_asked))?;
        }
        Ok(Self(is_asked))
    }

    /// Whether a signal has come.
    #[must_use]
    pub fn is_asked(&self) -> bool {
        // Relaxed: it carries nothing, and is checked again and again.
        self.0.load(Ordering::Relaxed)
    }
}

/// Whether the end of the standard input says that the program shall end: it is a pipe or a socket,
/// which another program holds open. A service has `/dev/null`, a file or a closed input, and a
/// terminal sends a signal.
#[must_use]
pub fn input_ends_program() -> bool {
    let is_held = |mode| matches!(FileType::from_raw_mode(mode), FileType::Fifo | FileType::Socket);
    fstat(io::stdin()).is_ok_and(|found| is_held(found.st_mode))
}
