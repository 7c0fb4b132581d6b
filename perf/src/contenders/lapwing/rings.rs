//! This project in the way of rivals whose rings have one sender: a ring for each stage that sends, and
//! whoever reads several producers asks a ring of each in turn. There is no order between producers then,
//! and nothing that they share: what `rtrb` and `photon-ring` promise with three producers, no more.
//!
//! What comes with a ring for the whole graph is given up as well: an event is copied from stage to stage.

use std::array;

use crossbeam_utils::Backoff;
use lapwing::{Disruptor, PollError, Poller, SingleProducer};

use crate::contenders::over_rings::{self, Receiver, Rings, Sender};
use crate::contenders::roster::Entry;
use crate::measure::crew::Disconnected;

/// The contender, with the default wait strategy.
pub(in crate::contenders) fn entry() -> Entry {
    Entry::only(over_rings::contender(OwnRings))
}

/// A ring for each stage that sends.
#[derive(Clone, Copy)]
struct OwnRings;

/// The sending end of a ring.
struct SendEnd<const N: usize>(SingleProducer<[u64; N]>);

/// The end of one reader.
struct ReceiveEnd<const N: usize>(Poller<[u64; N]>);

impl Rings for OwnRings {
    const NAME: &'static str = "lapwing-rings";
    const FEWEST_SLOTS: usize = 1;

    type Sender<const N: usize, const READERS: usize> = SendEnd<N>;
    type Receiver<const N: usize> = ReceiveEnd<N>;

    fn wait(self) -> &'static str {
        "adaptive"
    }

    fn ring<const N: usize, const READERS: usize>(
        self,
        slots: usize,
    ) -> (SendEnd<N>, [ReceiveEnd<N>; READERS]) {
        let readers = || (0..READERS).map(|reader| format!("reader-{reader}"));
        let built = Disruptor::single_producer(slots, || [0; N])
            .then_all(|side| readers().fold(side, |side, reader| side.poller(reader)))
            .build();
        let (producer, mut consumers) = built.expect("the number of slots is a power of two");
        let ends = array::from_fn(|reader| {
            let poller = consumers.take_poller(&format!("reader-{reader}"));
            ReceiveEnd(poller.expect("each reader has a poller"))
        });
        (SendEnd(producer), ends)
    }

    #[inline]
    fn idle(self, backoff: &Backoff) {
        backoff.snooze(); // a poller waits for its own ring only
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
                slots.iter_mut().zip(events.by_ref()).for_each(|(slot, event)| *slot = event);
            });
            published.map_err(|_| Disconnected)?;
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
        let mut batch = match self.0.poll_max(limit) {
            Ok(batch) => batch,
            Err(PollError::Empty) => return Ok(0),
            Err(PollError::Closed | PollError::Halted) => return Err(Disconnected),
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
        let mut batch = self.0.wait().map_err(|_| Disconnected)?;
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
        let mut own = self.0.wait().map_err(|_| Disconnected)?;
        let mut others = other.0.wait().map_err(|_| Disconnected)?;
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
        over_rings::assert_end_is_seen(OwnRings);
    }

    #[test]
    fn sender_learns_that_its_reader_is_gone() {
        let (mut sender, readers) = OwnRings.ring::<1, 1>(2);
        drop(readers);
        assert_eq!(sender.send_all([[1], [2], [3]].into_iter()), Err(Disconnected));
        assert_eq!(sender.send([4]), Err(Disconnected));
    }
}
