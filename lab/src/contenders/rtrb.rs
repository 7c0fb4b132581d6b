//! The wait-free ring `rtrb` for one producer and one consumer, on every arc. Its readers take all
//! available events as a chunk. Its senders push one event, or write a chunk if they have several.
//!
//! Its limits, and what its users do instead:
//! - It has one reader. For several readers, the sender writes to a ring for each.
//! - It has one producer. A consumer of several producers reads a ring of each in turn.
//! - It cannot wait. Both ends spin, or spin for a moment and then yield the CPU
//!   (`Backoff::snooze`).

use std::hint;

use crossbeam_utils::Backoff;
use rtrb::chunks::{ChunkError, ReadChunk};
use rtrb::{Consumer, Producer, PushError, RingBuffer};

use super::contender::Entry;
use super::over_rings::{self, Receiver, Rings, Sender};
use crate::measure::crew::Disconnected;

/// Returns the contender with each of its waits.
pub(super) fn entry() -> Entry {
    let each = [Wait::Spin, Wait::Yield].map(over_rings::contender);
    Entry::fastest_of(each.into())
}

/// The wait of both ends of a ring.
#[derive(Clone, Copy, Debug)]
pub(super) enum Wait {
    /// Spins.
    Spin,
    /// Spins for a moment, then yields the CPU.
    Yield,
}

impl Wait {
    #[inline]
    fn turn(self, backoff: &Backoff) {
        match self {
            Self::Spin => hint::spin_loop(),
            Self::Yield => backoff.snooze(),
        }
    }
}

impl Rings for Wait {
    const NAME: &'static str = "rtrb";
    const FEWEST_SLOTS: usize = 1;

    type Sender<const N: usize, const READERS: usize> = [Arc<N>; READERS];
    type Receiver<const N: usize> = ReceiveEnd<N>;

    fn wait(self) -> &'static str {
        match self {
            Self::Spin => "spin",
            Self::Yield => "yield",
        }
    }

    fn ring<const N: usize, const READERS: usize>(
        self,
        slots: usize,
    ) -> ([Arc<N>; READERS], [ReceiveEnd<N>; READERS]) {
        over_rings::one_each(|| {
            let (producer, consumer) = touched_ring(slots);
            (Arc { producer, wait: self }, ReceiveEnd { consumer, wait: self })
        })
    }

    #[inline]
    fn idle(self, backoff: &Backoff) {
        self.turn(backoff);
    }
}

/// Creates an empty ring whose memory has been touched.
fn touched_ring<const N: usize>(slots: usize) -> (Producer<[u64; N]>, Consumer<[u64; N]>) {
    let (mut producer, mut consumer) = RingBuffer::new(slots);
    while producer.push([0; N]).is_ok() {}
    while consumer.pop().is_ok() {}
    (producer, consumer)
}

/// The sending end of one ring.
pub(super) struct Arc<const N: usize> {
    producer: Producer<[u64; N]>,
    wait: Wait,
}

impl<const N: usize> Sender<N> for Arc<N> {
    #[inline]
    fn send(&mut self, event: [u64; N]) -> Result<(), Disconnected> {
        let backoff = Backoff::new();
        let mut unsent = event;
        while let Err(PushError::Full(returned)) = self.producer.push(unsent) {
            if self.producer.is_abandoned() {
                return Err(Disconnected);
            }
            unsent = returned;
            self.wait.turn(&backoff);
        }
        Ok(())
    }

    /// Sends `events` in as few chunks as the free slots allow.
    #[inline]
    fn send_all(
        &mut self,
        mut events: impl ExactSizeIterator<Item = [u64; N]>,
    ) -> Result<(), Disconnected> {
        let backoff = Backoff::new();
        while events.len() > 0 {
            let wanted = events.len();
            let room = match self.producer.write_chunk_uninit(wanted) {
                Ok(chunk) => {
                    chunk.fill_from_iter(&mut events);
                    return Ok(());
                }
                Err(ChunkError::TooFewSlots(room)) => room,
            };
            if room == 0 {
                if self.producer.is_abandoned() {
                    return Err(Disconnected);
                }
                self.wait.turn(&backoff);
            } else if let Ok(chunk) = self.producer.write_chunk_uninit(room) {
                chunk.fill_from_iter(events.by_ref().take(room));
                backoff.reset();
            }
        }
        Ok(())
    }
}

