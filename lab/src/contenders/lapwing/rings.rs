//! Lapwing used like rivals whose rings have one sender: one ring per sending stage. A reader of
//! several producers polls a ring of each in turn. Producers share nothing and there is no order
//! between them, as with `rtrb` and `photon-ring`.
//!
//! This variant also gives up the ring for the whole graph: an event is copied from stage to stage.
//! Readers wait by the default strategy, or poll in a loop with a pause hint or a yield, as readers
//! of the rivals do. A reader of several rings polls, or runs a stage of each (`together`).

use std::{array, hint};

use crossbeam_utils::Backoff;
use lapwing::error::PollError;
use lapwing::{Disruptor, Poller, SingleProducer};

use super::together::Together;
use crate::contenders::contender::{Contender, Entry};
use crate::contenders::over_rings::{self, Receiver, Rings, Sender};
use crate::measure::crew::Disconnected;

/// Returns the contender with each of its waits.
pub(in crate::contenders) fn entry() -> Entry {
    Entry::fastest_of(OwnRings::ALL.map(OwnRings::contender).into())
}

/// One ring per sending stage, and the wait of its readers. Senders have the default strategy.
#[derive(Clone, Copy, Debug)]
enum OwnRings {
    /// By the default strategy.
    Adaptive,
    /// Polls and spins.
    Spin,
    /// Polls and spins for a moment, then yields the CPU.
    Yield,
}

impl OwnRings {
    const ALL: [Self; 3] = [Self::Adaptive, Self::Spin, Self::Yield];

    /// Returns the contender. A poller waits for its own ring only. A reader of several rings that
    /// does not poll runs a stage of each.
    fn contender(self) -> Box<dyn Contender> {
        match self {
            Self::Adaptive => Box::new(Together(over_rings::contender(self))),
            Self::Spin | Self::Yield => over_rings::contender(self),
        }
    }
}

/// The sending end of a ring.
struct SendEnd<const N: usize>(SingleProducer<[u64; N]>);

/// The end of one reader.
struct ReceiveEnd<const N: usize> {
    poller: Poller<[u64; N]>,
    wait: OwnRings,
}

impl Rings for OwnRings {
    const NAME: &'static str = "lapwing-rings";
    const FEWEST_SLOTS: usize = 1;

    type Sender<const N: usize, const READERS: usize> = SendEnd<N>;
    type Receiver<const N: usize> = ReceiveEnd<N>;

    fn wait(self) -> &'static str {
        match self {
            Self::Adaptive => "adaptive",
            Self::Spin => "poll-spin",
            Self::Yield => "poll-yield",
        }
    }

    fn ring<const N: usize, const READERS: usize>(
        self,
        slots: usize,
    ) -> (SendEnd<N>, [ReceiveEnd<N>; READERS]) {
        let readers = || (0..READERS).map(|reader| format!("reader-{reader}"));
        let built = Disruptor::single_producer(slots, || [0; N])
            .parallel(|parallel| {
                readers().fold(parallel, |parallel, reader| parallel.stage(reader).poller())
            })
            .build();
        let (producer, mut consumers) = built.expect("the number of slots is a power of two");
        let ends = array::from_fn(|reader| {
            let poller = consumers.take_poller(&format!("reader-{reader}"));
            ReceiveEnd { poller: poller.expect("each reader has a poller"), wait: self }
        });
        (SendEnd(producer), ends)
    }

    #[inline]
    fn idle(self, backoff: &Backoff) {
        match self {
            Self::Spin => hint::spin_loop(),
            Self::Adaptive | Self::Yield => backoff.snooze(), // a poller waits for its own ring only
        }
    }
}

impl<const N: usize> Sender<N> for SendEnd<N> {
    #[inline]
    fn send(&mut self, event: [u64; N]) -> Result<(), Disconnected> {
        self.0.publish(|slot| *slot = event).map(drop).map_err(|_| Disconnected)
    }

    #[inline]
    fn send_all(
        &mut self,
        mut events: impl ExactSizeIterator<Item = [u64; N]> + Clone,
    ) -> Result<(), Disconnected> {
        while events.len() > 0 {
            let count = events.len().min(self.0.capacity());
            let published = self.0.publish_batch(count, |slots| {
                slots.iter_mut().for_each(|slot| {
                    if let Some(event) = events.next() {
                        *slot = event;
                    }
                });
            });
            published.map_err(|_| Disconnected)?;
        }
        Ok(())
    }
}

impl<const N: usize> ReceiveEnd<N> {
    /// Waits for an event, by polling if the wait says so.
    ///
    /// # Errors
    ///
    /// [`Disconnected`] if the sender is gone.
    fn poll_until_there(&mut self) -> Result<(), Disconnected> {
        let backoff = Backoff::new();
        while !matches!(self.wait, OwnRings::Adaptive) {
            match self.poller.poll() {
                Ok(_) => break,
                Err(PollError::Empty) => self.wait.idle(&backoff),
                Err(PollError::Closed | PollError::Halted(_)) => return Err(Disconnected),
            }
        }
        Ok(())
    }
}

impl<const N: usize> Receiver<N> for ReceiveEnd<N> {
    #[inline]
    fn try_receive(
        &mut self,
        limit: usize,
        mut each: impl FnMut(&[[u64; N]]) -> Result<(), Disconnected>,
    ) -> Result<usize, Disconnected> {
        let mut batch = match self.poller.poll_max(limit) {
            Ok(batch) => batch,
            Err(PollError::Empty) => return Ok(0),
            Err(PollError::Closed | PollError::Halted(_)) => return Err(Disconnected),
        };
        let count = batch.len();
        each(batch.as_slice())?;
        batch.consume_all();
        Ok(count)
    }

    #[inline]
    fn receive(
        &mut self,
        limit: usize,
        mut each: impl FnMut(&[[u64; N]]) -> Result<(), Disconnected>,
    ) -> Result<usize, Disconnected> {
        let backoff = Backoff::new();
        while !matches!(self.wait, OwnRings::Adaptive) {
            match self.try_receive(limit, &mut each)? {
                0 => self.wait.idle(&backoff),
                count => return Ok(count),
            }
        }
        let mut batch = self.poller.wait().map_err(|_| Disconnected)?;
        let count = batch.len().min(limit);
        each(&batch.as_slice()[..count])?;
        batch.consume(count);
        Ok(count)
    }

    #[inline]
    fn receive_both(
        &mut self,
        other: &mut Self,
        limit: usize,
        mut each: impl FnMut(&[u64; N], &[u64; N]),
    ) -> Result<usize, Disconnected> {
        self.poll_until_there()?;
        other.poll_until_there()?;
        let mut own = self.poller.wait().map_err(|_| Disconnected)?;
        let mut others = other.poller.wait().map_err(|_| Disconnected)?;
        let count = own.len().min(others.len()).min(limit);
        let pairs = own.as_slice().iter().zip(others.as_slice()).take(count);
        pairs.for_each(|(left, right)| each(left, right));
        own.consume(count);
        others.consume(count);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reader_learns_that_its_sender_is_gone() {
        OwnRings::ALL.into_iter().for_each(over_rings::assert_end_is_seen);
    }

    #[test]
    fn sender_learns_that_its_reader_is_gone() {
        over_rings::assert_loss_is_seen(OwnRings::Adaptive);
    }
}
