//! Whether a consumer of a small ring asks for the lines of a batch before it reads them.
//!
//! In a ring that fits into a first-level cache, between CPUs that are far from each other, both ends wait for lines more than
//! they work: a lap is a few exchanges long, and a CPU that fetches ahead by itself begins anew with each batch. Lines that are
//! asked for together come together. In a larger ring the CPU has fetched them by then, and where CPUs share a cache asking
//! takes longer than waiting. So it is tried. See `perf/results/experiments.md`.

use std::ops::Range;

use crate::Sequence;
use crate::ring_buffer::{Prefetcher, SMALL_RING};
use crate::trial::Trial;
use crate::wait::stream;

/// Bytes of events that are asked for ahead of the first that is read.
const BYTES_AHEAD: u64 = 2 << 10;
/// Where events take longer than this, a line sooner or later makes no difference.
const SLOW_NS: u64 = 100;

/// The lines that one consumer asks for.
#[derive(Debug)]
pub(super) struct Ahead {
    slots: Prefetcher,
    /// Most events that are asked for ahead; 0 where none are.
    most: u64,
    /// First sequence of which it was not settled whether to ask.
    asked: Sequence,
    /// Whether to leave them, the first way, or to ask.
    trial: Trial<SLOW_NS>,
}

impl Ahead {
    /// Of a consumer of these `slots` whose first event is `first`.
    pub(super) fn of(slots: Prefetcher, first: Sequence) -> Self {
        let is_small = slots.bytes() <= SMALL_RING;
        let most = if is_small { slots.slots_in(BYTES_AHEAD) } else { 0 };
        Self { slots, most, asked: first, trial: Trial::over_laps(slots.slots(), first) }
    }

    /// Asks for lines of the events of `known`, whose first is read next, if there is a stream of them and it pays.
    #[inline(always)]
    pub(super) fn ask(&mut self, known: Range<Sequence>) {
        let end = known.end.min(known.start + self.most);
        if end >= self.asked.max(known.start) + stream::FEWEST {
            self.ask_in_a_stream(known.start..end);
        }
    }

    /// As [`ask`](Self::ask), of events that are not all asked for. Not in line, for who has one event.
    #[inline(never)]
    fn ask_in_a_stream(&mut self, events: Range<Sequence>) {
        if !self.trial.is_first_at(events.start) {
            self.slots.fetch_to_read(events.start.max(self.asked)..events.end);
        }
        self.asked = events.end;
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Those of a consumer of a ring of `capacity` events of 8 bytes, which asks where the CPU can be asked.
    fn asking(capacity: usize) -> Ahead {
        let ahead = Ahead::of(Prefetcher::of_slice(&vec![0_u64; capacity]), 0);
        Ahead { trial: Trial::always_other(), ..ahead }
    }

    #[test]
    fn a_batch_is_asked_for_once_and_no_further_than_it_is_known() {
        let mut ahead = asking(1 << 10);
        if ahead.most == 0 {
            return; // no hints here
        }
        assert_eq!(ahead.most, 256);
        for (known, asked) in [
            (0..100, 100),
            (50..100, 100),
            (100..110, 100), // too few to be a stream
            (100..1_000, 356),
            (110..1_000, 356), // ten more are not worth it
            (200..1_000, 456),
            (1_000..1_024, 1_024),
        ] {
            ahead.ask(known.clone());
            assert_eq!(ahead.asked, asked, "{known:?}");
        }
    }

    #[test]
    fn nothing_is_asked_for_in_a_large_ring() {
        let mut ahead = asking(1 << 13);
        ahead.ask(0..1_000);
        assert_eq!(ahead.asked, 0);
    }
}
