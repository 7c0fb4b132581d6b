//! The claims: three threads claim numbers from one counter, one at a time, write a word for each
//! and stamp it. Without a reader, no thread waits for a free slot. With a reader, one thread reads
//! and backs off after each batch, and the others check its progress once per lap.
//!
//! ```text
//! thread 1 ─┐
//! thread 2 ─┼─> counter ─> a word in the slot of its number ─> the slot's stamp <─ (reader)
//! thread 3 ─┘
//! ```
//!
//! This is an upper bound for any ring with one order of all events of all producers. Each event
//! needs a unique number, so an atomic read-modify-write of one cache line, and a word for its
//! consumer. A claim expects the number after the thread's last one, and does not load the counter
//! first. With the reader, the case is such a ring and nothing else. It cannot be closed, no thread
//! parks, and a claim cannot be abandoned.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::{hint, thread};

use crossbeam_utils::CachePadded;

use super::leisure::Leisure;
use crate::load::topologies::sequencer;
use crate::machine::placement::Placement;
use crate::measure::crew::{Answers, Crew, RunError};
use crate::measure::run::Pass;

/// Threads that claim: the producers of the sequencer topology.
pub(super) const THREADS: usize = sequencer::PRODUCERS.len();
/// Slots that they write, as in most tables.
const SLOTS: usize = 65_536;

/// What a thread does after it has lost a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BackOff {
    /// The name in a report.
    pub(super) name: &'static str,
    /// Pause hints after the first lost claim. The number doubles with each further one.
    first: u32,
    /// Most pause hints.
    longest: u32,
}

impl BackOff {
    /// The candidates. A thread that retries at once takes the cache line from the thread that owns
    /// it.
    pub(super) const ALL: [Self; 3] = [
        Self { name: "at-once", first: 0, longest: 0 },
        Self { name: "64-to-256-hints", first: 64, longest: 256 },
        Self { name: "256-to-1024-hints", first: 256, longest: 1024 },
    ];
}

/// The shared state of the threads.
struct Shared {
    /// The next number.
    counter: CachePadded<AtomicU64>,
    /// The number of words that have been read.
    read: CachePadded<AtomicU64>,
    slots: Vec<AtomicU64>,
    stamps: Vec<AtomicU32>,
}

/// Claims `events` numbers, all threads together, and reads them if there is a `reader`. The
/// answers are those of [`expected`].
///
/// # Errors
///
/// [`RunError`] if a thread could not start.
pub(super) fn run(
    back_off: BackOff,
    reader: Option<Leisure>,
    events: u32,
    placement: Placement,
) -> Result<Pass, RunError> {
    let shared = Shared::new();
    let shared = &shared;
    let mut crew = Crew::new(placement);
    for (origin, producer) in sequencer::producers() {
        let share = sequencer::share(events, origin);
        crew.enlist(producer, move || {
            if reader.is_some() {
                shared.publish_gated(back_off, share);
                return Ok(Answers::new());
            }
            let mut expected = 0;
            Ok(vec![(0..share).fold(0, |sum, _| sum + shared.publish(back_off, &mut expected))])
        });
    }
    if let Some(leisure) = reader {
        crew.enlist("reader", move || Ok(vec![shared.read_all(events.into(), leisure)]));
    }
    let pass = Pass::one_by_one(crew.run()?);
    let answers = vec![shared.counter.load(Ordering::Relaxed), pass.answers.iter().sum()];
    Ok(Pass { answers, ..pass })
}

/// Returns the number of claims and the sum of the claimed numbers, which are unique.
pub(super) fn expected(events: u32) -> Answers {
    let events = u64::from(events);
    vec![events, events * events.saturating_sub(1) / 2]
}

impl Shared {
    fn new() -> Self {
        Self {
            counter: CachePadded::default(),
            read: CachePadded::default(),
            slots: (0..SLOTS).map(|_| AtomicU64::new(0)).collect(),
            stamps: (0..SLOTS).map(|_| AtomicU32::new(0)).collect(),
        }
    }

