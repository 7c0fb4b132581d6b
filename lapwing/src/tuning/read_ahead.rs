//! Whether to prefetch along a batch while its events are read one by one, and how far ahead.
//!
//! ```text
//! batch  ├── event ──────────────┬── prefetched with it ──┤
//!            └──── BYTES_AHEAD ──┘                         └ nothing beyond: that is the producer's
//! ```
//!
//! The hardware prefetcher starts late. On some CPUs it does not run far enough ahead of lines that another
//! CPU has written, or pauses for milliseconds. A short batch is therefore always prefetched. For long
//! batches each thread runs an A/B test ([`ab_test`](super::ab_test)). See `perf/results/experiments.md`.

use std::cell::Cell;
use std::marker::PhantomData;

use super::ab_test::AbTest;
use super::prefetch::{LINE, cpu, is_large};
use crate::Sequence;

/// Distance of the prefetch in bytes, or one event if that is larger. Also the most that is prefetched of one
/// event.
const BYTES_AHEAD: usize = 2048;
/// A batch of more bytes is long.
const SHORT_BYTES: usize = 32 << 10;
/// If events of long batches take longer than this, their lines make no difference.
const SLOW_NS: u64 = 100;

thread_local! {
    /// What this thread has learnt. Per thread, since a reader of a slice may not know its stage.
    static LEARNT: Cell<Learnt> = Cell::default();
}

/// Whether it pays to prefetch long batches.
#[derive(Debug, Clone, Copy)]
struct Learnt {
    test: AbTest<SLOW_NS>,
    /// Events of long batches so far.
    events: Sequence,
}

impl Default for Learnt {
    fn default() -> Self {
        Self { test: AbTest::starting_at(0), events: 0 }
    }
}

impl Learnt {
    /// Whether to prefetch the next long batch, which has `events`.
    fn asks(&mut self, events: u64) -> bool {
        let asks = self.test.is_first_at(self.events);
        self.events += events;
        asks
    }

    /// As [`asks`](Self::asks), for this thread.
    #[cold]
    #[inline(never)]
    fn asks_here(events: usize) -> bool {
        let mut learnt = LEARNT.get();
        let asks = learnt.asks(events as u64);
        LEARNT.set(learnt);
        asks
    }
}

/// What is left to prefetch of one batch. It holds addresses, not pointers: nothing is read through them.
#[derive(Debug)]
pub(crate) struct ReadAhead<E> {
    next: usize,
    end: usize,
    events: PhantomData<fn() -> E>,
}

impl<E> ReadAhead<E> {
    /// For a batch that is read from its first event on.
    #[inline(always)]
    pub(crate) fn of(events: &[E]) -> Self {
        let batch = events.as_ptr_range();
        let events_ahead = (BYTES_AHEAD / size_of::<E>().max(1)).max(1);
        let next = batch.start.addr() + events_ahead * size_of::<E>();
        let is_long = is_large(size_of::<E>()) && size_of_val(events) > SHORT_BYTES;
        let is_left = cpu::HAS_HINTS && is_long && !Learnt::asks_here(events.len());
        let end = if is_left { 0 } else { batch.end.addr() };
        Self { next, end, events: PhantomData }
    }

    /// Prefetches an event further on, as the next event of the batch is read. Small events share their
    /// lines: there, a hint for each event would cost more than it saves.
    #[inline(always)]
    pub(crate) fn go_on(&mut self) {
        if self.is_done() {
            return;
        }
        let bytes = size_of::<E>().min(BYTES_AHEAD);
        (0..bytes).step_by(LINE).for_each(|offset| cpu::hint_to_read(self.next + offset));
        self.next += size_of::<E>();
    }

    /// Whether nothing is left to prefetch.
    #[inline(always)]
    pub(crate) fn is_done(&self) -> bool {
        !is_large(size_of::<E>()) || self.next >= self.end
    }
}

#[cfg(all(test, not(loom), not(lapwing_plain)))]
mod tests {
    use std::fmt::Debug;

    use super::*;
    use crate::tuning::ab_test::EVENTS_PER_STRETCH;

    /// How many of `events` were prefetched. Checks that all of it lies in the batch.
    fn asked<E: Debug>(events: &[E]) -> usize {
        let mut ahead = ReadAhead::of(events);
        let first = ahead.next;
        for _ in 0..events.len() {
            ahead.go_on();
        }
        assert!(ahead.next == first || ahead.next <= ahead.end, "{ahead:?}");
        (ahead.next - first) / size_of::<E>().max(1)
    }

    #[test]
    fn events_are_asked_for_once_and_never_beyond_the_batch() {
        assert_eq!([1, 64, 65, 100].map(|count| asked(&vec![[0_u64; 4]; count])), [0, 0, 1, 36]);
        assert_eq!([1, 8, 9, 100].map(|count| asked(&vec![[0_u64; 32]; count])), [0, 0, 1, 92]);
        assert_eq!([7, 10].map(|count| asked(&vec![[0_u64; 33]; count])), [0, 3]);
        assert_eq!([128, 129, 200].map(|count| asked(&vec![[0_u64; 2]; count])), [0, 1, 72]);
        assert_eq!([1, 4].map(|count| asked(&vec![[0_u64; 1000]; count])), [0, 3]);
    }

    /// Whether this thread leaves batches of `events` alone, and whether it prefetches them.
    fn ways(events: usize) -> [bool; 2] {
        let batch = vec![[0_u64; 4]; events];
        let mut ways = [false; 2];
        (0..256).for_each(|_| ways[usize::from(!ReadAhead::of(&batch).is_done())] = true);
        ways
    }

    #[test]
    fn long_batches_are_tried_both_ways_and_short_ones_always_asked_for() {
        assert_eq!(ways(SHORT_BYTES / 32), [false, true]);
        assert_eq!(ways(SHORT_BYTES / 32 + 1), [cpu::HAS_HINTS, true]);
    }

    #[test]
    fn batches_are_counted_by_their_events_and_the_first_are_asked_for() {
        let mut learnt = Learnt::default();
        let most_of_a_stretch = EVENTS_PER_STRETCH - 1;
        let asked = [0; 3].map(|_: u64| learnt.asks(most_of_a_stretch));
        assert_eq!((asked, learnt.events), ([true; 3], 3 * most_of_a_stretch));
    }

    #[test]
    fn small_events_are_left_to_the_cpu() {
        let small = (asked(&[0_u64; 1000]), asked(&[[0_u32; 3]; 1000]), asked(&[(); 1000]));
        assert_eq!((small, asked::<[u64; 8]>(&[])), ((0, 0, 0), 0));
    }
}
