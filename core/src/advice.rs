//! The only interface between the protocol and the tuning: advice for the claims of a producer, and
//! advice for the reads of a consumer.
//!
//! The protocol asks these two traits, and clamps or checks each answer. Wrong advice therefore
//! costs time, but never an event. Advice has no access to slots.
//!
//! [`Plain`] is the advice of the build with `--cfg lapwing_plain`: the defaults of both traits.
//! Module `lapwing::tuning` implements the advice of the normal build.

use std::fmt::Debug;
use std::ops::Range;

use crate::Sequence;
use crate::sync::pause;

/// Advice for the claims of one producer. Each method has a default that is always correct.
pub trait ClaimAdvice: Debug + Send {
    /// Returns the end of the *claim window*: the protocol grants claims below it without a check.
    /// `claim` is granted, and no consumer is in the way below `limit`. The protocol clamps the
    /// answer to the range from the end of `claim` to `limit`.
    fn window(&mut self, claim: &Range<Sequence>, limit: Sequence) -> Sequence {
        let _ = claim;
        limit
    }

    /// Returns whether the only producer of a ring is to keep a count of its claims instead of
    /// reading the cursor. A consumer that waits for each event has taken the cursor's cache line;
    /// the count saves the producer from waiting for it. With a count, each claim is checked.
    /// `backlog` returns how many events before `claim` the first stage has not finished.
    fn keeps_count(&mut self, claim: &Range<Sequence>, backlog: impl FnOnce() -> u64) -> bool {
        let _ = (claim, backlog);
        false
    }

    /// Returns the expected value of the claim counter, which several producers share; `None` to
    /// load the counter. A wrong answer makes one compare-and-swap fail.
    fn expected_counter(&self) -> Option<Sequence> {
        None
    }

    /// Records that the producer, which is one of several, has claimed `claim`.
    fn claimed(&mut self, claim: &Range<Sequence>) {
        let _ = claim;
    }

    /// Backs off after another producer has won the claim.
    fn back_off(&mut self) {
        pause(1);
    }

    /// Records that other producers claimed `others` events between the lost claim and the end of
    /// the back-off.
    fn backed_off(&mut self, others: u64) {
        let _ = others;
    }
}

/// Advice for one reader of a ring. Each method has a default that is always correct.
pub trait ReadAdvice: Send + Sync {
    /// Records that the reader waits for the event of `next`, which its last poll did not find. A
    /// reader that spins calls it after each failed poll.
    fn waits_for(&self, next: Sequence) {
        let _ = next;
    }

    /// Returns whether to acquire ownership of the cache lines of the events `done`, which the
    /// reader is about to release.
    fn wants_lines_of(&mut self, done: Range<Sequence>) -> bool {
        let _ = done;
        false
    }
}

/// No advice: the defaults of both traits.
#[derive(Debug, Default)]
pub struct Plain;

impl ClaimAdvice for Plain {}
impl ReadAdvice for Plain {}
