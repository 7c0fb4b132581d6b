//! Which claims of several producers are published: one stamp per slot. Not here: the claims
//! themselves (`claims::multi`).
//!
//! ```text
//! stamp = (lap + 1) << 1 | tombstone        capacity 4, lap = sequence / 4
//!
//! sequence    4      5      6      7
//! stamp      2<<1   2<<1|1  1<<1   2<<1     5 was given up, 6 is not published yet: a reader gets
//!                                           4, skips 5, and waits at 6
//! ```
//!
//! Stamps are never cleared, since the stamp of the last lap differs from the one that a reader
//! expects. The lap is cut to 31 bits. That is enough: a slot is at most one lap ahead of any
//! reader, so its stamp is of this lap or the last. A new ring has the stamps of the lap before its
//! first sequence.

use std::ops::Range;

use crate::Sequence;
use crate::addresses::Addresses;
use crate::memory::{PerSlot, Reserved};
#[cfg(loom)]
use crate::sync::watch_store_unchanged;
use crate::sync::{AtomicU32, AtomicU64, Ordering};

/// What is at the next sequence of a stage, and where it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Span {
    /// Nothing yet.
    Empty,
    /// Events below this sequence.
    Events(Sequence),
    /// Abandoned claims below this sequence.
    Tombstones(Sequence),
}

/// The outcome of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fate {
    /// Its event may be read.
    Published = 0,
    /// It was abandoned; consumers skip it.
    Tombstone = 1,
}

/// One stamp for each slot of a multi-producer ring.
#[derive(Debug)]
pub(crate) struct Stamps {
    /// Written by the owner of the slot's claim, read by consumers. Sixteen stamps share a cache
    /// line, since a consumer reads them in order.
    stamps: PerSlot<AtomicU32>,
    /// log2 of the capacity: `sequence >> lap_shift` is the lap.
    lap_shift: u32,
    /// Number of tombstones ever. While it is 0, stages after the first need not load the stamps.
    tombstones: AtomicU64,
}

impl Stamps {
    /// Creates the stamps in the memory `reserved`, with no claim published from `first` on.
    pub(crate) fn new(reserved: Reserved<AtomicU32>, first: Sequence) -> Self {
        let capacity = reserved.capacity() as u64;
        let lap_shift = capacity.trailing_zeros();
        let of_last_lap = |slot: usize| {
            let until_slot = (slot as u64).wrapping_sub(first) & (capacity - 1);
            let last_lap = lap(first + until_slot, lap_shift).wrapping_sub(1);
            AtomicU32::new(stamp(last_lap, Fate::Published))
        };
        Self { stamps: reserved.fill(of_last_lap), lap_shift, tombstones: AtomicU64::new(0) }
    }

    /// Returns the addresses of the stamps.
    pub(crate) fn addresses(&self) -> Addresses {
        let stride = size_of::<AtomicU32>();
        Addresses::at(self.stamps.as_ptr().addr(), self.stamps.len() as u64, stride)
    }

    /// Returns the addresses of the stamps, so that their cache lines can be written by address (I15).
    pub(crate) fn exposed(&self) -> Addresses {
        Addresses::exposed_slice(&self.stamps)
    }

    /// Tells loom that the cache lines of the stamps of `sequences` are acquired at this point.
    #[cfg(loom)]
    pub(crate) fn watch_acquire(&self, sequences: Range<Sequence>) {
        sequences.for_each(|sequence| watch_store_unchanged(self.slot(sequence)));
    }

    fn slot(&self, sequence: Sequence) -> &AtomicU32 {
        &self.stamps[(sequence as usize) & (self.stamps.len() - 1)]
    }

    fn stamp(&self, sequence: Sequence, fate: Fate) -> u32 {
        stamp(lap(sequence, self.lap_shift), fate)
    }

    /// Returns the stamps of `sequences` up to the end of their first lap, and the value for that
    /// lap. The stamps are contiguous, so a loop over them only compares or stores.
    #[inline]
    fn of_one_lap(&self, sequences: Range<Sequence>, fate: Fate) -> (&[AtomicU32], u32) {
        let slots = &self.stamps[(sequences.start as usize) & (self.stamps.len() - 1)..];
        let count = (sequences.end - sequences.start).min(slots.len() as u64);
        (&slots[..count as usize], self.stamp(sequences.start, fate))
    }

