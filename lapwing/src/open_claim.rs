//! Records which thread holds which claim of a ring with several producers, so that a producer does
//! not wait for a claim of its own thread.
//!
//! ```text
//! claim a of ring R ── note ──> (this thread, a), in the producer's record
//!   └─ publish to R by another producer, full ── is a open and below the wrap point? then no
//!                                                consumer can pass it, and only this thread could
//!                                                publish it
//! ```
//!
//! A claim borrows its producer, so a producer has at most one claim, and a claim stays on its
//! thread. One record per producer therefore suffices. The end of a claim needs no record, because
//! its stamp shows it.
//!
//! A ring with one producer needs no record: its claim borrows the only producer.

use std::ptr;
use std::sync::Arc;

use lapwing_core::Padded;

use crate::Sequence;
use crate::registry::Registry;
use crate::sync::{AtomicU64, Ordering, constant_thread_local, notes_claims};

constant_thread_local! {
    /// Its address identifies the thread.
    static HERE: u8 = 0;
}

/// Returns a number that no other living thread has; never 0.
#[inline]
fn this_thread() -> u64 {
    HERE.with(|here| ptr::from_ref(here).addr() as u64)
}

/// The last claim of one producer. It has a cache line of its own, because its producer stores to
/// it at each claim.
#[derive(Debug, Default)]
pub(crate) struct OpenClaim(Arc<Padded<Record>>);

#[derive(Debug, Default)]
struct Record {
    /// The thread that made the claim; 0 before the first claim.
    thread: AtomicU64,
    /// The first sequence of the claim.
    first: AtomicU64,
}

impl OpenClaim {
    /// Records that this thread has made a claim that begins at `first`.
    #[inline]
    pub(crate) fn note(&self, first: Sequence) {
        if !notes_claims() {
            return;
        }
        // O38, Relaxed: the store below releases it.
        self.0.thread.store(this_thread(), Ordering::Relaxed);
        // O38, Release: pairs with the Acquire in `of_this_thread`; carries the thread.
        self.0.first.store(first, Ordering::Release);
    }

    /// Returns the first sequence of the claim, if this thread made it.
    #[cfg(all(test, loom))]
    pub(crate) fn of_this_thread(&self) -> Option<Sequence> {
        self.0.of_this_thread()
    }
}

impl Record {
    /// Returns the first sequence of the claim, if this thread made it.
    fn of_this_thread(&self) -> Option<Sequence> {
        // O38, Acquire: pairs with the Release in `note`; brings the thread that made this claim or
        // a later one.
        let first = self.first.load(Ordering::Acquire);
        // O38, Relaxed: ordered by the load above.
        (self.thread.load(Ordering::Relaxed) == this_thread()).then_some(first)
    }
}

/// The last claims of all producers of a ring.
#[derive(Debug, Default)]
pub(crate) struct OpenClaims(Registry<Padded<Record>>);

impl OpenClaims {
    /// Adds a producer.
    pub(crate) fn add(&self, claim: &OpenClaim) {
        if notes_claims() {
            self.0.add(&claim.0);
        }
    }

    /// Returns the first sequence of the oldest claim that this thread has made and that `is_open`.
    pub(crate) fn oldest_of_this_thread(
        &self,
        is_open: impl Fn(Sequence) -> bool,
    ) -> Option<Sequence> {
        if !notes_claims() {
            return None;
        }
        let entries = self.0.lock();
        // Nothing is freed here, even if a producer is dropped meanwhile: the list keeps the memory
        // of its record.
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

    #[test]
    fn claims_of_other_threads_are_not_ones_own() {
        let (claims, claim) = (OpenClaims::default(), OpenClaim::default());
        claims.add(&claim);
        claim.note(7);
        let of_another = || assert_eq!(claims.oldest_of_this_thread(|_| true), None);
        std::thread::scope(|scope| _ = scope.spawn(of_another));
        assert_eq!(claims.oldest_of_this_thread(|_| true), Some(7));
    }
}
