//! Whether to prefetch along a batch while its events are read one by one, and how far ahead.
//!
//! ```text
//! batch  ├── event ──────────────┬── prefetched with it ──┤
//!            └──── BYTES_AHEAD ──┘                         └ nothing beyond: that is the producer's
//! ```
//!
//! The hardware prefetcher starts late. On some CPUs it does not run far enough ahead of lines that another
//! CPU has written, or pauses for milliseconds.
//!
//! Worth (`perf/results/experiments.md`, "Lines of a batch" and "A CPU that fetches nothing ahead"): 32 bytes in
//! batches of 64 1.18 on a Xeon (Emerald Rapids); three stages of 24 bytes, 8 Ki slots, 1.7 on an EPYC (Zen 4).

use std::marker::PhantomData;

use super::prefetch::{LINE, cpu, is_large};

/// Distance of the prefetch in bytes, or one event if that is larger. Also the most that is prefetched of one
/// event.
const BYTES_AHEAD: usize = 2048;

/// What is left to prefetch of one batch. It holds addresses, not pointers: nothing is read through them.
#[derive(Debug)]
pub(crate) struct ReadAhead<E> {
    next: usize,
    end: usize,
    events: PhantomData<fn() -> E>,
}

impl<E> ReadAhead<E> {
    /// For a batch that is read from its first event on.
    #[inline]
    pub(crate) fn of(events: &[E]) -> Self {
        let batch = events.as_ptr_range();
        let events_ahead = (BYTES_AHEAD / size_of::<E>().max(1)).max(1);
        let next = batch.start.addr() + events_ahead * size_of::<E>();
        Self { next, end: batch.end.addr(), events: PhantomData }
    }

    /// Prefetches an event further on, as the next event of the batch is read. Small events share their
    /// lines: there, a hint for each event would cost more than it saves.
    #[inline]
    pub(crate) fn go_on(&mut self) {
        if self.is_done() {
            return;
        }
        let bytes = size_of::<E>().min(BYTES_AHEAD);
        (0..bytes).step_by(LINE).for_each(|offset| cpu::hint_to_read(self.next + offset));
        self.next += size_of::<E>();
    }

    /// Whether nothing is left to prefetch.
    #[inline]
    pub(crate) fn is_done(&self) -> bool {
        !is_large(size_of::<E>()) || self.next >= self.end
    }
}

#[cfg(all(test, not(loom), not(lapwing_plain)))]
mod tests {
    use std::fmt::Debug;

    use super::*;

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

    #[test]
    fn small_events_are_left_to_the_cpu() {
        let small = (asked(&[0_u64; 1000]), asked(&[[0_u32; 3]; 1000]), asked(&[(); 1000]));
        assert_eq!((small, asked::<[u64; 8]>(&[])), ((0, 0, 0), 0));
    }
}