    /// Stamps claims with their outcome. The caller owns the claims.
    #[inline]
    pub(crate) fn settle(&self, claims: Range<Sequence>, fate: Fate) {
        if fate == Fate::Tombstone {
            // O5, Relaxed: released by the stamps below.
            self.tombstones.fetch_add(1, Ordering::Relaxed);
        }
        // Most calls settle one claim, which is one store without a loop.
        if claims.end - claims.start == 1 {
            return self.settle_one(claims.start, fate);
        }
        let mut next = claims.start;
        while next < claims.end {
            let (slots, stamp) = self.of_one_lap(next..claims.end, fate);
            for slot in slots {
                // O4, Release: pairs with the Acquire in `fate` and `end_of`; carries the event.
                slot.store(stamp, Ordering::Release);
            }
            next += slots.len() as u64;
        }
    }

    #[inline]
    fn settle_one(&self, claim: Sequence, fate: Fate) {
        // O4, Release: pairs with the Acquire in `fate` and `end_of`; carries the event.
        self.slot(claim).store(self.stamp(claim, fate), Ordering::Release);
    }

    /// Returns the lap of which the first slot is published, from 1 on.
    #[cfg(all(test, not(any(loom, miri))))]
    pub(crate) fn laps_of_first_slot(&self) -> u64 {
        // O4, Acquire: as in `fate`.
        u64::from(self.stamps[0].load(Ordering::Acquire) >> 1)
    }

    /// Whether the outcome of `sequence` is known.
    pub(crate) fn is_settled(&self, sequence: Sequence) -> bool {
        self.fate(sequence).is_some()
    }

    /// Returns the outcome of `sequence`, if it is known yet.
    #[inline]
    fn fate(&self, sequence: Sequence) -> Option<Fate> {
        // O4, Acquire: pairs with the Release in `settle` and `settle_one`; brings the event.
        let stamp = self.slot(sequence).load(Ordering::Acquire);
        let published = self.stamp(sequence, Fate::Published);
        match stamp ^ published {
            0 => Some(Fate::Published),
            1 => Some(Fate::Tombstone),
            _ => None,
        }
    }

    /// Returns the settled sequences from `next` on, below `limit`, that share one outcome.
    #[inline]
    pub(crate) fn settled(&self, next: Sequence, limit: Sequence) -> Span {
        let Some(fate) = self.fate(next) else {
            return Span::Empty;
        };
        let end = self.end_of(fate, next + 1..limit);
        match fate {
            Fate::Published => Span::Events(end),
            Fate::Tombstone => Span::Tombstones(end),
        }
    }

    /// Returns the first of `sequences` with another outcome or none yet; their end if there is
    /// none.
    #[inline]
    fn end_of(&self, fate: Fate, sequences: Range<Sequence>) -> Sequence {
        let mut next = sequences.start;
        while next < sequences.end {
            let (slots, stamp) = self.of_one_lap(next..sequences.end, fate);
            // O4, Acquire: pairs with the Release in `settle` and `settle_one`; brings the event.
            let is_other = |slot: &AtomicU32| slot.load(Ordering::Acquire) != stamp;
            if let Some(alike) = slots.iter().position(is_other) {
                return next + alike as u64;
            }
            next += slots.len() as u64;
        }
        sequences.end
    }

    /// Returns the stamps, for monitors.
    pub(crate) fn words(&self) -> &[AtomicU32] {
        &self.stamps
    }

    /// Does [`settled_prefix`] for these stamps.
    pub(crate) fn settled_prefix(&self, next: Sequence, limit: Sequence) -> Sequence {
        settled_prefix(&self.stamps, next, limit)
    }

    /// Returns the settled sequences from `next` on that share one outcome, for a stage that has
    /// seen an upstream stage finish all of `next..limit`. Loads the stamps only if there has been
    /// a tombstone.
    #[inline]
    pub(crate) fn known_settled(&self, next: Sequence, limit: Sequence) -> Span {
        // O5, Relaxed: a tombstone below `limit` was counted before it was stamped. The upstream
        // stage acquired the stamp (O4), and this stage has acquired its sequence (O3).
        if self.tombstones.load(Ordering::Relaxed) == 0 {
            Span::Events(limit)
        } else {
            self.settled(next, limit)
        }
    }
}

