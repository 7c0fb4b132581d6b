//! The part of a writer beside others: which sequences it claims, and what becomes of them.
//!
//! A writer records the sequences that it is about to claim, and then moves the counter of all writers by
//! a compare-and-swap. So each claim has an owner, also after that has died (P10). Not here: the
//! repair after a death (`repair`).

use std::ops::Range;

use super::Shared;
use super::seats::Tenure;
use super::stamps::Fate;
use crate::fences::Fences;
use crate::sync::{Ordering, fence};
use crate::words::{Claim, WriterSeat};

/// Most stamps that a writer reads at once. One that claims rarely reads as many for each claim.
const STAMPS_AT_ONCE: u64 = 64;

/// One of several writers.
#[derive(Debug)]
pub(crate) struct Claiming {
    pub(crate) tenure: Tenure,
    /// It may claim below this sequence.
    granted: u64,
    /// Readers allow it to claim below this one.
    limit: u64,
    fences: Fences,
}

impl Claiming {
    /// Takes the seat `index`, which is free. No other thread or process takes a seat at the same time
    /// (M3). `None` if the last writer has closed the segment meanwhile.
    pub(crate) fn join(shared: Shared<'_>, index: usize, fences: Fences) -> Option<Self> {
        let WriterSeat { claim, holder } = &shared.writers[index];
        let number = holder.0.tenure() + 1;
        claim.0.withdraw();
        holder.0.take(number, fences.code());
        fence(Ordering::SeqCst); // P5: pairs with the fence in `heavy`
        let claiming = Self { tenure: Tenure { index, number }, granted: 0, limit: 0, fences };
        if shared.announce() {
            return Some(claiming);
        }
        claiming.leave(shared);
        None
    }

    /// Claims the next sequences: at least one and `most` at most. `None` if no slot is free.
    #[inline]
    pub(crate) fn claim(&mut self, shared: Shared<'_>, most: u64) -> Option<Range<u64>> {
        let claim = &shared.writers[self.tenure.index].claim.0;
        let mut is_recorded = false;
        loop {
            let first = shared.next_claim();
            let count = self.room(shared, first, most);
            if count == 0 {
                if is_recorded {
                    claim.withdraw();
                }
                return None;
            }
            claim.record(first, count);
            if shared.make_claim(first, count) {
                return Some(first..first + count);
            }
            is_recorded = true;
        }
    }

    /// Returns how many slots are free from `first` on, up to `most`.
    #[inline]
    fn room(&mut self, shared: Shared<'_>, first: u64, most: u64) -> u64 {
        if first >= self.granted {
            self.look(shared, first);
        }
        self.granted.saturating_sub(first).min(most)
    }

    /// Reads the seats and some stamps of the lap before in one pass, because the compare-and-swap of a
    /// claim waits for all earlier loads.
    #[cold]
    fn look(&mut self, shared: Shared<'_>, first: u64) {
        if first >= self.limit {
            self.limit = shared.grant(first, self.limit);
        }
        let end = self.limit.min(first + STAMPS_AT_ONCE);
        let is_free = |&sequence: &u64| shared.is_sealed_before(sequence);
        let free = (first..end).take_while(is_free).count() as u64;
        self.granted = first + free;
    }

    /// Publishes or skips sequences that it has claimed.
    #[inline]
    pub(crate) fn seal(&self, shared: Shared<'_>, sequences: Range<u64>, fate: Fate) {
        shared.seal(sequences, fate);
        self.fences.light();
        shared.words.events.0.notify();
        // A writer one lap ahead may be waiting for this event.
        shared.words.slots.0.notify();
    }

    /// Gives up its seat. It has sealed all that it claimed.
    pub(crate) fn leave(&self, shared: Shared<'_>) {
        shared.writers[self.tenure.index].holder.0.leave(self.tenure.number);
    }
}

impl Claim {
    /// Records what its writer is about to claim.
    #[inline]
    pub(crate) fn record(&self, first: u64, count: u64) {
        // P10, Release, here and below: carries the stamps of the last claim. The swap of the counter
        // carries the record itself.
        self.first.store(first, Ordering::Release);
        self.count.store(count, Ordering::Release);
    }

    /// Records that its writer has claimed nothing that is not sealed.
    pub(crate) fn withdraw(&self) {
        // P10, Release: as in `record`.
        self.count.store(0, Ordering::Release);
    }

    /// Returns the sequences that the writer may have claimed, which may change meanwhile. If the
    /// counter shows that the writer has claimed a sequence, the range contains it, or a later load
    /// of its stamp finds it sealed.
    pub(crate) fn range(&self) -> Range<u64> {
        // P10, Acquire, here and below: pairs with the Release in `record` and `withdraw`.
        let first = self.first.load(Ordering::Acquire);
        let count = self.count.load(Ordering::Acquire);
        first..first.saturating_add(count)
    }
}

impl Shared<'_> {
    /// Returns the sequence that is claimed next.
    #[inline]
    pub(crate) fn next_claim(self) -> u64 {
        // P10, Relaxed: the swap compares it.
        self.words.claimed.0.load(Ordering::Relaxed)
    }

    /// Claims `count` sequences from `first` on, which the caller has recorded. Returns whether it has
    /// them.
    #[inline]
    pub(crate) fn make_claim(self, first: u64, count: u64) -> bool {
        // P10, Release: pairs with the Acquire in `is_claimed`; carries the record. Each swap goes on
        // with what the ones before carry.
        let (success, failure) = (Ordering::Release, Ordering::Relaxed);
        self.words.claimed.0.compare_exchange(first, first + count, success, failure).is_ok()
    }

    /// Whether any writer has claimed `sequence`. Then the record of that writer is visible.
    pub(crate) fn is_claimed(self, sequence: u64) -> bool {
        // P10, Acquire: pairs with the Release in `make_claim`.
        self.words.claimed.0.load(Ordering::Acquire) > sequence
    }

    /// Whether one of several writers finds a free slot now.
    pub(crate) fn has_room_to_claim(self) -> bool {
        let next = self.next_claim();
        self.has_room(next) && self.is_sealed_before(next)
    }
}
