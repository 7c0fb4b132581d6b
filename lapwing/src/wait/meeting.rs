//! Whether the two sides of a ring, its producers and its consumers, wait on one CPU beside busy
//! threads. Not here: how they wait then (`beside_busy_threads`).
//!
//! Each thread records its side and its CPU in a word of the ring when it begins a wait, and compares
//! that with the record before it. Sides that share a CPU wait in turns, so each finds the record of
//! the other side with its own CPU. One record of another CPU, and they count as apart again. Waits
//! of one side only say nothing about where the other one runs.

use lapwing_core::Padded;

use crate::cpu::this_cpu;
use crate::sync::{Figure, Ordering};

/// After the sides have followed each other so often on one CPU, all threads of the ring share it.
/// With four threads on two CPUs, so many waits on one of them in a row are unlikely.
const ENOUGH: u64 = 16;

/// The same for the process, whose sides are its rings: where two threads exchange requests and
/// answers over two channels, only one side of each waits.
static OF_THE_PROCESS: Padded<Figure> = Padded(Figure::new(0));

/// The last wait beside busy threads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Meeting {
    side: u64,
    cpu: u64,
    /// How often a side followed another one on the same CPU, at most [`ENOUGH`].
    together: u64,
}

/// Records that a thread begins a wait: whether it `consumes`, in the word of the ring, and its
/// `ring`, in that of the process. Does nothing where the system does not say on which CPU it runs.
pub(super) fn record(of_the_ring: &Figure, consumes: bool, ring: u64) {
    let Some(cpu) = this_cpu() else { return };
    for (word, side) in [(of_the_ring, u64::from(consumes)), (&OF_THE_PROCESS.0, ring)] {
        // O13, Relaxed: a figure. If several threads store at once, one value remains.
        let next = Meeting::decode(word.load(Ordering::Relaxed)).then(side, cpu);
        word.store(next.encode(), Ordering::Relaxed);
    }
}

/// Whether the threads that wait beside busy threads share one CPU: those of the ring, or those of
/// all rings of the process.
pub(super) fn is_on_one_cpu(of_the_ring: &Figure) -> bool {
    [of_the_ring, &OF_THE_PROCESS.0].into_iter().any(|word| {
        // O13, Relaxed: a figure.
        Meeting::decode(word.load(Ordering::Relaxed)).together == ENOUGH
    })
}

impl Meeting {
    /// The word holds the count in its lowest bits, then the CPU, then the side.
    const CPU_AT: u32 = 8;
    const SIDE_AT: u32 = 24;

    /// The record after a wait of `side` on `cpu`. Of each, it keeps as many bits as fit.
    fn then(self, side: u64, cpu: u64) -> Self {
        let side = Self::lowest(u64::BITS - Self::SIDE_AT, side);
        let cpu = Self::lowest(Self::SIDE_AT - Self::CPU_AT, cpu);
        let together = match (side == self.side, cpu == self.cpu) {
            (_, false) => 0,
            (false, true) => (self.together + 1).min(ENOUGH),
            (true, true) => self.together,
        };
        Self { side, cpu, together }
    }

    const fn lowest(bits: u32, number: u64) -> u64 {
        number & ((1 << bits) - 1)
    }

    fn decode(word: u64) -> Self {
        Self {
            side: word >> Self::SIDE_AT,
            cpu: Self::lowest(Self::SIDE_AT - Self::CPU_AT, word >> Self::CPU_AT),
            together: Self::lowest(Self::CPU_AT, word),
        }
    }

    const fn encode(self) -> u64 {
        self.side << Self::SIDE_AT | self.cpu << Self::CPU_AT | self.together
    }
}

#[cfg(all(test, not(loom)))]
pub(super) mod tests {
    use super::*;

    /// Stores a record of many waits on the CPU of this thread.
    pub(in crate::wait) fn pretend_one_cpu(word: &Figure) {
        let cpu = this_cpu().unwrap_or_default();
        word.store(Meeting { side: 0, cpu, together: ENOUGH }.encode(), Ordering::Relaxed);
    }

    /// The record after waits of these sides on these CPUs.
    fn after(waits: impl IntoIterator<Item = (u64, u64)>) -> Meeting {
        waits.into_iter().fold(Meeting::default(), |meeting, (side, cpu)| {
            Meeting::decode(meeting.then(side, cpu).encode())
        })
    }

    /// 100 waits of two sides in turns on these CPUs.
    fn in_turns(cpus: [u64; 2]) -> impl Iterator<Item = (u64, u64)> {
        (0..100).map(move |wait| (wait % 2, cpus[wait as usize % 2]))
    }

    #[test]
    fn sides_that_wait_in_turns_on_one_cpu_share_it() {
        assert_eq!(after(in_turns([3, 3])).together, ENOUGH);
        assert_eq!(after(in_turns([3, 4])).together, 0);
        assert!(after(in_turns([3, 3]).take(ENOUGH as usize)).together < ENOUGH);
    }

    /// The other side may run elsewhere, and never wait.
    #[test]
    fn waits_of_one_side_say_nothing_about_the_other() {
        let alone = (0..100).map(|_| (1, 3));
        assert!(after(alone.clone()).together < ENOUGH);
        assert_eq!(after(in_turns([3, 3]).chain(alone)).together, ENOUGH);
    }

    #[test]
    fn one_wait_on_another_cpu_ends_it() {
        assert_eq!(after(in_turns([3, 3]).chain([(0, 4)])).together, 0);
        assert_eq!(after(in_turns([3, 3]).chain([(1, 4)])).together, 0);
    }

    #[test]
    fn the_highest_numbers_fit() {
        let last = after([(u64::MAX, u64::MAX)]);
        assert_eq!((last.side, last.cpu, last.together), ((1 << 40) - 1, 0xffff, 0));
    }
}
