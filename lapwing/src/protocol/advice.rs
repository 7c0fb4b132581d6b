//! The one interface between the protocol and what is only fast: advice for claims, and advice for readers.
//!
//! The protocol asks, and clamps or checks each answer. So wrong advice costs time and never an event. The one
//! method that is `unsafe` gets events that no other thread has (I15).
//!
//! [`Plain`] is the advice of the build with `--cfg lapwing_plain`. `tuning` has the other.

use std::fmt::Debug;
use std::ops::Range;

use crate::Sequence;
use crate::sync::{pause, spin_loop};

/// Polls of a consumer before it looks at its time limit and at a stop. One in a model, which is as good as any number.
pub(crate) const POLLS: u32 = if cfg!(loom) { 1 } else { 256 };

/// Advice for the claims of one producer.
pub trait ClaimAdvice: Debug + Send {
    /// `claim` is granted, and no consumer is in the way up to `limit`. Returns the end of the *claim window*: claims up to
    /// there are granted without a check. The protocol uses what is not below the end of `claim` and not above `limit`.
    fn window(&mut self, claim: &Range<Sequence>, limit: Sequence) -> Sequence {
        let _ = claim;
        limit
    }

    /// Whether the only producer of a ring is to keep a count of its claims instead of reading the cursor. The count saves it the
    /// cursor's cache line, which a consumer that waits for each event has taken; each claim is then checked. `backlog` says how
    /// many events before `claim` the first stage has not finished.
    fn keeps_count(&mut self, claim: &Range<Sequence>, backlog: impl FnOnce() -> u64) -> bool {
        let _ = (claim, backlog);
        false
    }

    /// What the counter of several producers is expected to be; `None` to read it. A wrong answer is a compare-and-swap
    /// that fails.
    fn expected_counter(&self) -> Option<Sequence> {
        None
    }

    /// The producer has claimed `claim`, with the counter as expected or read.
    fn claimed(&mut self, claim: &Range<Sequence>, was_expected: bool) {
        let _ = (claim, was_expected);
    }

    /// Backs off after another producer has claimed first.
    fn back_off(&mut self) {
        pause(1);
    }

    /// Other producers have claimed `others` events between the claim that was lost and the end of the back-off.
    fn backed_off(&mut self, others: u64) {
        let _ = others;
    }
}

/// Advice for one reader of a ring.
pub(crate) trait ReadAdvice: Send + Sync {
    /// The reader waits for the event of `next`, which the last look did not show.
    fn waits_for(&self, next: Sequence) {
        let _ = next;
    }

    /// Calls `look` again and again, [`POLLS`] times at most, for the event of `next`. Returns what it showed once
    /// that `is_there`, and `None` if it never was.
    fn poll<T>(
        &mut self,
        next: Sequence,
        look: impl Fn() -> T,
        is_there: impl Fn(&T) -> bool,
    ) -> Option<T> {
        let _ = next;
        for _ in 0..POLLS {
            let seen = look();
            if is_there(&seen) {
                return Some(seen);
            }
            spin_loop();
        }
        None
    }

    /// The reader is about to read the events of `known`, from the first on.
    fn found(&mut self, known: Range<Sequence>) {
        let _ = known;
    }

    /// Whether to acquire ownership of the cache lines of `done`, which the reader is about to release.
    fn wants_lines_of(&mut self, done: Range<Sequence>) -> bool {
        let _ = done;
        false
    }

    /// Acquires ownership of the cache lines of `events`, and of their stamps.
    ///
    /// # Safety
    ///
    /// No other thread has these events, to read or to write, until this returns (I15).
    unsafe fn acquire_lines(&self, events: Range<Sequence>) {
        let _ = events;
    }
}

/// No advice: each default of the two traits.
#[derive(Debug, Default)]
#[cfg_attr(not(lapwing_plain), allow(dead_code, unreachable_pub))]
pub struct Plain;

impl ClaimAdvice for Plain {}
impl ReadAdvice for Plain {}
