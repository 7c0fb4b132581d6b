//! Loops of polls during a wait, and how often they read the clock. Not here: what else a strategy
//! can do (`waiting`).

use std::time::{Duration, Instant};

use super::Waiting;
use crate::sync::now;

/// Polls of the default strategy between two reads of the clock. It counts its time.
pub(super) const LOOKS_PER_CLOCK: u32 = 24;
/// The cost of a park and a wake-up for both sides together. A thread that spins for this long
/// before it parks never spends more than twice the time of the better choice.
pub(super) const PARKING: Duration = Duration::from_micros(50);

impl Waiting<'_> {
    /// Polls `times` times and calls `step` after each poll. Returns true as soon as the wait is
    /// over.
    pub(super) fn look(&self, times: u32, step: impl Fn()) -> bool {
        for _ in 0..times {
            if self.seems_over() {
                return true;
            }
            step();
        }
        false
    }

    /// Repeats `step` until the wait is over or has expired. Reads the clock after every
    /// `per_clock` steps, and only if there is a deadline.
    pub(super) fn repeat(&self, per_clock: u32, step: impl Fn()) {
        while !self.look(per_clock, &step) && !self.is_expired() {}
    }

    /// Repeats `step`. Returns true when the wait is over or has expired, false when `phase` has
    /// passed. Reads the clock after every `per_clock` steps, not before the first: a short wait
    /// does not pay for a read.
    pub(super) fn repeat_for(&self, phase: Duration, per_clock: u32, step: impl Fn()) -> bool {
        if phase.is_zero() {
            return false;
        }
        let has_passed = |end: Option<Instant>, now| end.is_some_and(|end| now >= end);
        let mut end_of_phase = None;
        while !self.look(per_clock, &step) {
            let now = now();
            if has_passed(self.deadline(), now) {
                return true;
            }
            // A phase that is too long for the clock has no end.
            let end = *end_of_phase.get_or_insert_with(|| now.checked_add(phase));
            if has_passed(end, now) {
                return false;
            }
        }
        true
    }
}
