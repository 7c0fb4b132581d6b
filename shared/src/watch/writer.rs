//! How a reader learns that its writer is gone, and that another one goes on.

use std::io;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{PollFd, PollFlags};

use super::{Duty, Watch};
use crate::directory::{Directory, WRITER};
use crate::evidence::{Held, Watched};
use crate::memory::Memory;

/// Watches the writer of one segment.
#[derive(Debug)]
pub(crate) struct WriterWatch {
    memory: Arc<Memory>,
    directory: Arc<Directory>,
    /// The pipe of the reader, in which a writer writes when it goes on.
    held: Held,
    pipe: Option<Watched>,
    /// Whether to look for a writer.
    is_due: bool,
    is_gone: Arc<AtomicBool>,
}

impl WriterWatch {
    /// Starts to watch, and tells the writer that there is a reader. `held` is the pipe of this reader.
    /// Returns what says whether the writer is gone.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub(crate) fn start(
        memory: Arc<Memory>,
        directory: Arc<Directory>,
        held: Held,
    ) -> io::Result<(Watch, Arc<AtomicBool>)> {
        let pipe = Watched::open(&directory, WRITER)?;
        pipe.iter().for_each(Watched::tell);
        let is_gone = Arc::new(AtomicBool::new(pipe.is_none()));
        let shared = Arc::clone(&is_gone);
        let duty = Self { memory, directory, held, pipe, is_due: false, is_gone: shared };
        Ok((Watch::start(duty)?, is_gone))
    }

    /// Looks for a writer, after the last one has ended or another one has written to this reader.
    fn find(&mut self) {
        if self.pipe.as_ref().is_some_and(Watched::is_held) {
            return;
        }
        self.pipe = None; // so that there is a descriptor
        // An error is that the segment was removed: then no writer goes on.
        self.pipe = Watched::open(&self.directory, WRITER).unwrap_or(None);
        // P9, Release: pairs with the Acquire in `is_writer_gone`.
        self.is_gone.store(self.pipe.is_none(), Ordering::Release);
        self.memory.shared().words.events.0.wake_all();
    }
}

impl Duty for WriterWatch {
    fn look(&mut self) {
        if mem::take(&mut self.is_due) {
            self.find();
        }
    }

    fn poll_for(&self) -> Vec<PollFd<'_>> {
        let own = PollFd::new(self.held.file(), PollFlags::IN);
        let pipe = self.pipe.iter().map(|pipe| PollFd::new(pipe.file(), PollFlags::empty()));
        [own].into_iter().chain(pipe).collect()
    }

    fn learn(&mut self, is_ready: &[bool]) {
        self.held.drain();
        self.is_due = is_ready.contains(&true);
    }
}
