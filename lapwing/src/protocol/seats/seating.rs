//! The words that decide who is in the ring: how many consumers it has, which seats are taken, and
//! how far producers have been let go. Not here: how a consumer joins (`joining`), where it is
//! (`control`).
//!
//! A seat is the place of a stage that is not in the graph from the start. A consumer that comes
//! later takes one, and leaves it free for the next.

use std::ops::Range;

use crate::Sequence;
use crate::description::StageIndex;
use crate::padded::Padded;
use crate::sync::{AtomicU64, Ordering};

/// Who is in the ring, and who may come. None of it is read on a hot path.
#[derive(Debug)]
pub(crate) struct Seating {
    /// First sequence that no producer has been allowed to claim. Written by producers when they
    /// read the gate, in a ring with seats only; read by consumers that join.
    granted: Padded<AtomicU64>,
    /// Number of consumers that have not left before the end. At 0 the ring is halted, and nobody joins any more.
    consumers: AtomicU64,
    /// For each seat the number of times that it was taken or left: odd while somebody has it.
    turns: Box<[AtomicU64]>,
    /// Number of stages of the graph, which have the first indices.
    graph: StageIndex,
    /// Index of the first seat.
    first: StageIndex,
}

impl Seating {
    /// `count` seats with the indices from `first` on, beside a graph of `graph` stages.
    pub(crate) fn new(graph: usize, first: StageIndex, count: usize) -> Self {
        Self {
            granted: Padded(AtomicU64::new(0)),
            consumers: AtomicU64::new(graph as u64),
            turns: (0..count).map(|_| AtomicU64::new(0)).collect(),
            graph,
            first,
        }
    }

    /// Whoever reads events: the stages of the graph and the seats, but no words of
    /// acknowledgements. A group counts with what it has claimed, which is published.
    pub(crate) fn readers(&self) -> impl Iterator<Item = StageIndex> {
        (0..self.graph).chain(self.seats())
    }

    /// The seats, as stages.
    pub(crate) fn seats(&self) -> Range<StageIndex> {
        self.first..self.first + self.turns.len()
    }

    /// Whether there are none.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.turns.is_empty()
    }

    /// Number of seats that nobody has; a look.
    pub(crate) fn free(&self) -> usize {
        // O13, Relaxed: a look; `take` decides.
        let is_free = |turn: &&AtomicU64| turn.load(Ordering::Relaxed).is_multiple_of(2);
        self.turns.iter().filter(is_free).count()
    }

    /// Takes a free seat, and returns it with the number of its turn.
    pub(crate) fn take(&self) -> Option<(StageIndex, u64)> {
        self.seats().zip(&self.turns).find_map(|(seat, turn)| {
            // O13, Relaxed: a look; the next line decides.
            let last = turn.load(Ordering::Relaxed);
            // O16, Acquire: pairs with the Release in `free_seat`; brings all that the last
            // consumer did here. Relaxed: somebody else has it.
            let swap =
                |next| turn.compare_exchange(last, next, Ordering::Acquire, Ordering::Relaxed);
            let is_taken = last.is_multiple_of(2) && swap(last + 1).is_ok();
            is_taken.then_some((seat, last + 1))
        })
    }

    /// Lets others have a seat that the caller has taken and that holds nothing back any more.
    pub(crate) fn free_seat(&self, seat: StageIndex) {
        // O16, Release: pairs with the Acquire in `take`; carries the end of this consumer's reads.
        self.turns[seat - self.first].fetch_add(1, Ordering::Release);
    }

    /// Counts one more consumer; false if the last one has left, and with it the ring.
    pub(crate) fn add_consumer(&self) -> bool {
        // O14, Relaxed: a count in one modification order, and 0 is its end.
        let mut consumers = self.consumers.load(Ordering::Relaxed);
        while consumers > 0 {
            // O14, Relaxed: as above, for both outcomes.
            match self.consumers.compare_exchange_weak(
                consumers,
                consumers + 1,
                Ordering::Relaxed,
                Ordering::Relaxed,
            ) {
                Ok(_) => return true,
                Err(now) => consumers = now,
            }
        }
        false
    }

    /// Counts one consumer less; true if it was the last one.
    pub(crate) fn remove_consumer(&self) -> bool {
        // O14, Relaxed: as in `add_consumer`.
        self.consumers.fetch_sub(1, Ordering::Relaxed) == 1
    }

    /// Whether somebody is left, or is just joining.
    pub(crate) fn has_consumers(&self) -> bool {
        // O14, Relaxed: whoever saw them all gone sees that they are not counted any more, for each
        // one was taken off the count before its sequence said so (O2).
        self.consumers.load(Ordering::Relaxed) > 0
    }

    /// Records that producers may claim below `limit`, for those who join.
    pub(crate) fn raise_granted(&self, limit: Sequence) {
        // O15, Release: pairs with the Acquire in `granted`; carries that all that is a lap below
        // is settled. The caller runs a full fence before it looks at the seats.
        self.granted.fetch_max(limit, Ordering::Release);
    }

    /// First sequence that no producer was allowed to claim, as far as the caller can know.
    pub(crate) fn granted(&self) -> Sequence {
        // O15, Acquire: pairs with the Release in `raise_granted`.
        self.granted.load(Ordering::Acquire)
    }
}
