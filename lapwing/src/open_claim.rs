//! Which thread holds which claim of a ring with several producers, so that a producer does not wait for a claim of its own
//! thread.
//!
//! ```text
//! claim a of ring R ── note ──> (this thread, a), in a record of the producer
//!   └─ publish to R by another producer, full ── is a open and below the wrap point? then no consumer gets past it, and
//!                                                only this thread could publish it
//! ```
//!
//! A producer has at most one claim, which borrows it, and a claim stays on its thread. So one record for each producer is
//! enough, and nothing has to be noted when a claim ends: its stamp says that.
//!
//! A ring with one producer needs no record: its claim borrows the only producer.

use std::ptr;
use std::sync::Arc;

use crate::Sequence;
use crate::padded::Padded;
use crate::registry::Registry;
use crate::sync::{AtomicU64, Ordering, constant_thread_local, notes_claims};

constant_thread_local! {
    /// Its address is that of the thread.
    static HERE: u8 = 0;
}

/// A number that no other living thread has; not 0.
#[inline]
fn this_thread() -> u64 {
    HERE.with(|here| ptr::from_ref(here).addr() as u64)
}

/// The last claim of one producer. On a line of its own: only its producer writes it, at each claim.
#[derive(Debug, Default)]
pub(crate) struct OpenClaim(Arc<Padded<Record>>);

#[derive(Debug, Default)]
struct Record {
    /// The thread that made the claim; 0 before the first.
    thread: AtomicU64,
    /// First sequence of the claim.
    first: AtomicU64,
}

impl OpenClaim {
    /// Notes that this thread has claimed from `first` on.
    #[inline]
    pub(crate) fn note(&self, first: Sequence) {
        if !notes_claims() {
            return;
        }
        // O38, Relaxed: released by the next line.
        self.0.thread.store(this_thread(), Ordering::Relaxed);
        // O38, Release: pairs with the Acquire in `of_this_thread`; carries which thread it was.
        self.0.first.store(first, Ordering::Release);
    }

    /// First sequence of the claim, if this thread made it.
    #[cfg(all(test, loom))]
    pub(crate) fn of_this_thread(&self) -> Option<Sequence> {
        self.0.of_this_thread()
    }
}

impl Record {
    /// First sequence of the claim, if this thread made it.
    fn of_this_thread(&self) -> Option<Sequence> {
        // O38, Acquire: pairs with the Release in `note`; brings the thread that made this claim, or a later one.
        let first = self.first.load(Ordering::Acquire);
        // O38, Relaxed: ordered by the line above.
        (self.thread.load(Ordering::Relaxed) == this_thread()).then_some(first)
    }
}

/// The last claims of all producers of a ring.
#[derive(Debug, Default)]
pub(crate) struct OpenClaims(Registry<Padded<Record>>);

impl OpenClaims {
    /// Adds one more producer.
    pub(crate) fn add(&self, claim: &OpenClaim) {
        if notes_claims() {
            self.0.add(&claim.0);
        }
    }

    /// First sequence of the oldest claim that this thread has made and that `is_open`.
    pub(crate) fn oldest_of_this_thread(
        &self,
        is_open: impl Fn(Sequence) -> bool,
    ) -> Option<Sequence> {
        if !notes_claims() {
            return None;
        }
        let entries = self.0.lock();
        // Nothing is freed here, even if a producer goes meanwhile: the list keeps the memory of its record.
        let own = entries.iter().filter_map(|entry| entry.upgrade()?.of_this_thread());
        own.filter(|&first| is_open(first)).min()
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn producers_that_are_gone_leave_their_places_to_others() {
        let claims = OpenClaims::default();
        for _ in 0..10 {
            let several: Vec<_> = (0..100).map(|_| OpenClaim::default()).collect();
            several.iter().for_each(|claim| claims.add(claim));
            several.iter().zip(1..).for_each(|(claim, first)| claim.note(first));
            assert_eq!(claims.oldest_of_this_thread(|first| first > 40), Some(41));
        }
        assert_eq!(claims.0.lock().len(), 100);
    }

    #[test]
    fn a_producer_that_has_claimed_nothing_has_no_claim() {
        let (claims, claim) = (OpenClaims::default(), OpenClaim::default());
        claims.add(&claim);
        assert_eq!(claims.oldest_of_this_thread(|_| true), None);
        claim.note(7);
        assert_eq!(claims.oldest_of_this_thread(|_| true), Some(7));
    }
}
