//! What both ends of a segment have: its memory, and where it lies.

use std::sync::Arc;
use std::time::Duration;

use crate::Peer;
use crate::directory::{Directory, Locked, Place};
use crate::fork::Process;
use crate::holders::{clear_the_dead, is_any_alive};
use crate::memory::Memory;
use crate::protocol::claiming::Claiming;
use crate::protocol::seats::Side;
use crate::sync::Ordering;

/// How long an end that is dropped waits for another process to unlock the folder. If that takes
/// longer, the next one that creates the segment removes it.
const AT_THE_END: Duration = Duration::from_secs(1);

/// A segment in which this process takes part.
#[derive(Debug)]
pub(crate) struct Attached {
    pub(crate) memory: Arc<Memory>,
    directory: Arc<Directory>,
    place: Place,
    process: Process,
}

impl Attached {
    pub(crate) fn new(memory: Arc<Memory>, directory: Arc<Directory>, place: Place) -> Self {
        Self { memory, directory, place, process: Process::current() }
    }

    /// Whether the current process is not a forked child.
    pub(crate) fn is_own_process(&self) -> bool {
        self.process.is_current()
    }

    /// Returns the readers.
    pub(crate) fn readers(&self) -> Vec<Peer> {
        let shared = self.memory.shared();
        let newest = shared.newest();
        let peers = shared.held().map(|(tenure, sequence)| Peer {
            // P8, Relaxed: for people.
            pid: shared.seats[tenure.index].holder.0.pid.load(Ordering::Relaxed),
            seat: tenure.index,
            sequence,
            lag: newest.saturating_sub(sequence),
        });
        peers.collect()
    }

    /// Gives up the seat of a writer. The last one closes the segment if it `closes`.
    ///
    /// Under the lock, so that no writer joins in between. If another process keeps the folder locked,
    /// the segment stays open.
    pub(crate) fn leave(&self, claiming: &Claiming, closes: bool) {
        let (locked, shared) = (self.place.lock(AT_THE_END), self.memory.shared());
        claiming.leave(shared);
        let Ok(locked) = locked else { return };
        if closes && !is_any_alive(shared, &self.directory, Side::Writers) {
            // The last one, so all of their claims are done after this.
            let _ = clear_the_dead(&self.memory, &self.directory);
            shared.close();
            self.remove_in(&locked);
        }
    }

    /// Removes a closed segment, unless a reader has to drain it.
    pub(crate) fn remove_unless_in_use(&self) {
        if let Ok(locked) = self.place.lock(AT_THE_END) {
            self.remove_in(&locked);
        }
    }

    fn remove_in(&self, locked: &Locked<'_>) {
        let Ok(Some(directory)) = locked.open() else { return };
        let shared = self.memory.shared();
        let is_removable = directory.is(&self.directory)
            && shared.is_closed()
            && !is_any_alive(shared, &directory, Side::Readers);
        if is_removable {
            let _ = locked.remove();
        }
    }
}
