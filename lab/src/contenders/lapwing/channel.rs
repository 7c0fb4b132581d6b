//! Lapwing's channel on every arc, as users of channels have it: values are moved in and out, and
//! there is no graph. Readers take all available values as a batch, or one value if no more will
//! come. Senders send one value, or a vector if they have several.
//!
//! A channel moves a value to one reader. For several readers, the sender sends a copy into a
//! channel for each. Both ends wait by the same strategy: the default, or one that never parks. No
//! strategy waits for several channels. A consumer of several producers polls their channels in
//! turn, and pauses or yields after failed polls.
//!
//! Lapwing's rings on every arc, whose readers read events in their slots, are in `rings`.

use std::{hint, slice};

use crossbeam_utils::Backoff;
use lapwing::channel::{self, Builder, SingleSender, TryRecvError, Values};
use lapwing::wait::{BusySpin, Yielding};

use super::WaitName;
use crate::contenders::contender::Entry;
use crate::contenders::over_rings::{self, Receiver, Rings, Sender};
use crate::measure::crew::Disconnected;

/// Returns the contender with each of its waits.
pub(in crate::contenders) fn entry() -> Entry {
    Entry::fastest_of(Channels::ALL.map(over_rings::contender).into())
}

/// A channel for each arc, and the wait of both of its ends.
#[derive(Clone, Copy, Debug)]
enum Channels {
    /// By the default strategy.
    Adaptive,
    /// Spins.
    BusySpin,
    /// Spins for a moment, then yields the CPU.
    Yielding,
}

impl Channels {
    const ALL: [Self; 3] = [Self::Adaptive, Self::BusySpin, Self::Yielding];

    /// Creates the two ends of an empty channel. Its slots are written at creation.
    fn channel<T: Send>(self, slots: usize) -> (SingleSender<T>, channel::Receiver<T>) {
        let builder = Builder::new(slots);
        let built = match self {
            Self::Adaptive => builder.spsc(), // the default, whatever the builder starts with
            Self::BusySpin => {
                builder.receiver_wait_strategy(BusySpin).sender_wait_strategy(BusySpin).spsc()
            }
            Self::Yielding => {
                let yielding = Yielding::default();
                builder.receiver_wait_strategy(yielding).sender_wait_strategy(yielding).spsc()
            }
        };
        built.expect("the number of slots is a power of two")
    }
}

impl Rings for Channels {
    const NAME: &'static str = "lapwing-channel";
    const FEWEST_SLOTS: usize = 1;

    type Sender<const N: usize, const READERS: usize> = [Arc<N>; READERS];
    type Receiver<const N: usize> = ReceiveEnd<N>;

    fn wait(self) -> &'static str {
        let wait = match self {
            Self::Adaptive => WaitName::Adaptive,
            Self::BusySpin => WaitName::BusySpin,
            Self::Yielding => WaitName::Yielding,
        };
        wait.name()
    }

    fn ring<const N: usize, const READERS: usize>(
        self,
        slots: usize,
    ) -> ([Arc<N>; READERS], [ReceiveEnd<N>; READERS]) {
        over_rings::one_each(|| {
            let (sender, receiver) = self.channel(slots);
            (Arc { sender, unsent: Vec::new() }, ReceiveEnd(receiver))
        })
    }

    #[inline]
    fn idle(self, backoff: &Backoff) {
        match self {
            Self::BusySpin => hint::spin_loop(),
            Self::Adaptive | Self::Yielding => backoff.snooze(),
        }
    }
}

/// The sending end of one channel.
struct Arc<const N: usize> {
    sender: SingleSender<[u64; N]>,
    /// The unsent events of a batch. It is empty between two batches, which share its memory.
    unsent: Vec<[u64; N]>,
}

impl<const N: usize> Sender<N> for Arc<N> {
    #[inline]
    fn send(&mut self, event: [u64; N]) -> Result<(), Disconnected> {
        self.sender.send(event).map_err(|_| Disconnected)
    }

