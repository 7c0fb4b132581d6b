//! How a writer learns of its readers: those that join, and those that have ended.

use std::io;
use std::mem;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd};

use super::{Duty, Watch};
use crate::directory::{Directory, seat};
use crate::evidence::{Held, Watched};
use crate::memory::Memory;
use crate::protocol::seats::{Tenure, is_held};

/// Watches the readers of one segment.
///
/// A reader holds its pipe, tells the writer, and then takes its seat. So this opens each pipe that
/// is held, whether or not its seat is taken, and closes it only when nobody holds it any more.
#[derive(Debug)]
pub(crate) struct ReadersWatch {
    memory: Arc<Memory>,
    directory: Arc<Directory>,
    /// The pipe of the writer, in which readers write before they join.
    held: Arc<Held>,
    /// For each seat, the pipe of its reader.
    pipes: Vec<Option<Watched>>,
    /// Whether a reader has ended, so that the writer may have more room, or sleep without need.
    has_ended: bool,
    /// Whether the system had no descriptor for a pipe.
    is_unfinished: bool,
    /// A descriptor for a program that has none left.
    spare: Option<OwnedFd>,
}

fn spare() -> Option<OwnedFd> {
    eventfd(0, EventfdFlags::CLOEXEC).ok()
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
        held: Arc<Held>,
    ) -> io::Result<Watch> {
        let pipes = (0..memory.shape().seats).map(|_| None).collect();
        let (has_ended, is_unfinished, spare) = (false, false, spare());
        Watch::start(Self { memory, directory, held, pipes, has_ended, is_unfinished, spare })
    }

    /// Opens the pipe of a seat if a reader holds it, and clears the seat of a dead reader.
    fn attend(&mut self, index: usize) {
        let number = self.memory.shared().tenure_of(index);
        match Watched::open(&self.directory, &seat(index)) {
            Ok(Some(pipe)) => {
                pipe.tell(); // the reader may have lost its last writer
                self.pipes[index] = Some(pipe);
            }
            // M3: its reader held the pipe before it had the seat.
            Ok(None) if is_held(number) => {
                self.has_ended |= self.memory.shared().clear(Tenure { index, number });
            }
            Ok(None) => {}
            // A segment that was removed gets no further reader.
            Err(error) => self.is_unfinished |= error.kind() != io::ErrorKind::NotFound,
        }
    }

    /// Attends to a seat when the program has no descriptor left: lends it the spare one for the
    /// moment. A dead reader is found so, and a living one is not watched before there are
    /// descriptors.
    fn attend_by_spare(&mut self, index: usize) {
        if self.spare.take().is_some() {
            self.attend(index);
            if self.pipes[index].take().is_some() {
                self.is_unfinished = true;
            }
            self.spare = spare();
        }
    }
}

impl Duty for ReadersWatch {
    fn look(&mut self) {
        self.is_unfinished = false;
        for index in 0..self.pipes.len() {
            if self.pipes[index].is_none() {
                let is_unfinished = mem::take(&mut self.is_unfinished);
                self.attend(index);
                if self.is_unfinished {
                    self.attend_by_spare(index);
                }
                self.is_unfinished |= is_unfinished;
            }
        }
        // Also if the reader had left: it may have died before it could wake the writer.
        if mem::take(&mut self.has_ended) {
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
        let shared = self.memory.shared();
        let watched = self.pipes.iter_mut().enumerate().filter(|(_, pipe)| pipe.is_some());
        for ((index, pipe), _) in watched.zip(&is_ready[1..]).filter(|(_, is_ready)| **is_ready) {
            // M3: the tenure before the pipe. The next look opens it again, if another reader holds it.
            let number = shared.tenure_of(index);
            if is_held(number) && pipe.take().is_some_and(|pipe| !pipe.is_held()) {
                shared.clear(Tenure { index, number });
            }
            *pipe = None;
            self.has_ended = true;
        }
    }

    fn is_unfinished(&self) -> bool {
        self.is_unfinished
    }
}
