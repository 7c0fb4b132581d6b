//! Events over ends that can be in different processes: a stream from one writer to each of some
//! readers, and round trips of single events. Not here: how a contender makes its ends, and how the
//! processes start (`contenders::processes`).
//!
//! An event is an array of words, each of which is the number of the event. A writer writes each
//! word and a reader reads each word, so a large event really moves. The last event of a stream is
//! [`END`]. It says so itself, because not every contender can close.

mod exchange; // round trips of single events
mod stream; // many events one way

use std::io;
use std::ops::Range;
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub(crate) use self::exchange::{Called, call, echo};
pub(crate) use self::stream::{Got, Sent, expected, read, write};

/// The number of the event that ends a stream.
pub(crate) const END: u64 = u64::MAX;

/// The writing end of a contender.
pub(crate) trait Outlet {
    /// Prepares to send, once all readers are attached.
    ///
    /// # Errors
    ///
    /// A reader that is not there.
    fn connect(&mut self) -> io::Result<()> {
        Ok(())
    }

    /// Sends the event of this number to each reader, and waits for room.
    ///
    /// # Errors
    ///
    /// The contender refuses.
    fn send(&mut self, number: u64) -> io::Result<()>;

    /// Sends the events of these numbers: together if the contender has a way to do it, otherwise
    /// one by one.
    ///
    /// # Errors
    ///
    /// The contender refuses.
    fn send_all(&mut self, mut numbers: Range<u64>) -> io::Result<()> {
        numbers.try_for_each(|number| self.send(number))
    }
}

/// The end of one reader, with events of `N` words.
pub(crate) trait Inlet<const N: usize> {
    /// Waits for an event, and calls `take` with each that is available, in order.
    ///
    /// # Errors
    ///
    /// The writer is gone, or the contender has lost events.
    fn receive(&mut self, take: impl FnMut(&[u64; N])) -> io::Result<()>;
}

/// How much a writer sends.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(crate) struct Amount {
    /// How long it sleeps before the first event.
    pub(crate) delay: Duration,
    /// How long it sends. It looks at the clock now and then.
    pub(crate) time: Duration,
    /// The largest number of events, without the last one.
    pub(crate) events: u64,
    /// Events that it sends together.
    pub(crate) batch: u64,
}

impl Amount {
    /// Returns so many events, however long they take.
    pub(crate) const fn events(events: u64) -> Self {
        Self { delay: Duration::ZERO, time: Duration::MAX, events, batch: 1 }
    }
}

/// Returns a number that depends on every word.
#[inline]
fn digest<const N: usize>(event: &[u64; N]) -> u64 {
    event.iter().fold(0, |sum, word| sum.wrapping_add(*word))
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::*;

    /// A channel as both ends.
    pub(super) struct Sends(Sender<u64>);
    pub(super) struct Receives(Receiver<u64>);

    pub(super) fn ends() -> (Sends, Receives) {
        let (sender, receiver) = channel();
        (Sends(sender), Receives(receiver))
    }

    impl Outlet for Sends {
        fn send(&mut self, number: u64) -> io::Result<()> {
            self.0.send(number).map_err(io::Error::other)
        }
    }

    impl Inlet<8> for Receives {
        fn receive(&mut self, mut take: impl FnMut(&[u64; 8])) -> io::Result<()> {
            take(&[self.0.recv().map_err(io::Error::other)?; 8]);
            self.0.try_iter().for_each(|number| take(&[number; 8]));
            Ok(())
        }
    }
}
