//! Whether a consumer takes the lines of the events that it has done, before it gives their slots back.
//!
//! ```text
//!                    written      read        taken           given back, and written a lap later
//! producer's cache   the line     a copy      -               comes alone, ahead of the stores
//! consumer's cache   -            a copy      the line        -
//! ```
//!
//! A line that was read lies in both caches, and the producer's next store there has to take the consumer's copy away: 30 ns
//! where CPUs share a cache, 135 where they do not. Stores keep their order, so only as many overlap as fit into the CPU's
//! queue; and a hint to write does nothing for a line that is there, as a copy, on AMD's CPUs. A consumer that stores a byte
//! as it is takes the line, with many others at a time and while nobody waits for it. Then the producer has no copy, and what
//! a CPU lacks it fetches ahead by itself. See `perf/results/experiments.md`.
//!
//! It is the consumer that pays. So lines are taken for a stream only, and whether all goes faster by it is tried: over some
//! laps, since it shows a lap later.

use std::ops::Range;

use crate::Sequence;
use crate::control::{Control, StageIndex};
use crate::ring::Ring;
use crate::ring_buffer::Prefetcher;
use crate::trial::Trial;
use crate::wait::stream;

/// Fewest events that are done together of which lines are taken: those of a stream. In a model, of all.
const FEWEST: u64 = if cfg!(loom) { 1 } else { stream::FEWEST };
/// Where events take longer than this, a line more or less makes no difference to the producers.
const SLOW_NS: u64 = 100;

/// The lines of one consumer's events.
#[derive(Debug)]
pub(super) struct Lines {
    /// Whether they may be taken: nobody else has the events.
    are_its_own: bool,
    /// Whether to leave them, the first way, or to take them.
    trial: Trial<SLOW_NS>,
}

impl Lines {
    /// Of the consumer of `stage`, whose first event is `first`.
    pub(super) fn of(control: &Control, stage: StageIndex, first: Sequence) -> Self {
        Self {
            are_its_own: Prefetcher::TAKES_LINES && control.gates_alone(stage),
            trial: Trial::over_laps(control.capacity, first),
        }
    }

    /// Whether to take those of `events`, which are done and about to be given back.
    #[inline(always)]
    pub(super) fn pay(&mut self, events: &Range<Sequence>) -> bool {
        let is_stream = events.end - events.start >= FEWEST;
        is_stream && self.pay_in_a_stream(events.end)
    }

    /// Whether to take those of a batch of a stream that ends at `end`. Not in line, for who has one event.
    #[inline(never)]
    fn pay_in_a_stream(&mut self, end: Sequence) -> bool {
        self.are_its_own && (cfg!(loom) || !self.trial.is_first_at(end))
    }
}

/// Takes the lines of `events`, and of their stamps.
///
/// # Safety
///
/// The caller's stage [gates alone](Control::gates_alone), it has `events` (I2), and no borrow of them is left (I15).
#[inline(never)]
pub(super) unsafe fn take<E>(ring: &Ring<E>, events: Range<Sequence>) {
    if let Some(stamps) = &ring.control.stamps {
        // SAFETY: I15, by the caller: a stamp is written with the claim, and again with that of the next lap.
        unsafe { stamps.prefetcher().take(events.clone()) };
    }
    // SAFETY: I15, by the caller.
    unsafe { ring.buffer.take_lines(events) };
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::trial::EVENTS_PER_STRETCH;

    fn lines(are_its_own: bool) -> Lines {
        Lines { are_its_own, trial: Trial::starting_at(0) }
    }

    /// How many of so many `batches`, each of so many `events`, have their lines taken.
    fn taken(lines: &mut Lines, batches: u64, events: u64) -> usize {
        let start = |batch| batch * events;
        (0..batches).filter(|&batch| lines.pay(&(start(batch)..start(batch + 1)))).count()
    }

    #[test]
    fn lines_of_a_stream_are_taken_for_a_trial_at_least() {
        let batches = 3 * EVENTS_PER_STRETCH / 64;
        assert!(taken(&mut lines(true), batches, 64) > 0);
        assert!(taken(&mut lines(true), 3, EVENTS_PER_STRETCH + 1) > 0, "of long batches too");
    }

    #[test]
    fn lines_of_others_and_of_lone_events_are_left() {
        assert_eq!(taken(&mut lines(false), 1_000, 64), 0);
        assert_eq!(taken(&mut lines(true), 4_000, FEWEST - 1), 0);
    }
}
