//! Whether another process lives. Each writer and each reader holds one end of a named pipe open for
//! reading. The kernel closes it when the process ends, however it ends, and not when the process is
//! stopped. Unlike the number of a process, it is never that of another one, and it is the same in each
//! namespace.
//!
//! ```text
//! holder      opens the pipe for reading and writing, so that it never waits and sees no hang-up
//! watcher     opens it for writing: ENXIO if nobody holds it; `poll` reports an error once nobody does
//! ```
//!
//! A byte in the pipe tells its holder that something has changed. Not here: what the holder then does
//! (`watch`), and the order in which a pipe is held and a seat is taken (`segment`).

use std::fs::File;
use std::io::{self, Read, Write};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::io::{Errno, retry_on_intr};

use crate::directory::Directory;
use crate::fork::Kept;

/// A pipe that this process holds.
#[derive(Debug)]
pub(crate) struct Held(Kept);

/// A pipe that a process held when this was opened.
#[derive(Debug)]
pub(crate) struct Watched(File);

impl Held {
    /// Holds a pipe.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub(crate) fn hold(directory: &Directory, name: &str) -> io::Result<Self> {
        Kept::open(|| directory.open(name, OFlags::RDWR | OFlags::NONBLOCK)).map(Self)
    }

    pub(crate) fn file(&self) -> &File {
        self.0.file()
    }

    /// Whether others have written something that is not drained. Also if the system does not say.
    pub(crate) fn is_told(&self) -> bool {
        !matches!(poll_now(self.file(), PollFlags::IN), Ok(0))
    }

    /// Takes what others have written, which has no meaning but that it was written.
    pub(crate) fn drain(&self) {
        let mut bytes = [0; 64];
        while matches!((&mut self.file()).read(&mut bytes), Ok(64)) {}
    }
}

impl Watched {
    /// Opens a pipe to watch its holder; `None` if nobody holds it.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub(crate) fn open(directory: &Directory, name: &str) -> io::Result<Option<Self>> {
        match directory.open(name, OFlags::WRONLY | OFlags::NONBLOCK) {
            Ok(file) => Ok(Some(Self(file))),
            Err(error) if error.raw_os_error() == Some(Errno::NXIO.raw_os_error()) => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(crate) fn file(&self) -> &File {
        &self.0
    }

    /// Whether a process holds it now. Also if the system does not say, as it says nothing of a death then.
    pub(crate) fn is_held(&self) -> bool {
        !matches!(poll_now(&self.0, PollFlags::empty()), Ok(1..))
    }

    /// Tells the holder that something has changed. A pipe that is full tells it as well. The caller
    /// blocks SIGPIPE, since the holder may have ended.
    pub(crate) fn tell(&self) {
        let _ = (&self.0).write(&[1]);
    }
}

/// Returns 1 if one of these things is so for the file now, or an error, and 0 otherwise.
fn poll_now(file: &File, flags: PollFlags) -> rustix::io::Result<usize> {
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    retry_on_intr(|| poll(&mut [PollFd::new(file, flags)], Some(&now)))
}
