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
//! Of consumers side by side it is the last that takes a line, whichever is: those that the others have let go of already.
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

/// Whether lines are taken of so many `events` that are let go of together.
#[inline(always)]
pub(super) const fn are_of_a_stream(events: u64) -> bool {
    events >= FEWEST
}

/// The lines of one consumer's events.
#[derive(Debug)]
pub(super) struct Lines {
    /// Who else holds producers back; `None` where lines are never taken.
    beside: Option<Box<[StageIndex]>>,
    /// Whether to leave them, the first way, or to take them.
    trial: Trial<SLOW_NS>,
}

impl Lines {
    /// Of the consumer of `stage`, whose first event is `first`.
    pub(super) fn of(control: &Control, stage: StageIndex, first: Sequence) -> Self {
        let beside = if Prefetcher::TAKES_LINES { control.gating_beside(stage) } else { None };
        Self { beside, trial: Trial::over_laps(control.capacity, first) }
    }

    /// Those of `events`, [of a stream](are_of_a_stream), done and about to be given back, whose lines to take: nobody else has
    /// them.
    pub(super) fn due(
        &mut self,
        control: &Control,
        events: Range<Sequence>,
    ) -> Option<Range<Sequence>> {
        let beside = self.beside.as_deref()?;
        if !cfg!(loom) && self.trial.is_first_at(events.end) {
            return None;
        }
        let end = events.end.min(control.finished_by_all(beside));
        (end > events.start).then_some(events.start..end)
    }
}

/// Takes the lines of `events`, and of their stamps.
///
/// # Safety
///
/// The caller's stage has `events` (I2), no borrow of them is left, and all that [gate beside it](Control::gating_beside) have
/// finished them (I15).
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

    const CAPACITY: u64 = 1 << 10;

    /// Of the first of `stages` side by side.
    fn side_by_side(stages: usize) -> (Control, Lines) {
        let control = Control::of_graph(CAPACITY, None, &vec![&[][..]; stages]);
        let beside = control.gating_beside(0);
        (control, Lines { beside, trial: Trial::starting_at(0) })
    }

    /// How many of so many `batches`, each of so many `events`, have their lines taken.
    fn taken((control, lines): &mut (Control, Lines), batches: u64, events: u64) -> usize {
        let start = |batch| batch * events;
        let batch = |batch| start(batch)..start(batch + 1);
        (0..batches).filter(|&n| lines.due(control, batch(n)).is_some()).count()
    }

    #[test]
    fn lines_of_a_stream_are_taken_for_a_trial_at_least() {
        let batches = 3 * EVENTS_PER_STRETCH / 64;
        assert!(taken(&mut side_by_side(1), batches, 64) > 0);
        assert!(taken(&mut side_by_side(1), 3, EVENTS_PER_STRETCH + 1) > 0, "of long batches too");
    }

    #[test]
    fn lines_of_lone_events_are_left() {
        assert!(!are_of_a_stream(FEWEST - 1) && are_of_a_stream(FEWEST));
        assert!(!are_of_a_stream(1), "a lone one");
    }

    #[test]
    fn lines_are_taken_of_events_that_all_beside_have_finished() {
        let (control, lines) = side_by_side(3);
        let mut lines = Lines { trial: Trial::always_other(), ..lines };
        let mut taken = |left, right| {
            control.advance(1, left);
            control.advance(2, right);
            lines.due(&control, 100..200)
        };
        assert_eq!(taken(0, 0), None);
        assert_eq!(taken(300, 100), None);
        assert_eq!(taken(300, 101), Some(100..101));
        assert_eq!(taken(300, 150), Some(100..150));
        assert_eq!(taken(300, 300), Some(100..200));
        control.detach(1);
        assert_eq!(lines.due(&control, 200..300), Some(200..300), "one has left");
    }

    #[test]
    fn lines_are_left_where_producers_do_not_wait_for_the_stage() {
        let mut lines = Lines { beside: None, trial: Trial::always_other() };
        assert_eq!(lines.due(&side_by_side(1).0, 100..200), None);
    }
}
