//! How a writer learns of its readers: those that join, and those that are dead.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::event::{PollFd, PollFlags};

use super::{Duty, Watch};
use crate::directory::{Directory, seat};
use crate::evidence::{Held, Watched};
use crate::memory::Memory;
use crate::protocol::Shared;
use crate::protocol::seats::{Tenure, is_held};

/// Watches the readers of one segment.
#[derive(Debug)]
pub(crate) struct ReadersWatch {
    memory: Arc<Memory>,
    directory: Arc<Directory>,
    /// The pipe of the writer, in which readers write when they join.
    held: Held,
    /// For each seat, the pipe of its reader.
    pipes: Vec<Option<Watched>>,
    attended: Attended,
}

/// For each seat, whether its reader is watched.
#[derive(Debug, Clone)]
pub(crate) struct Attended(Arc<[AtomicBool]>);

impl Attended {
    /// Whether each seat that is held is watched. If not, its reader may have died right after it joined.
    pub(crate) fn is_complete(&self, shared: Shared<'_>) -> bool {
        // P8, Relaxed: the pipe is what counts; this only saves a look.
        shared.held().all(|(tenure, _)| self.0[tenure.index].load(Ordering::Relaxed))
    }
}

impl ReadersWatch {
    /// Starts to watch. `held` is the pipe of this writer.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub(crate) fn start(
        memory: Arc<Memory>,
        directory: Arc<Directory>,
        held: Held,
    ) -> io::Result<(Watch, Attended)> {
        let seats = memory.shape().seats;
        let attended = Attended((0..seats).map(|_| AtomicBool::new(false)).collect());
        let pipes = (0..seats).map(|_| None).collect();
        let duty = Self { memory, directory, held, pipes, attended: attended.clone() };
        Ok((Watch::start(duty)?, attended))
    }

    /// Opens the pipe of a reader that is not watched yet. Returns whether the reader was dead.
    fn attend(&mut self, tenure: Tenure) -> bool {
        let Tenure { index, .. } = tenure;
        match Watched::open(&self.directory, &seat(index)) {
            // The reader may have lost its last writer.
            Ok(Some(pipe)) => {
                pipe.tell();
                self.set(index, Some(pipe));
                false
            }
            // M3: it held the pipe before it had the seat.
            Ok(None) => self.memory.shared().clear(tenure),
            // Out of descriptors. The writer asks again while it waits.
            Err(_) => false,
        }
    }

    fn set(&mut self, index: usize, pipe: Option<Watched>) {
        self.attended.0[index].store(pipe.is_some(), Ordering::Relaxed); // P8, Relaxed: as above
        self.pipes[index] = pipe;
    }
}

impl Duty for ReadersWatch {
    fn look(&mut self) {
        let mut has_cleared = false;
        for index in 0..self.pipes.len() {
            let number = self.memory.shared().tenure_of(index);
            match (is_held(number), &self.pipes[index]) {
                (true, None) => has_cleared |= self.attend(Tenure { index, number }),
                (false, Some(_)) => self.set(index, None),
                _ => {}
            }
        }
        if has_cleared {
            self.memory.shared().words.slots.0.wake_all();
        }
    }

    fn poll_for(&self) -> Vec<PollFd<'_>> {
        let own = PollFd::new(self.held.file(), PollFlags::IN);
        // An error is always reported.
        let pipes = self.pipes.iter().flatten();
        let pipes = pipes.map(|pipe| PollFd::new(pipe.file(), PollFlags::empty()));
        [own].into_iter().chain(pipes).collect()
    }

    fn learn(&mut self, is_ready: &[bool]) {
        self.held.drain();
        let watched: Vec<_> =
            (0..self.pipes.len()).filter(|&index| self.pipes[index].is_some()).collect();
        for (index, &has_ended) in watched.into_iter().zip(&is_ready[1..]) {
            if has_ended {
                self.set(index, None); // the next look tells whether another reader has the seat
            }
        }
    }
}
