//! Rival rings that do more than a queue: batches, or every event to several readers. The module
//! runs the five topologies with one ring per sending stage. The rings are in `rtrb` and
//! `photon_ring`.
//!
//! ```text
//! unicast    P1 -> ring -> EP1
//! pipeline   P1 -> ring -> EP1 -> ring -> EP2 -> ring -> EP3
//! sequencer  P1, P2, P3 -> a ring each -> EP1, which reads them in turn
//! multicast  P1 -> ring -> EP1, EP2, EP3         one ring with three readers, or three rings
//! diamond    P1 -> ring -> EP1, EP2 -> a ring each -> EP3
//! ```
//!
//! No such ring lets a stage change an event in its slot, so a stage sends a copy into the next
//! ring, as its users do.

mod exchange; // round trips of a number
mod paced; // timed events through three stages
mod wiring; // the five topologies
pub(super) mod words; // an event as plain words

use crossbeam_utils::Backoff;

use self::wiring::Wiring;
use super::contender::Contender;
use crate::load::exchange::Exchange;
use crate::load::paced::{Pace, Paced};
use crate::load::topologies::Topology;
use crate::load::workload::{EventBytes, Workload};
use crate::measure::crew::{Disconnected, RunError};
use crate::measure::run::Pass;

/// A kind of ring with one sender, together with the wait of its ends. It carries arrays of `N`
/// words.
pub(super) trait Rings: Copy + Send + Sync + 'static {
    /// The name on the command line and in every report.
    const NAME: &'static str;
    /// The minimum number of slots of a ring.
    const FEWEST_SLOTS: usize;

    /// The sending end. It sends to all readers.
    type Sender<const N: usize, const READERS: usize>: Sender<N>;
    /// The end of one reader.
    type Receiver<const N: usize>: Receiver<N>;

    /// Returns the wait of full senders and empty receivers, in one word.
    fn wait(self) -> &'static str;

    /// Creates an empty ring of `slots`, at least [`FEWEST_SLOTS`](Self::FEWEST_SLOTS), whose
    /// memory has been touched.
    fn ring<const N: usize, const READERS: usize>(
        self,
        slots: usize,
    ) -> (Self::Sender<N, READERS>, [Self::Receiver<N>; READERS]);

    /// Runs one iteration of a reader of several rings that found all of them empty.
    fn idle(self, backoff: &Backoff);
}

/// The sending end of a ring.
pub(super) trait Sender<const N: usize>: Send {
    /// Sends one event.
    ///
    /// # Errors
    ///
    /// [`Disconnected`] if all readers are gone.
    ///
    /// # Blocking
    ///
    /// Waits while the ring is full.
    fn send(&mut self, event: [u64; N]) -> Result<(), Disconnected>;

    /// Sends `events`, as many at a time as the ring can publish at once. The default is one.
    ///
    /// # Errors
    ///
    /// [`Disconnected`] if all readers are gone.
    ///
    /// # Blocking
    ///
    /// Waits while the ring is full.
    #[inline]
    fn send_all(
        &mut self,
        mut events: impl ExactSizeIterator<Item = [u64; N]> + Clone,
    ) -> Result<(), Disconnected> {
        events.try_for_each(|event| self.send(event))
    }

    /// Marks the end of the stream, if readers do not detect it by themselves.
    fn finish(&mut self) {}
}

/// One ring per reader, for rings with only one reader. Each reader receives every event.
impl<const N: usize, const READERS: usize, S: Sender<N>> Sender<N> for [S; READERS] {
    #[inline]
    fn send(&mut self, event: [u64; N]) -> Result<(), Disconnected> {
        self.iter_mut().try_for_each(|sender| sender.send(event))
    }

    #[inline]
    fn send_all(
        &mut self,
        events: impl ExactSizeIterator<Item = [u64; N]> + Clone,
    ) -> Result<(), Disconnected> {
        self.iter_mut().try_for_each(|sender| sender.send_all(events.clone()))
    }

    fn finish(&mut self) {
        self.iter_mut().for_each(Sender::finish);
    }
}

/// Returns the ends of one ring per reader, each made by `ring`.
pub(super) fn one_each<S, R, const READERS: usize>(
    mut ring: impl FnMut() -> (S, R),
) -> ([S; READERS], [R; READERS]) {
    let mut senders = Vec::with_capacity(READERS);
    let receivers = [(); READERS].map(|()| {
        let (sender, receiver) = ring();
        senders.push(sender);
        receiver
    });
    (senders.try_into().ok().expect("there is a sender for each reader"), receivers)
}