    /// Sends `events` as a vector, or a single event, as a relay has it, without one.
    #[inline]
    fn send_all(
        &mut self,
        mut events: impl ExactSizeIterator<Item = [u64; N]> + Clone,
    ) -> Result<(), Disconnected> {
        if events.len() == 1 {
            return events.try_for_each(|event| self.send(event));
        }
        self.unsent.extend(events);
        self.sender.send_batch(&mut self.unsent).map_err(|_| Disconnected)
    }
}

/// The receiving end.
struct ReceiveEnd<const N: usize>(channel::Receiver<[u64; N]>);

impl<const N: usize> Receiver<N> for ReceiveEnd<N> {
    #[inline]
    fn try_receive(
        &mut self,
        limit: usize,
        each: impl FnMut(&[[u64; N]]) -> Result<(), Disconnected>,
    ) -> Result<usize, Disconnected> {
        match self.0.try_recv_batch() {
            Ok(values) => hand_over(values, limit, each),
            Err(TryRecvError::Empty) => Ok(0),
            Err(TryRecvError::Disconnected) => Err(Disconnected),
        }
    }

    #[inline]
    fn receive(
        &mut self,
        limit: usize,
        mut each: impl FnMut(&[[u64; N]]) -> Result<(), Disconnected>,
    ) -> Result<usize, Disconnected> {
        if limit == 1 {
            // A single event: of a round trip, or the last one.
            let value = self.0.recv().map_err(|_| Disconnected)?;
            each(slice::from_ref(&value))?;
            return Ok(1);
        }
        let values = self.0.recv_batch().map_err(|_| Disconnected)?;
        hand_over(values, limit, each)
    }

    #[inline]
    fn receive_both(
        &mut self,
        other: &mut Self,
        limit: usize,
        mut each: impl FnMut(&[u64; N], &[u64; N]),
    ) -> Result<usize, Disconnected> {
        let own = self.0.recv_batch().map_err(|_| Disconnected)?;
        let others = other.0.recv_batch().map_err(|_| Disconnected)?;
        let count = own.len().min(others.len()).min(limit);
        // Without `take`, `zip` would receive a value of a longer `own` that has no counterpart
        // yet, and drop it.
        own.take(count).zip(others).for_each(|(left, right)| each(&left, &right));
        Ok(count)
    }
}

/// Passes all `values` on, one by one.
#[inline]
fn hand_over<const N: usize>(
    values: Values<'_, [u64; N]>,
    limit: usize,
    mut each: impl FnMut(&[[u64; N]]) -> Result<(), Disconnected>,
) -> Result<usize, Disconnected> {
    let count = values.len();
    debug_assert!(count <= limit, "no more is there than is still to come: {count} > {limit}");
    for value in values {
        each(slice::from_ref(&value))?;
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reader_learns_that_its_sender_is_gone() {
        Channels::ALL.into_iter().for_each(over_rings::assert_end_is_seen);
    }

    #[test]
    fn sender_learns_that_its_reader_is_gone() {
        Channels::ALL.into_iter().for_each(over_rings::assert_loss_is_seen);
    }

    #[test]
    fn events_without_a_twin_are_received_with_it() {
        for channels in Channels::ALL {
            let ([mut own, mut others], [mut inbox, mut other]) = channels.ring::<1, 2>(4);
            own.send_all([[1], [2], [3]].into_iter()).unwrap();
            others.send([1]).unwrap();
            let mut seen = Vec::new();
            let mut each = |left: &[u64; 1], right: &[u64; 1]| seen.push((left[0], right[0]));
            assert_eq!(inbox.receive_both(&mut other, 3, &mut each), Ok(1));
            others.send_all([[2], [3]].into_iter()).unwrap();
            assert_eq!(inbox.receive_both(&mut other, 2, &mut each), Ok(2));
            assert_eq!(seen, [(1, 1), (2, 2), (3, 3)]);
        }
    }
}
