//! Fetching the lines of a batch ahead of whoever reads its events one by one.
//!
//! ```text
//! batch  ├── event ──────────────┬── asked for with it ──┤
//!            └──── BYTES_AHEAD ──┘                        └ nothing beyond: that is a producer's
//! ```
//!
//! The CPU fetches ahead of a stream by itself, but not far enough for lines that another CPU has written.
//! See `perf/results/experiments.md`.

use std::marker::PhantomData;

use super::prefetcher::{LINE, cpu, is_large};

/// How far ahead, in bytes, or the next event if that is larger; and most that is asked for of one.
const BYTES_AHEAD: usize = 2048;

/// What is left to ask for of one batch. Addresses, not pointers: nothing is read through them.
#[derive(Debug)]
pub(crate) struct ReadAhead<E> {
    next: usize,
    end: usize,
    events: PhantomData<fn() -> E>,
}

impl<E> ReadAhead<E> {
    /// Of a batch that is read from its first event on.
    #[inline(always)]
    pub(crate) fn of(events: &[E]) -> Self {
        let batch = events.as_ptr_range();
        let events_ahead = (BYTES_AHEAD / size_of::<E>().max(1)).max(1);
        let next = batch.start.addr() + events_ahead * size_of::<E>();
        Self { next, end: batch.end.addr(), events: PhantomData }
    }

    /// Asks for the lines of an event further on, as the next event of the batch is read. Small events share
    /// their lines with others: there a hint for each would cost more than it saves.
    #[inline(always)]
    pub(crate) fn go_on(&mut self) {
        if !is_large(size_of::<E>()) || self.next >= self.end {
            return;
        }
        let bytes = size_of::<E>().min(BYTES_AHEAD);
        (0..bytes).step_by(LINE).for_each(|offset| cpu::hint_to_read(self.next + offset));
        self.next += size_of::<E>();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::fmt::Debug;

    use super::*;

    /// How many of `events` were asked for, and whether all of it lies in the batch.
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
        assert_eq!([1, 4].map(|count| asked(&vec![[0_u64; 1000]; count])), [0, 3]);
    }

    #[test]
    fn small_events_are_left_to_the_cpu() {
        assert_eq!((asked(&[0_u64; 1000]), asked(&[(); 1000]), asked::<[u64; 8]>(&[])), (0, 0, 0));
    }
}
