//! The limits: round trips of a number over bare words. One thread writes each word, and each word
//! has its own cache lines. Every transfer between threads needs at least this. A thread that polls
//! without a break takes the cache line from its writer. So pause hints or work of similar length
//! can follow each poll. The fastest way is the limit.

use std::hint;
use std::sync::atomic::{AtomicU64, Ordering};

use crossbeam_utils::CachePadded;

use crate::load::exchange::{self, Exchange};
use crate::measure::crew::RunError;
use crate::measure::run::Pass;

/// The carrier of a number in one direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Carrier {
    /// One word: the limit of any answer.
    Word,
    /// A slot of a ring with a stamp in the same cache line. It is the limit if each number is in a
    /// cache line that was not transferred just before.
    Stamp,
    /// A slot of a ring, and a cursor that makes it available. It is the limit if events are
    /// adjacent, as in a slice.
    Slot,
}

impl Carrier {
    /// All of them, the fastest first.
    pub(crate) const ALL: [Self; 3] = [Self::Word, Self::Stamp, Self::Slot];

    /// Returns the name in a report.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Word => "bare",
            Self::Stamp => "bare-stamp",
            Self::Slot => "bare-slot",
        }
    }
}

/// How a thread polls for the other thread's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Look {
    /// The name in a report.
    pub(crate) name: &'static str,
    /// Pause hints after each poll.
    pauses: u32,
    /// Multiplications after each poll, 1 ns each. Each needs the result of the one before. The
    /// next poll need not wait for them, but it waits for a hint.
    products: u32,
}

impl Look {
    /// The ways to try. `spin-moment` does hardly any work: it stores and loads a word and
    /// multiplies it twice. It is not known why this is the fastest way on some CPUs
    /// (E9 and E61 in `lab/results/experiments.md`).
    pub(crate) const ALL: [Self; 5] = [
        Self { name: "spin", pauses: 0, products: 0 },
        Self { name: "spin-moment", pauses: 0, products: 2 },
        Self { name: "spin-hint", pauses: 1, products: 0 },
        Self { name: "spin-3-hints", pauses: 3, products: 0 },
        Self { name: "spin-work", pauses: 0, products: 24 },
    ];

    #[inline(always)]
    fn pause(self) {
        (0..self.pauses).for_each(|_| hint::spin_loop());
        if self.products > 0 {
            let product = |word: u32, _| word.wrapping_mul(word).wrapping_add(1);
            hint::black_box((0..self.products).fold(hint::black_box(self.products), product));
        }
    }
}

/// Exchanges the numbers of `exchange` once.
///
/// # Errors
///
/// [`RunError`] if a thread could not start.
pub(crate) fn run(carrier: Carrier, look: Look, exchange: Exchange) -> Result<Pass, RunError> {
    match carrier {
        Carrier::Word => over::<Word>(look, exchange),
        Carrier::Stamp => over::<Stamped>(look, exchange),
        Carrier::Slot => over::<Slots>(look, exchange),
    }
}

fn over<W: Way>(look: Look, exchange: Exchange) -> Result<Pass, RunError> {
    let [there, back]: [W; 2] = Default::default();
    let call = |number| {
        there.send(number, number);
        Ok(back.receive(number, look))
    };
    let echo = |turn| {
        back.send(turn, there.receive(turn, look));
        Ok(())
    };
    exchange::run(exchange, call, echo)
}

/// One direction between two threads.
trait Way: Default + Sync {
    /// Sends `number` in this `turn`. The turn determines the slot, as in a ring. Otherwise an
    /// answer would need the number before it knows the slot.
    fn send(&self, turn: u64, number: u64);

    /// Polls until the number of `turn` is available. The number equals the turn.
    fn receive(&self, turn: u64, look: Look) -> u64;
}

#[derive(Default)]
struct Word(CachePadded<AtomicU64>);

impl Way for Word {
    #[inline(always)]
    fn send(&self, _: u64, number: u64) {
        // Release and Acquire: the ordering of a word that publishes a message.
        self.0.store(number, Ordering::Release);
    }

    #[inline(always)]
    fn receive(&self, turn: u64, look: Look) -> u64 {
        loop {
            let seen = self.0.load(Ordering::Acquire);
            if seen == turn {
                return seen;
            }
            look.pause();
        }
    }
}

/// Numbers in an array, each with its stamp beside it.
#[derive(Default)]
struct Stamped {
    slots: CachePadded<[(AtomicU64, AtomicU64); 32]>,
}

impl Stamped {
    #[inline(always)]
    fn slot(&self, turn: u64) -> &(AtomicU64, AtomicU64) {
        &self.slots[turn as usize % self.slots.len()]
    }
}

impl Way for Stamped {
    #[inline(always)]
    fn send(&self, turn: u64, number: u64) {
        let (stamp, slot) = self.slot(turn);
        // Relaxed suffices: released by the stamp.
        slot.store(number, Ordering::Relaxed);
        stamp.store(turn, Ordering::Release);
    }

    #[inline(always)]
    fn receive(&self, turn: u64, look: Look) -> u64 {
        let (stamp, slot) = self.slot(turn);
        // Acquire: pairs with the Release in `send`; brings the slot.
        while stamp.load(Ordering::Acquire) != turn {
            look.pause();
        }
        slot.load(Ordering::Relaxed)
    }
}

/// Numbers in an array, as small events lie in memory.
#[derive(Default)]
struct Slots {
    /// The turn of the last available number.
    cursor: CachePadded<AtomicU64>,
    slots: CachePadded<[AtomicU64; 32]>,
}

impl Slots {
    #[inline(always)]
    fn slot(&self, turn: u64) -> &AtomicU64 {
        &self.slots[turn as usize % self.slots.len()]
    }
}

impl Way for Slots {
    #[inline(always)]
    fn send(&self, turn: u64, number: u64) {
        // Relaxed suffices: released by the cursor.
        self.slot(turn).store(number, Ordering::Relaxed);
        self.cursor.store(turn, Ordering::Release);
    }

    #[inline(always)]
    fn receive(&self, turn: u64, look: Look) -> u64 {
        // Acquire: pairs with the Release in `send`; brings the slot.
        while self.cursor.load(Ordering::Acquire) != turn {
            // Loads the slot's cache line while the cursor's is under way.
            hint::black_box(self.slot(turn).load(Ordering::Relaxed));
            look.pause();
        }
        self.slot(turn).load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::placement::Placement;

    #[test]
    fn every_way_brings_the_numbers_whichever_way_one_looks() {
        for carrier in Carrier::ALL {
            for look in Look::ALL {
                let exchange = Exchange { exchanges: 100, placement: Placement::Free, pause_ns: 0 };
                assert_eq!(run(carrier, look, exchange).unwrap().answers, [5_050]);
            }
        }
    }
}
