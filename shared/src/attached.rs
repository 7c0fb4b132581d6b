//! What both ends of a segment have: its memory, and where it lies.

use std::sync::Arc;
use std::time::Duration;

use crate::Peer;
use crate::directory::{Directory, Place};
use crate::fork::Process;
use crate::holders::is_alive;
use crate::memory::Memory;
use crate::protocol::claiming::Claiming;
use crate::protocol::seats::{Side, Tenure};

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
            pid: shared.holder(Side::Readers, tenure.index).pid(),
            seat: tenure.index,
            sequence,
            lag: newest.saturating_sub(sequence),
        });
        peers.collect()
    }

    /// Returns the processes of several writers.
    pub(crate) fn writers(&self) -> Vec<u32> {
        let shared = self.memory.shared();
        let pid = |tenure: Tenure| shared.holder(Side::Writers, tenure.index).pid();
        shared.tenures(Side::Writers).map(pid).collect()
    }

    /// Gives up the seat of a writer beside others. The last one ends the segment if it `closes`.
    pub(crate) fn leave(&self, claiming: &Claiming, closes: bool) {
        let shared = self.memory.shared();
        claiming.leave(shared);
        let is_alive = |tenure: Tenure| is_alive(&self.directory, Side::Writers, tenure.index);
        if closes && shared.close_after_last(is_alive) {
            self.remove_unless_in_use();
        }
    }

    /// Removes a closed segment, unless a reader has to drain it.
    pub(crate) fn remove_unless_in_use(&self) {
        let Ok(locked) = self.place.lock(AT_THE_END) else { return };
        let Ok(Some(directory)) = locked.open() else { return };
        let shared = self.memory.shared();
        let is_alive = |tenure: Tenure| is_alive(&directory, Side::Readers, tenure.index);
        let is_used = || shared.tenures(Side::Readers).any(is_alive);
        if directory.is(&self.directory) && shared.is_closed() && !is_used() {
            let _ = locked.remove();
        }
    }
}