/// Returns the first sequence from `next` on, at most `limit`, whose claim is not settled yet. There is
/// a stamp for each slot. The caller may be a lap behind: a slot that shows a later lap was settled in
/// this one. The thread that holds a claim sees that it is open, because it acquired the stamp of the
/// lap before with the slot (O2), and no other thread stamps the slot.
pub(crate) fn settled_prefix(stamps: &[AtomicU32], next: Sequence, limit: Sequence) -> Sequence {
    let (mask, lap_shift) = (stamps.len() - 1, stamps.len().trailing_zeros());
    let is_open = |&sequence: &Sequence| {
        // O13, Relaxed: a snapshot.
        let found = stamps[sequence as usize & mask].load(Ordering::Relaxed);
        let settled = stamp(lap(sequence, lap_shift), Fate::Published);
        // Half of all laps are ahead of this one, and no stamp is more than one lap behind.
        (found | Fate::Tombstone as u32).wrapping_sub(settled).cast_signed() < 0
    };
    (next..limit).find(is_open).unwrap_or(limit)
}

/// Returns the lap of `sequence`, cut to its low 32 bits.
#[inline]
fn lap(sequence: Sequence, lap_shift: u32) -> u32 {
    (sequence >> lap_shift) as u32
}

/// Returns the stamp of a claim of `lap`, of which it keeps 31 bits.
#[inline]
fn stamp(lap: u32, fate: Fate) -> u32 {
    lap.wrapping_add(1) << 1 | fate as u32
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::{Fate, Span, Stamps};
    use crate::memory::Reserved;

    fn stamps() -> Stamps {
        Stamps::new(Reserved::reserve(4).expect("a power of two"), 0)
    }

    #[test]
    fn a_span_ends_where_the_fate_changes_or_none_is_known_in_any_lap() {
        for first in [0, 1, 3, 4, 6, 4 * ((1 << 31) - 2), 4 * ((1 << 31) - 1) + 1] {
            for (events, tombstones) in (0..=4).flat_map(|n| (0..=4 - n).map(move |m| (n, m))) {
                let stamps = Stamps::new(Reserved::reserve(4).expect("a power of two"), first);
                let (middle, end) = (first + events, first + events + tombstones);
                stamps.settle(first..middle, Fate::Published);
                stamps.settle(middle..end, Fate::Tombstone);
                for limit in first + 1..=first + 4 {
                    let seen = match (events, tombstones) {
                        (0, 0) => Span::Empty,
                        (0, _) => Span::Tombstones(end.min(limit)),
                        _ => Span::Events(middle.min(limit)),
                    };
                    let case = format!("{first} {events} {tombstones} {limit}");
                    assert_eq!(stamps.settled(first, limit), seen, "{case}");
                }
            }
        }
    }

    #[test]
    fn the_settled_prefix_ends_at_the_first_claim_that_is_not() {
        let stamps = stamps();
        assert_eq!(stamps.settled_prefix(0, 4), 0);
        stamps.settle(0..1, Fate::Published);
        stamps.settle(1..2, Fate::Tombstone);
        stamps.settle(3..4, Fate::Published);
        assert_eq!(stamps.settled_prefix(0, 4), 2);
        assert_eq!(stamps.settled_prefix(3, 4), 4);
        stamps.settle(2..3, Fate::Published);
        assert_eq!(stamps.settled_prefix(0, 4), 4);
        assert_eq!(stamps.settled_prefix(0, 3), 3);
        // The next lap is not claimed yet.
        assert_eq!(stamps.settled_prefix(4, 8), 4);
    }

    #[test]
    fn a_slot_of_a_later_lap_is_settled() {
        let stamps = stamps();
        stamps.settle(4..6, Fate::Published);
        stamps.settle(6..7, Fate::Tombstone);
        assert_eq!(stamps.settled_prefix(0, 4), 3);
    }

    #[test]
    fn the_settled_prefix_continues_where_the_lap_is_cut() {
        let first = 4 * ((1 << 31) - 2); // its stamp is the last one
        let stamps = stamps();
        stamps.settle(first..first + 4, Fate::Published);
        assert_eq!(stamps.settled_prefix(first, first + 4), first + 4);
        assert_eq!(stamps.settled_prefix(first + 4, first + 8), first + 4);
        stamps.settle(first + 4..first + 6, Fate::Tombstone);
        assert_eq!(stamps.settled_prefix(first, first + 6), first + 6);
        assert_eq!(stamps.settled_prefix(first + 4, first + 8), first + 6);
    }
}
