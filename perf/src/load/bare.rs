//! The limits: a number there and back over words that each is written by one thread and lies on cache lines of its
//! own, and nothing else: what everything that goes from thread to thread is made of. Who looks as often as it can
//! takes the line from its writer, so each look may be followed by pause hints, or by work as long as one: the fastest way
//! is the limit.

use std::hint;
use std::sync::atomic::{AtomicU64, Ordering};

use crossbeam_utils::CachePadded;

use crate::load::exchange::{self, Exchange};
use crate::measure::crew::RunError;
use crate::measure::run::Pass;

/// What carries a number one way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Carrier {
    /// One word: the limit of any answer.
    Word,
    /// A slot of a ring with a stamp beside the number, on the same line: the limit where each number is
    /// on a line that was not there just before.
    Stamp,
    /// A slot of a ring, and the cursor that says that it is there: the limit where events lie side by side, as a
    /// slice shows them.
    Slot,
}

impl Carrier {
    /// All of them, the fastest first.
    pub(crate) const ALL: [Self; 3] = [Self::Word, Self::Stamp, Self::Slot];

    /// The name in a report.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Word => "bare",
            Self::Stamp => "bare-stamp",
            Self::Slot => "bare-slot",
        }
    }
}

/// How a thread looks for the other's number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Look {
    /// The name in a report.
    pub(crate) name: &'static str,
    /// Pause hints after each look.
    pauses: u32,
    /// Multiplications after each look, of which each needs the one before: 1 ns each. The look that follows need not wait
    /// for them, as it does for a hint.
    products: u32,
}

impl Look {
    /// Those to try. A moment is hardly any work: a word that is stored and loaded again, and multiplied twice. Why it is the
    /// fastest way on some CPUs is open (E61 in `perf/results/experiments.md`).
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

/// One way from thread to thread.
trait Way: Default + Sync {
    /// Sends `number` as that of a `turn`. Where it goes follows from the turn, as in a ring: else an answer would wait for
    /// the number before it knew where to go.
    fn send(&self, turn: u64, number: u64);

    /// Looks until the number of `turn` is there, which is the same.
    fn receive(&self, turn: u64, look: Look) -> u64;
}

#[derive(Default)]
struct Word(CachePadded<AtomicU64>);

impl Way for Word {
    #[inline(always)]
    fn send(&self, _: u64, number: u64) {
        // Release and Acquire: as a message needs them that would come with the number.
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

/// Numbers in a row, each with its stamp beside it.
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

/// Numbers in a row, as small events lie.
#[derive(Default)]
struct Slots {
    /// The turn of the last number that is there.
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
            // Has the slot's line brought while the cursor's is.
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
