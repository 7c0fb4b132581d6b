//! Prefetches along a batch of events while the consumer reads them one by one.
//!
//! ```text
//! batch  ├── event ──────────────┬── prefetched with it ──┤
//!            └──── BYTES_AHEAD ──┘                         └ nothing beyond: it is the producer's
//! ```
//!
//! The hardware prefetcher starts late. On some CPUs it does not run far enough ahead of cache
//! lines that another core has written, or it pauses for milliseconds.
//!
//! Measured gain in throughput (E43 and E12 in `lab/results/experiments.md`):
//!
//! - Xeon (Emerald Rapids), events of 32 bytes in batches of 64: 1.18 times.
//! - Xeon, three stages, events of 24 bytes, 8 Ki slots: 1.7 times.

use std::marker::PhantomData;

use lapwing_core::LINE;

use super::prefetch::{cpu, is_large};

/// Distance of the prefetch in bytes; one event if the event is larger. Also the most bytes that
/// are prefetched of one event.
const BYTES_AHEAD: usize = 2048;

/// The part of one batch that is still to be prefetched. Holds addresses, not pointers: nothing is
/// read through them.
#[derive(Debug)]
pub(crate) struct ReadAhead<E> {
    next: usize,
    end: usize,
    events: PhantomData<fn() -> E>,
}

impl<E> ReadAhead<E> {
    /// Starts at the first event of a batch.
    #[inline]
    pub(crate) fn of(events: &[E]) -> Self {
        let batch = events.as_ptr_range();
        let events_ahead = (BYTES_AHEAD / size_of::<E>().max(1)).max(1);
        let next = batch.start.addr() + events_ahead * size_of::<E>();
        Self { next, end: batch.end.addr(), events: PhantomData }
    }

    /// Prefetches a later event while the consumer reads the next one. Does nothing for small
    /// events, which share cache lines: a hint for each event would cost more than it saves.
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

    /// Returns how many of `events` were prefetched, and checks that all of them lie in the batch.
    fn prefetched<E: Debug>(events: &[E]) -> usize {
        let mut ahead = ReadAhead::of(events);
        let first = ahead.next;
        for _ in 0..events.len() {
            ahead.go_on();
        }
        assert!(ahead.next == first || ahead.next <= ahead.end, "{ahead:?}");
        (ahead.next - first) / size_of::<E>().max(1)
    }

    #[test]
    fn events_are_prefetched_once_and_never_beyond_the_batch() {
        assert_eq!(
            [1, 64, 65, 100].map(|count| prefetched(&vec![[0_u64; 4]; count])),
            [0, 0, 1, 36]
        );
        assert_eq!(
            [1, 8, 9, 100].map(|count| prefetched(&vec![[0_u64; 32]; count])),
            [0, 0, 1, 92]
        );
        assert_eq!([7, 10].map(|count| prefetched(&vec![[0_u64; 33]; count])), [0, 3]);
        assert_eq!([128, 129, 200].map(|count| prefetched(&vec![[0_u64; 2]; count])), [0, 1, 72]);
        assert_eq!([1, 4].map(|count| prefetched(&vec![[0_u64; 1000]; count])), [0, 3]);
    }

    #[test]
    fn small_events_are_left_to_the_cpu() {
        let small =
            (prefetched(&[0_u64; 1000]), prefetched(&[[0_u32; 3]; 1000]), prefetched(&[(); 1000]));
        assert_eq!((small, prefetched::<[u64; 8]>(&[])), ((0, 0, 0), 0));
    }
}