/// The end of one reader of a ring.
pub(super) trait Receiver<const N: usize>: Send {
    /// Passes the available events to `each`, at most `limit`, in slices in their order. Returns
    /// their number. `limit` is the number of events that are still to come.
    ///
    /// # Errors
    ///
    /// [`Disconnected`] if there are no events and the sender is gone, or the error of `each`.
    ///
    /// # Blocking
    ///
    /// Does not block. It returns 0 if there are no events.
    fn try_receive(
        &mut self,
        limit: usize,
        each: impl FnMut(&[[u64; N]]) -> Result<(), Disconnected>,
    ) -> Result<usize, Disconnected>;

    /// Waits for at least one event, then passes the available events to `each`, like
    /// [`try_receive`](Self::try_receive).
    ///
    /// # Errors
    ///
    /// [`Disconnected`] if there are no events and the sender is gone, or the error of `each`.
    ///
    /// # Blocking
    ///
    /// Waits while the ring is empty.
    fn receive(
        &mut self,
        limit: usize,
        each: impl FnMut(&[[u64; N]]) -> Result<(), Disconnected>,
    ) -> Result<usize, Disconnected>;

    /// Receives from two rings: one event of this one together with one of `other`.
    ///
    /// # Errors
    ///
    /// [`Disconnected`] if one ring is empty and its sender is gone, or the error of `each`.
    ///
    /// # Blocking
    ///
    /// Waits while one of the rings is empty.
    fn receive_both(
        &mut self,
        other: &mut Self,
        limit: usize,
        each: impl FnMut(&[u64; N], &[u64; N]),
    ) -> Result<usize, Disconnected>;
}

/// Returns the contender that puts rings of kind `rings` between stages.
pub(super) fn contender(rings: impl Rings) -> Box<dyn Contender> {
    Box::new(OverRings(rings))
}

/// Every topology over one kind of ring.
struct OverRings<R>(R);

impl<R: Rings> Contender for OverRings<R> {
    fn name(&self) -> &'static str {
        R::NAME
    }

    fn wait(&self) -> &'static str {
        self.0.wait()
    }

    fn fewest_slots(&self, _: Topology) -> usize {
        R::FEWEST_SLOTS
    }

    fn run(&self, topology: Topology, workload: &Workload) -> Result<Pass, RunError> {
        let wiring = Wiring { rings: self.0, workload };
        match workload.event_bytes {
            EventBytes::B8 => wiring.run::<{ words::IN_8 }>(topology),
            EventBytes::B32 => wiring.run::<{ words::IN_32 }>(topology),
            EventBytes::B64 => wiring.run::<{ words::IN_64 }>(topology),
            EventBytes::B256 => wiring.run::<{ words::IN_256 }>(topology),
        }
    }

    fn ping_pong(&self, slots: usize, exchange: Exchange) -> Result<Pass, RunError> {
        exchange::run(self.0, slots, exchange)
    }

    fn paced(&self, pace: &Pace) -> Result<Paced, RunError> {
        paced::run(self.0, pace)
    }
}

/// Asserts that a reader receives everything from before the sender was dropped, then learns that
/// the sender is gone, and does not wait forever.
#[cfg(test)]
pub(super) fn assert_end_is_seen(rings: impl Rings) {
    let (mut sender, [mut inbox, mut other]) = rings.ring::<4, 2>(4);
    sender.send(words::event(7, 0)).unwrap();
    sender.send_all((8..10).map(|value| words::event(value, 0))).unwrap();
    drop(sender);

    let mut seen = Vec::new();
    while seen.len() < 3 {
        let left = 3 - seen.len();
        let each = |slice: &[[u64; 4]]| {
            seen.extend(slice.iter().map(words::value));
            Ok(())
        };
        inbox.receive(left, each).unwrap();
    }
    assert_eq!(seen, [7, 8, 9], "{}", rings.wait());
    assert_eq!(inbox.receive(1, |_| Ok(())), Err(Disconnected), "{}", rings.wait());

    let mut left = 3;
    while left > 0 {
        left -= other.try_receive(left, |_| Ok(())).unwrap();
    }
    assert_eq!(other.try_receive(1, |_| Ok(())), Err(Disconnected), "{}", rings.wait());
}

/// Asserts that a sender learns that its reader is gone, even if the ring is full.
#[cfg(test)]
pub(super) fn assert_loss_is_seen(rings: impl Rings) {
    let (mut sender, readers) = rings.ring::<1, 1>(2);
    drop(readers);
    assert_eq!(sender.send_all([[1], [2], [3]].into_iter()), Err(Disconnected), "{}", rings.wait());
    assert_eq!(sender.send([4]), Err(Disconnected), "{}", rings.wait());
}