/// The receiving end.
pub(super) struct ReceiveEnd<const N: usize> {
    consumer: Consumer<[u64; N]>,
    wait: Wait,
}

impl<const N: usize> ReceiveEnd<N> {
    /// Returns the number of available events.
    ///
    /// # Errors
    ///
    /// [`Disconnected`] if there are none and the sender is gone.
    #[inline]
    fn available(&self) -> Result<usize, Disconnected> {
        let slots = self.consumer.slots();
        if slots > 0 || !self.consumer.is_abandoned() {
            return Ok(slots);
        }
        // The sender can have sent once more since the first poll.
        match self.consumer.slots() {
            0 => Err(Disconnected),
            slots => Ok(slots),
        }
    }

    /// Waits for at least one event, and returns the number of available ones.
    #[inline]
    fn wait(&self) -> Result<usize, Disconnected> {
        let backoff = Backoff::new();
        loop {
            match self.available()? {
                0 => self.wait.turn(&backoff),
                slots => return Ok(slots),
            }
        }
    }

    /// Returns the oldest `count` events, which must be available.
    #[inline]
    fn chunk(&mut self, count: usize) -> Result<ReadChunk<'_, [u64; N]>, Disconnected> {
        self.consumer.read_chunk(count).map_err(|_| Disconnected)
    }

    /// Hands over the oldest `count` events.
    #[inline]
    fn hand_over(
        &mut self,
        count: usize,
        mut each: impl FnMut(&[[u64; N]]) -> Result<(), Disconnected>,
    ) -> Result<usize, Disconnected> {
        let chunk = self.chunk(count)?;
        let (first, wrapped) = chunk.as_slices();
        each(first)?;
        if !wrapped.is_empty() {
            each(wrapped)?;
        }
        chunk.commit_all();
        Ok(count)
    }
}

impl<const N: usize> Receiver<N> for ReceiveEnd<N> {
    #[inline]
    fn try_receive(
        &mut self,
        limit: usize,
        each: impl FnMut(&[[u64; N]]) -> Result<(), Disconnected>,
    ) -> Result<usize, Disconnected> {
        match self.available()? {
            0 => Ok(0),
            slots => self.hand_over(slots.min(limit), each),
        }
    }

    #[inline]
    fn receive(
        &mut self,
        limit: usize,
        each: impl FnMut(&[[u64; N]]) -> Result<(), Disconnected>,
    ) -> Result<usize, Disconnected> {
        let slots = self.wait()?;
        self.hand_over(slots.min(limit), each)
    }

    #[inline]
    fn receive_both(
        &mut self,
        other: &mut Self,
        limit: usize,
        mut each: impl FnMut(&[u64; N], &[u64; N]),
    ) -> Result<usize, Disconnected> {
        let count = self.wait()?.min(other.wait()?).min(limit);
        let (own, others) = (self.chunk(count)?, other.chunk(count)?);
        let (own_first, own_wrapped) = own.as_slices();
        let (others_first, others_wrapped) = others.as_slices();
        let own_events = own_first.iter().chain(own_wrapped);
        let others_events = others_first.iter().chain(others_wrapped);
        own_events.zip(others_events).for_each(|(left, right)| each(left, right));
        own.commit_all();
        others.commit_all();
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reader_learns_that_its_sender_is_gone() {
        [Wait::Spin, Wait::Yield].into_iter().for_each(over_rings::assert_end_is_seen);
    }

    #[test]
    fn sender_learns_that_its_reader_is_gone() {
        over_rings::assert_loss_is_seen(Wait::Yield);
    }
}
