//! How a reader learns that its writer is gone, and that another one goes on.

use std::io;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender};

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
    held: Arc<Held>,
    /// The pipe of the writers, once one has held it. The next writer holds the same.
    pipe: Option<Watched>,
    /// Whether to look for a writer.
    is_due: bool,
    is_gone: Arc<AtomicBool>,
    /// Who waits for the first look.
    first: Option<Sender<io::Result<()>>>,
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
        held: Arc<Held>,
    ) -> io::Result<(Watch, Arc<AtomicBool>)> {
        let is_gone = Arc::new(AtomicBool::new(false));
        let (first, has_looked) = mpsc::channel();
        let (shared, first) = (Arc::clone(&is_gone), Some(first));
        let duty =
            Self { memory, directory, held, pipe: None, is_due: true, is_gone: shared, first };
        let watch = Watch::start(duty)?;
        has_looked.recv().unwrap_or_else(|_| Err(io::ErrorKind::Other.into()))?;
        Ok((watch, is_gone))
    }

    /// Looks for a writer.
    ///
    /// # Errors
    ///
    /// What the system says.
    fn find(&mut self) -> io::Result<()> {
        if self.pipe.is_none() {
            self.pipe = Watched::open(&self.directory, WRITER)?;
            self.pipe.iter().for_each(Watched::tell);
        }
        let is_held = self.pipe.as_ref().is_some_and(Watched::is_held);
        // P9, Release: pairs with the Acquire in `is_writer_gone`.
        self.is_gone.store(!is_held, Ordering::Release);
        Ok(())
    }
}

impl Duty for WriterWatch {
    fn look(&mut self) {
        if !mem::take(&mut self.is_due) {
            return;
        }
        let found = self.find();
        // The last writer may have died before it could wake this reader, whether or not another
        // one goes on.
        self.memory.shared().words.events.0.wake_all();
        match self.first.take() {
            Some(first) => _ = first.send(found),
            // Without a descriptor, it looks again. A segment that was removed gets no other writer.
            None => self.is_due = found.is_err_and(|error| error.kind() != io::ErrorKind::NotFound),
        }
    }

    fn poll_for(&self) -> Vec<PollFd<'_>> {
        let own = PollFd::new(self.held.file(), PollFlags::IN);
        // P9, Relaxed: this thread stored it. Nobody holds the pipe of a writer that is gone, and
        // `poll` would say so again and again.
        let is_there = !self.is_gone.load(Ordering::Relaxed);
        let pipe = self.pipe.iter().filter(|_| is_there);
        [own]
            .into_iter()
            .chain(pipe.map(|pipe| PollFd::new(pipe.file(), PollFlags::empty())))
            .collect()
    }

    fn learn(&mut self, is_ready: &[bool]) {
        self.held.drain();
        self.is_due |= is_ready.contains(&true);
    }

    fn is_unfinished(&self) -> bool {
        self.is_due
    }
}
