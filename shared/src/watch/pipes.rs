//! The pipes of the seats of one kind: which processes hold one, and which of them have died.

use std::io;
use std::os::fd::OwnedFd;

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd};

use crate::directory::{Directory, pipe};
use crate::evidence::Watched;
use crate::protocol::Shared;
use crate::protocol::seats::{Side, Tenure, is_held};

/// The pipes of some seats.
///
/// A process holds its pipe, tells those that watch it, and then takes its seat. So this opens each
/// pipe that is held, whether or not its seat is taken, and closes it only when nobody holds it any
/// more.
#[derive(Debug)]
pub(super) struct Pipes {
    side: Side,
    /// The seat of this process, which it does not watch.
    own: Option<usize>,
    /// For each seat, the pipe of its process.
    pipes: Vec<Option<Watched>>,
    /// What [`Found`] says about the next look.
    found: Found,
    /// Whether this look tells the holders. Later ones do not: two processes without descriptors, which
    /// open the same pipes again and again, would wake each other without end.
    tells: bool,
    /// A descriptor for a program that has none left.
    spare: Option<OwnedFd>,
}

/// What has been found since the last look, and in it.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The seats of processes that are dead.
    pub(super) dead: Vec<Tenure>,
    /// Whether a process has ended, so that parked threads must be woken.
    pub(super) has_ended: bool,
    /// Whether the system had no descriptor for a pipe.
    pub(super) is_unfinished: bool,
    /// Why a process that holds a pipe could not be told.
    pub(super) untold: Option<io::Error>,
    /// Whether a seat is taken whose pipe somebody has removed, so that its process may live.
    pub(super) is_unknown: bool,
}

fn spare() -> Option<OwnedFd> {
    eventfd(0, EventfdFlags::CLOEXEC).ok()
}

impl Pipes {
    pub(super) fn new(side: Side, count: usize, own: Option<usize>) -> Self {
        let pipes = (0..count).map(|_| None).collect();
        let spare = if count == 0 { None } else { spare() };
        Self { side, own, pipes, found: Found::default(), tells: false, spare }
    }

    /// Looks for pipes that are held now. If it `tells`, it tells their holders that this process is
    /// there.
    pub(super) fn look(&mut self, shared: Shared<'_>, directory: &Directory, tells: bool) -> Found {
        self.tells = tells;
        for index in 0..self.pipes.len() {
            if self.pipes[index].is_none() && self.own != Some(index) {
                self.attend(index, shared, directory);
            }
        }
        std::mem::take(&mut self.found)
    }

    /// Whether a process holds any of the pipes, as far as this has found.
    pub(super) fn is_any_held(&self) -> bool {
        self.pipes.iter().any(Option::is_some)
    }

    fn attend(&mut self, index: usize, shared: Shared<'_>, directory: &Directory) {
        if self.open(index, shared, directory).is_ok() {
            return;
        }
        // The program has no descriptor left. With the spare one, a dead process is found, and a
        // living one is told. It is not watched before there are descriptors, so it may end without
        // notice, before it can wake the others.
        self.spare = None;
        let opened = self.open(index, shared, directory);
        if opened.is_err() || self.pipes[index].take().is_some() {
            (self.found.is_unfinished, self.found.has_ended) = (true, true);
        }
        self.found.untold = opened.err().or(self.found.untold.take());
        self.spare = spare();
    }

    /// Opens the pipe of a seat if a process holds it, and notes a dead one.
    ///
    /// # Errors
    ///
    /// What the system says.
    fn open(&mut self, index: usize, shared: Shared<'_>, directory: &Directory) -> io::Result<()> {
        let number = shared.holder(self.side, index).tenure();
        match Watched::open(directory, &pipe(self.side, index)) {
            Ok(Some(pipe)) => {
                if self.tells {
                    pipe.tell(); // it may wait for a process like this one
                }
                self.pipes[index] = Some(pipe);
            }
            // M3: its process held the pipe before it had the seat.
            Ok(None) if is_held(number) => {
                self.found.has_ended = true;
                self.found.dead.push(Tenure { index, number });
            }
            Ok(None) => {}
            // A segment that was removed gets no further process.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                self.found.is_unknown |= is_held(number);
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// Returns what to wait for. An error is always reported.
    pub(super) fn poll_for(&self) -> impl Iterator<Item = PollFd<'_>> {
        let pipes = self.pipes.iter().flatten();
        pipes.map(|pipe| PollFd::new(pipe.file(), PollFlags::empty()))
    }

    /// Takes which of the pipes of `poll_for` are ready, in the same order.
    pub(super) fn learn(&mut self, shared: Shared<'_>, is_ready: &mut impl Iterator<Item = bool>) {
        for (index, pipe) in self.pipes.iter_mut().enumerate() {
            if pipe.is_none() || is_ready.next() != Some(true) {
                continue;
            }
            // M3: the tenure before the pipe. The next look opens it again, if another one holds it.
            let number = shared.holder(self.side, index).tenure();
            if is_held(number) && pipe.take().is_some_and(|pipe| !pipe.is_held()) {
                self.found.dead.push(Tenure { index, number });
            }
            *pipe = None;
            // Also if it had left: it may have died before it could wake the others.
            self.found.has_ended = true;
        }
    }
}