    /// Claims a number, which is `expected`, writes its slot and stamps it. Returns the number.
    #[inline(always)]
    fn publish(&self, back_off: BackOff, expected: &mut u64) -> u64 {
        let number = self.claim(back_off, expected);
        self.write(number);
        number
    }

    /// Publishes `events` words in slots that have been read.
    fn publish_gated(&self, back_off: BackOff, events: u32) {
        let (mut limit, mut expected) = (SLOTS as u64, 0);
        for _ in 0..events {
            let number = self.claim(back_off, &mut expected);
            while number >= limit {
                // Acquire: pairs with the Release in `read_all`; the reads of the slot have
                // completed.
                limit = self.read.load(Ordering::Acquire) + SLOTS as u64;
                if number >= limit {
                    thread::yield_now();
                }
            }
            self.write(number);
        }
    }

    #[inline(always)]
    fn write(&self, number: u64) {
        let slot = number as usize % SLOTS;
        self.slots[slot].store(number, Ordering::Relaxed);
        // Release: the ordering of a word that comes with the stamp.
        self.stamps[slot].store(stamp(number), Ordering::Release);
    }

    /// Reads `events` words in the order of their numbers. Returns their sum.
    fn read_all(&self, events: u64, leisure: Leisure) -> u64 {
        let (mut next, mut sum) = (0, 0);
        while next < events {
            let first = next;
            while next < events && self.is_there(next) {
                sum += self.slots[next as usize % SLOTS].load(Ordering::Relaxed);
                next += 1;
            }
            if next > first {
                self.take_lines(leisure, first..next);
                // Release: pairs with the Acquire in `publish_gated`.
                self.read.store(next, Ordering::Release);
                leisure.keep_away();
            } else {
                thread::yield_now();
            }
        }
        sum
    }

    fn take_lines(&self, leisure: Leisure, read: Range<u64>) {
        leisure.take_lines(&self.slots, read.clone(), |slot| {
            slot.store(slot.load(Ordering::Relaxed), Ordering::Relaxed);
        });
        leisure.take_lines(&self.stamps, read, |stamp| {
            stamp.store(stamp.load(Ordering::Relaxed), Ordering::Relaxed);
        });
    }

    #[inline(always)]
    fn is_there(&self, number: u64) -> bool {
        // Acquire: pairs with the Release in `write`; brings the word.
        self.stamps[number as usize % SLOTS].load(Ordering::Acquire) == stamp(number)
    }

    /// Claims `expected` if it is free, or else the next free number. Sets `expected` to the number
    /// after it.
    #[inline(always)]
    fn claim(&self, BackOff { first, longest, .. }: BackOff, expected: &mut u64) -> u64 {
        let (mut pauses, mut next) = (first, *expected);
        loop {
            // Relaxed suffices: the counter only assigns numbers.
            let swap = self.counter.compare_exchange_weak(
                next,
                next + 1,
                Ordering::Relaxed,
                Ordering::Relaxed,
            );
            if swap.is_ok() {
                *expected = next + 1;
                return next;
            }
            (0..pauses).for_each(|_| hint::spin_loop());
            pauses = (2 * pauses).min(longest);
            next = self.counter.load(Ordering::Relaxed);
        }
    }
}

/// Returns the stamp that shows that the slot of `number` has its word. No lap uses the stamp of a
/// slot that was never written.
#[inline(always)]
fn stamp(number: u64) -> u32 {
    (number / SLOTS as u64) as u32 + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_is_claimed_and_read_once() {
        for back_off in BackOff::ALL {
            for events in [1, 2, 3, 4, 100_000] {
                for reader in Leisure::ALL.map(Some).into_iter().chain([None]) {
                    let pass = run(back_off, reader, events, Placement::Free).unwrap();
                    assert_eq!(pass.answers, expected(events), "{} {events}", back_off.name);
                }
            }
        }
    }
}
