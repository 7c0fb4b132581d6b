//! The singles: events of 8 bytes from one thread to another, each published by itself through a ring of words and the
//! cursor behind them. The consumer reads what the cursor shows, and then has some leisure.
//!
//! ```text
//! producer --> [ word | word | word | .. ] --> consumer      one release store for each word
//! ```
//!
//! Why it is the limit of unicast, one event at a time, in a ring whose events lie side by side: each event is a word and a
//! store that shows it, and it is that and nothing else: it cannot be closed, nobody sleeps, and nobody asks how the other
//! one does but by the two cursors.

use std::hint;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use crossbeam_utils::CachePadded;

use super::leisure::Leisure;
use crate::load::event::{First, digest_of};
use crate::load::fold::Fold;
use crate::machine::placement::Placement;
use crate::measure::crew::{Answers, Crew, RunError};
use crate::measure::run::Pass;

/// Slots of the ring: those of most tables.
const SLOTS: usize = 65_536;
/// Looks in vain before the CPU is offered to others.
const LOOKS: u32 = 1_024;

/// What the threads share.
struct Shared {
    /// Words that are there.
    published: CachePadded<AtomicU64>,
    /// Words that have been read.
    read: CachePadded<AtomicU64>,
    slots: Vec<AtomicU64>,
}

/// Hands over the events numbered `0..events` once. The answer is that of the unicast topology.
///
/// # Errors
///
/// [`RunError`] if a thread could not start.
pub(super) fn run(leisure: Leisure, events: u32, placement: Placement) -> Result<Pass, RunError> {
    let shared = Shared::new();
    let shared = &shared;
    let mut crew = Crew::new(placement);
    crew.enlist("producer", move || {
        shared.write_all(events);
        Ok(Answers::new())
    });
    crew.enlist("consumer", move || Ok(vec![shared.read_all(events.into(), leisure)]));
    Ok(Pass::one_by_one(crew.run()?))
}

impl Shared {
    fn new() -> Self {
        Self {
            published: CachePadded::default(),
            read: CachePadded::default(),
            slots: (0..SLOTS).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    /// Publishes each event by itself, in slots that have been read.
    fn write_all(&self, events: u32) {
        let mut limit = SLOTS as u64;
        for value in 0..events {
            let number = u64::from(value);
            if number == limit {
                // Acquire: the slots below are read no more.
                limit = SLOTS as u64 + look_until(&self.read, number - SLOTS as u64);
            }
            // Relaxed suffices: released by the next line.
            self.slots[number as usize % SLOTS].store(First::new(value, 0).0, Ordering::Relaxed);
            // Release: pairs with the Acquire in `look_until`; brings the word.
            self.published.store(number + 1, Ordering::Release);
        }
    }

    /// Reads all that is there, again and again. Returns the answer over `events` events.
    fn read_all(&self, events: u64, leisure: Leisure) -> u64 {
        let (mut next, mut fold) = (0, Fold::new());
        while next < events {
            let end = look_until(&self.published, next);
            for number in next..end {
                let word = self.slots[number as usize % SLOTS].load(Ordering::Relaxed);
                fold.add(digest_of(First(word).value(), &[]));
            }
            leisure.take_lines(&self.slots, next..end, |slot| {
                slot.store(slot.load(Ordering::Relaxed), Ordering::Relaxed);
            });
            next = end;
            // Release: pairs with the Acquire in `look_until`; the words are read no more.
            self.read.store(next, Ordering::Release);
            leisure.keep_away();
        }
        fold.answer()
    }
}

/// Looks until `cursor` has gone beyond `number`; how far it is then.
fn look_until(cursor: &AtomicU64, number: u64) -> u64 {
    loop {
        for _ in 0..LOOKS {
            // Acquire: pairs with the Release of whoever counts it up.
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
        for leisure in Leisure::ALL {
            for events in [1, 2, 1_000, SLOTS as u32, 3 * SLOTS as u32 + 7] {
                let pass = run(leisure, events, Placement::Free).unwrap();
                assert_eq!(
                    pass.answers,
                    unicast::expected::<PAD_8>(events),
                    "{} {events}",
                    leisure.name
                );
            }
        }
    }
}
