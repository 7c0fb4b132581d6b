//! A design of several writers, which is not built: a claim that is never anonymous. Decision 31 has the
//! design and its cost.
//!
//! A writer stores the sequence that it is about to claim in a record of its own, and then moves the
//! counter by a compare-and-swap. So each sequence that is claimed and not published is in the record of
//! the writer that has it. If that writer is dead, another process publishes the sequence as skipped.

use loom::sync::Arc;
use loom::thread;

use super::check;
use crate::sync::{AtomicU64, Ordering};

/// No claim.
const NONE: u64 = u64::MAX;
/// The stamp of an event that was published.
const PUBLISHED: u64 = 1;
/// The stamp of an event whose writer died before it was published.
const SKIPPED: u64 = 2;

/// Where a writer dies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dies {
    BeforeTheSwap,
    BeforeThePublication,
    Never,
}

/// The words of two writers, in a ring that has a slot for each claim.
struct Claims {
    claimed: AtomicU64,
    records: [AtomicU64; 2],
    stamps: [AtomicU64; 3],
}

impl Claims {
    fn new() -> Arc<Self> {
        let (claimed, records) = (AtomicU64::new(0), [(); 2].map(|()| AtomicU64::new(NONE)));
        Arc::new(Self { claimed, records, stamps: [(); 3].map(|()| AtomicU64::new(0)) })
    }

    /// Publishes an event, or dies meanwhile.
    fn publish(&self, writer: usize, dies: Dies) {
        loop {
            let next = self.claimed.load(Ordering::Acquire);
            // Release: carries the stamp of the claim before, for the second look. The swap carries the
            // record itself.
            self.records[writer].store(next, Ordering::Release);
            if dies == Dies::BeforeTheSwap {
                return;
            }
            // Release: carries the record. Each swap goes on with what the ones before carry.
            let (success, failure) = (Ordering::Release, Ordering::Relaxed);
            if self.claimed.compare_exchange(next, next + 1, success, failure).is_err() {
                continue;
            }
            if dies == Dies::BeforeThePublication {
                return;
            }
            // Release: carries the event.
            let before = self.stamps[next as usize].swap(PUBLISHED, Ordering::Release);
            assert_eq!(before, 0, "nobody else has published it or skipped it");
            return;
        }
    }

    /// Skips the claim of a writer that is dead.
    fn repair(&self, dead: usize) {
        let claim = self.records[dead].load(Ordering::Acquire);
        let stamp = |claim| self.stamps[claim as usize].load(Ordering::Acquire);
        // Acquire: what is claimed is in the record of the writer that claimed it.
        while claim != NONE && self.claimed.load(Ordering::Acquire) > claim && stamp(claim) == 0 {
            let other = 1 - dead;
            if self.records[other].load(Ordering::Acquire) == claim {
                // It has the claim, or is about to find that it has not.
                thread::yield_now();
            } else if stamp(claim) == 0 {
                // The second look: the other writer may have published it and gone on in between.
                self.stamps[claim as usize].store(SKIPPED, Ordering::Release);
            }
        }
    }
}

/// One writer dies, and the other one publishes two events. Everything that was claimed is published or
/// skipped once.
fn check_death(dies: Dies) {
    check(move || {
        let claims = Claims::new();
        let (first, second) = (Arc::clone(&claims), Arc::clone(&claims));
        let dead = thread::spawn(move || first.publish(0, dies));
        let alive = thread::spawn(move || {
            second.publish(1, Dies::Never);
            second.publish(1, Dies::Never);
        });
        dead.join().unwrap(); // the kernel says that it is dead
        claims.repair(0);
        alive.join().unwrap();
        let claimed = claims.claimed.load(Ordering::Relaxed) as usize;
        let stamps = [0, 1, 2].map(|claim| claims.stamps[claim].load(Ordering::Relaxed));
        let (done, rest) = stamps.split_at(claimed);
        assert!(done.iter().all(|&stamp| stamp != 0) && rest.iter().all(|&stamp| stamp == 0));
        let published = done.iter().filter(|&&stamp| stamp == PUBLISHED).count();
        assert_eq!(published, if dies == Dies::Never { 3 } else { 2 });
    });
}

#[test]
fn loom_a_claim_is_repaired_that_may_not_have_been_made() {
    check_death(Dies::BeforeTheSwap);
}

#[test]
fn loom_a_claim_is_repaired_that_was_not_published() {
    check_death(Dies::BeforeThePublication);
}

#[test]
fn loom_a_claim_is_not_repaired_that_was_published() {
    check_death(Dies::Never);
}
