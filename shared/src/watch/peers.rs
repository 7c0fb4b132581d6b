//! How a process learns of others with seats: those that join, and those that have ended. A writer learns
//! of readers, and beside several writers each end learns of the writers.

use std::io;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender};

use rustix::event::{PollFd, PollFlags};

use super::pipes::{Found, Pipes};
use super::{Duty, Watch};
use crate::directory::Directory;
use crate::evidence::Held;
use crate::memory::Memory;
use crate::protocol::seats::{Side, Tenure};

/// Which end watches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// The writer of a segment that has one.
    Writer,
    /// A writer beside others, on this seat.
    OneOfWriters(usize),
    /// A reader of several writers.
    Reader,
}

/// Watches the other processes of one segment.
#[derive(Debug)]
pub(crate) struct PeersWatch {
    memory: Arc<Memory>,
    directory: Arc<Directory>,
    /// The pipe of this end, in which others write before they join.
    held: Arc<Held>,
    readers: Pipes,
    writers: Pipes,
    /// Writers that are dead, and whose claims are not all skipped.
    unrepaired: Vec<Tenure>,
    is_unfinished: bool,
    /// Whether another process has written to the pipe of this end since the last look.
    is_told: bool,
    are_writers_gone: Arc<AtomicBool>,
    /// Tells the thread that waits for the first look.
    first: Option<Sender<io::Result<()>>>,
}

impl PeersWatch {
    /// Starts to watch, and tells the others that this end is there. `held` is the pipe of this end.
    /// Returns what says whether all writers are gone.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub(crate) fn start(
        memory: Arc<Memory>,
        directory: Arc<Directory>,
        held: Arc<Held>,
        end: End,
    ) -> io::Result<(Watch, Arc<AtomicBool>)> {
        let shape = memory.shape();
        let readers = if end == End::Reader { 0 } else { shape.seats };
        let own = if let End::OneOfWriters(seat) = end { Some(seat) } else { None };
        let are_writers_gone = Arc::new(AtomicBool::new(false));
        let (first, has_looked) = mpsc::channel();
        let watch = Watch::start(Self {
            memory,
            directory,
            held,
            readers: Pipes::new(Side::Readers, readers, None),
            writers: Pipes::new(Side::Writers, shape.writers, own),
            unrepaired: Vec::new(),
            is_unfinished: false,
            is_told: false,
            are_writers_gone: Arc::clone(&are_writers_gone),
            first: Some(first),
        })?;
        has_looked.recv().unwrap_or_else(|_| Err(io::ErrorKind::Other.into()))?;
        Ok((watch, are_writers_gone))
    }

    /// Checks the pipes of readers. Returns whether writers have to be woken, and why a reader could
    /// not be told.
    fn look_at_readers(&mut self) -> (bool, Option<io::Error>) {
        let shared = self.memory.shared();
        let Found { dead, has_ended, is_unfinished, untold, .. } =
            self.readers.look(shared, &self.directory, self.first.is_some());
        dead.iter().for_each(|&tenure| _ = shared.clear(tenure));
        self.is_unfinished |= is_unfinished;
        (has_ended, untold)
    }

    /// Checks the pipes of writers, and skips what dead ones had claimed. Returns whether readers and
    /// writers have to be woken, and why a writer could not be told.
    fn look_at_writers(&mut self) -> (bool, Option<io::Error>) {
        let shared = self.memory.shared();
        let Found { dead, has_ended, is_unfinished, untold, is_unknown } =
            self.writers.look(shared, &self.directory, self.first.is_some());
        let was_repaired = self.unrepaired.is_empty();
        for tenure in dead {
            if !self.unrepaired.contains(&tenure) {
                self.unrepaired.push(tenure);
            }
        }
        let is_repaired = shared.repair(&self.unrepaired);
        let holder = |tenure: &Tenure| shared.holder(Side::Writers, tenure.index);
        self.unrepaired.retain(|tenure| holder(tenure).tenure() == tenure.number);
        self.is_unfinished |= is_unfinished || !is_repaired;
        // P9, Release: pairs with the Acquire in `is_writer_gone`. All that dead writers claimed is
        // published or skipped by now.
        let may_live = is_unfinished || is_unknown || self.writers.is_any_held();
        // A writer that has joined during this look has told this process before it took its seat.
        let are_gone = is_repaired && !may_live && !self.held.is_told();
        let has_changed = self.are_writers_gone.swap(are_gone, Ordering::Release) != are_gone;
        (has_ended || !was_repaired || has_changed, untold)
    }
}

impl Duty for PeersWatch {
    fn look(&mut self) {
        // The process that has told this one may have ended since, and another one may have cleared
        // its seat. So may one that could not be watched.
        let is_told = mem::take(&mut self.is_told) || mem::take(&mut self.is_unfinished);
        let (readers_ended, untold_reader) = self.look_at_readers();
        let (writers_ended, untold_writer) = self.look_at_writers();
        let words = self.memory.shared().words;
        if writers_ended || is_told {
            words.events.0.wake_all();
        }
        if readers_ended || writers_ended || is_told {
            words.slots.0.wake_all();
        }
        if let Some(first) = self.first.take() {
            let untold = untold_reader.or(untold_writer);
            let _ = first.send(untold.map_or(Ok(()), Err));
        }
    }

    fn poll_for(&self) -> Vec<PollFd<'_>> {
        let own = PollFd::new(self.held.file(), PollFlags::IN);
        [own].into_iter().chain(self.readers.poll_for()).chain(self.writers.poll_for()).collect()
    }

    fn learn(&mut self, is_ready: &[bool]) {
        self.held.drain();
        self.is_told |= is_ready[0];
        let shared = self.memory.shared();
        let mut peers = is_ready[1..].iter().copied();
        self.readers.learn(shared, &mut peers);
        self.writers.learn(shared, &mut peers);
    }

    fn is_unfinished(&self) -> bool {
        self.is_unfinished
    }
}
