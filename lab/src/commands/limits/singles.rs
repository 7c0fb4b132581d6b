//! The singles: 8-byte events from one thread to another, each published alone through a ring of
//! words and a cursor. The consumer reads the published words in parts. After each part it backs
//! off for a while, during which it can watch another word with the producer's progress.
//!
//! ```text
//! producer --> [ word | word | word | .. ] --> consumer      one release store for each word
//! ```
//!
//! This is the limit of unicast with single events, in a ring with adjacent events. Each event is
//! one word and one store that publishes it. The ring does only this. It cannot be closed, no
//! thread parks, and the threads read only the two cursors and that word.

use std::hint;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use crossbeam_utils::CachePadded;

use super::leisure::Leisure;
use crate::load::event::{First, digest_of};
use crate::load::fold::Fold;
use crate::machine::placement::Placement;
use crate::measure::crew::{Answers, Crew, RunError};
use crate::measure::run::Pass;

/// Slots of the ring, as in most tables.
pub(super) const SLOTS: usize = 65_536;
/// Slots of a small one.
pub(super) const FEW_SLOTS: usize = 1_024;
/// The reader releases slots in parts, this many per ring, so that the producer has free slots
/// while the others are read. In a small ring, halves reach 0.6 of the rate of quarters if CPUs
/// share no cache.
const PARTS: u64 = 4;
/// Failed polls before the thread yields the CPU.
const LOOKS: u32 = 1_024;

/// The shared state: a ring of `N` words.
struct Shared<const N: usize> {
    /// Published words.
    published: CachePadded<AtomicU64>,
    /// Words that were published when the writer last had to wait for slots.
    milestone: CachePadded<AtomicU64>,
    /// Words that have been read.
    read: CachePadded<AtomicU64>,
    slots: Vec<AtomicU64>,
}

/// Hands over the events numbered `0..events` once, through a ring of `N` words, a power of two.
/// The answer is that of the unicast topology.
///
/// # Errors
///
/// [`RunError`] if a thread could not start.
pub(super) fn run<const N: usize>(
    leisure: Leisure,
    events: u32,
    placement: Placement,
) -> Result<Pass, RunError> {
    let shared = Shared::<N>::new();
    let shared = &shared;
    let mut crew = Crew::new(placement);
    crew.enlist("producer", move || {
        shared.write_all(events, leisure);
        Ok(Answers::new())
    });
    crew.enlist("consumer", move || Ok(vec![shared.read_all(events.into(), leisure)]));
    Ok(Pass::one_by_one(crew.run()?))
}

impl<const N: usize> Shared<N> {
    fn new() -> Self {
        Self {
            published: CachePadded::default(),
            milestone: CachePadded::default(),
            read: CachePadded::default(),
            slots: (0..N).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    /// Publishes each event alone, in slots that have been read.
    fn write_all(&self, events: u32, leisure: Leisure) {
        let mut limit = N as u64;
        for value in 0..events {
            let number = u64::from(value);
            if number == limit {
                // Release: pairs with the Acquire in `read_all`; brings the words below.
                self.milestone.store(number, Ordering::Release);
                // Acquire: the reads of the slots below have completed.
                limit = N as u64 + look_until(&self.read, number - N as u64);
                leisure.ask_to_write(&self.slots, number..limit);
            }
            // Relaxed suffices: released by the next line.
            self.slots[number as usize % N].store(First::new(value, 0).0, Ordering::Relaxed);
            // Release: pairs with the Acquire in `look_until`; brings the word.
            self.published.store(number + 1, Ordering::Release);
        }
    }

    /// Reads all available events, repeatedly. Returns the answer over `events` events.
    fn read_all(&self, events: u64, leisure: Leisure) -> u64 {
        let (mut next, mut fold) = (0, Fold::new());
        let mut shown = None;
        while next < events {
            let end = shown.unwrap_or_else(|| look_until(&self.published, next));
            while next < end {
                let part = next..end.min(next + N as u64 / PARTS);
                next = part.end;
                self.read_part(part, leisure, &mut fold);
            }
            // Acquire: pairs with the Release in `write_all`; brings the words below.
            shown = leisure.watch(next, || self.milestone.load(Ordering::Acquire));
        }
        fold.answer()
    }

    /// Reads the available events, and releases their slots.
    #[inline(always)]
    fn read_part(&self, part: Range<u64>, leisure: Leisure, fold: &mut Fold) {
        leisure.ask_to_read(&self.slots, part.clone());
        for number in part.clone() {
            let word = self.slots[number as usize % N].load(Ordering::Relaxed);
            fold.add(digest_of(First(word).value(), &[]));
        }
        leisure.take_lines(&self.slots, part.clone(), |slot| {
            slot.store(slot.load(Ordering::Relaxed), Ordering::Relaxed);
        });
        // Release: pairs with the Acquire in `look_until`; the reads of the words have completed.
        self.read.store(part.end, Ordering::Release);
    }
}

/// Polls until `cursor` exceeds `number`, and returns its value.
fn look_until(cursor: &AtomicU64, number: u64) -> u64 {
    loop {
        for _ in 0..LOOKS {
            // Acquire: pairs with the Release of the thread that advances it.
            let seen = cursor.load(Ordering::Acquire);
            if seen > number {
                return seen;
            }
            hint::spin_loop();
        }
        thread::yield_now();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::event::PAD_8;
    use crate::load::topologies::unicast;

    #[test]
    fn singles_have_the_answer_of_unicast_however_the_consumer_spends_its_time() {
        for leisure in Leisure::ALL_AND_WATCHING {
            for events in [1, 2, 1_000, SLOTS as u32, 3 * SLOTS as u32 + 7] {
                let expected = unicast::expected::<PAD_8>(events);
                let pass = run::<SLOTS>(leisure, events, Placement::Free).unwrap();
                assert_eq!(pass.answers, expected, "{} {events}", leisure.name);
                let pass = run::<FEW_SLOTS>(leisure, events, Placement::Free).unwrap();
                assert_eq!(pass.answers, expected, "{} {events}, few slots", leisure.name);
            }
        }
    }
}
