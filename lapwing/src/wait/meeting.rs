//! Whether the threads of a ring that wait beside busy threads share one CPU. Not here: how they
//! wait then (`beside_busy_threads`).
//!
//! Each thread records itself and its CPU in a word of the ring when it begins a wait, and compares
//! that with the record of the thread before it. Threads that work on one CPU wait in turns, so each
//! finds the record of another thread with its own CPU. One record of another CPU, and the threads
//! count as apart again. A thread that finds its own record has learnt nothing.

use lapwing_core::Padded;

use crate::cpu::this_cpu;
use crate::sync::{Figure, Ordering, this_thread};

/// After this many waits of different threads on one CPU, all threads of the ring share it. With
/// four threads on two CPUs, so many waits on one of them in a row are unlikely.
const ENOUGH: u64 = 16;

/// The last wait beside busy threads.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Meeting {
    thread: u64,
    cpu: u64,
    /// How often in a row a thread followed another one on the same CPU, at most [`ENOUGH`].
    together: u64,
}

/// The same for all rings of the process: where two threads exchange requests and answers over two
/// channels, only one thread waits in each.
static OF_THE_PROCESS: Padded<Figure> = Padded(Figure::new(0));

/// Records, in the word of a ring and in that of the process, that the calling thread begins a wait.
/// Does nothing where the system does not say on which CPU it runs.
pub(super) fn record(of_the_ring: &Figure) {
    let Some(cpu) = this_cpu() else { return };
    for word in [of_the_ring, &OF_THE_PROCESS.0] {
        // O13, Relaxed: a figure. If several threads store at once, one value remains.
        let next = Meeting::decode(word.load(Ordering::Relaxed)).then(this_thread(), cpu);
        word.store(next.encode(), Ordering::Relaxed);
    }
}

/// Whether the threads that wait beside busy threads share one CPU: those of the ring, or those of
/// all rings of the process.
pub(super) fn is_on_one_cpu(of_the_ring: &Figure) -> bool {
    // O13, Relaxed: a figure.
    let is_together =
        |word: &Figure| Meeting::decode(word.load(Ordering::Relaxed)).together == ENOUGH;
    is_together(of_the_ring) || is_together(&OF_THE_PROCESS.0)
}

impl Meeting {
    /// The word holds the count in its lowest bits, then the CPU, then the thread.
    const CPU_AT: u32 = 8;
    const THREAD_AT: u32 = 24;
    /// Two threads are at least this many bytes apart, so these bits do not tell them apart.
    const BITS_IN_A_THREAD: u32 = 4;

    /// The record after a wait of `thread` on `cpu`.
    fn then(self, thread: u64, cpu: u64) -> Self {
        let thread = Self::cut(thread >> Self::BITS_IN_A_THREAD, u64::BITS - Self::THREAD_AT);
        let cpu = Self::cut(cpu, Self::THREAD_AT - Self::CPU_AT);
        let together = match (thread == self.thread, cpu == self.cpu) {
            (_, false) => 0,
            (false, true) => (self.together + 1).min(ENOUGH),
            (true, true) => self.together,
        };
        Self { thread, cpu, together }
    }

    /// The lowest `bits` of `number`.
    const fn cut(number: u64, bits: u32) -> u64 {
        number & ((1 << bits) - 1)
    }

    fn decode(word: u64) -> Self {
        Self {
            thread: word >> Self::THREAD_AT,
            cpu: Self::cut(word >> Self::CPU_AT, Self::THREAD_AT - Self::CPU_AT),
            together: Self::cut(word, Self::CPU_AT),
        }
    }

    const fn encode(self) -> u64 {
        self.thread << Self::THREAD_AT | self.cpu << Self::CPU_AT | self.together
    }
}

#[cfg(all(test, not(loom)))]
pub(super) mod tests {
    use super::*;

    /// Stores a record of many waits on the CPU of this thread.
    pub(in crate::wait) fn pretend_one_cpu(word: &Figure) {
        let thread = this_thread() >> Meeting::BITS_IN_A_THREAD;
        let cpu = this_cpu().unwrap_or_default();
        word.store(Meeting { thread, cpu, together: ENOUGH }.encode(), Ordering::Relaxed);
    }

    /// The record after waits of these threads on these CPUs.
    fn after(waits: impl IntoIterator<Item = (u64, u64)>) -> Meeting {
        waits.into_iter().fold(Meeting::default(), |meeting, (thread, cpu)| {
            Meeting::decode(meeting.then(thread << 12, cpu).encode())
        })
    }

    fn two_in_turns(cpus: [u64; 2]) -> impl Iterator<Item = (u64, u64)> {
        (0..100).map(move |wait| (7 + wait % 2, cpus[wait as usize % 2]))
    }

    #[test]
    fn threads_that_wait_in_turns_on_one_cpu_share_it() {
        assert_eq!(after(two_in_turns([3, 3])).together, ENOUGH);
        assert_eq!(after(two_in_turns([3, 4])).together, 0);
        assert!(after(two_in_turns([3, 3]).take(ENOUGH as usize)).together < ENOUGH);
    }

    #[test]
    fn a_thread_that_waits_alone_learns_nothing() {
        let alone = (0..100).map(|_| (7, 3));
        assert!(after(alone.clone()).together < ENOUGH);
        assert_eq!(after(two_in_turns([3, 3]).chain(alone)).together, ENOUGH);
    }

    #[test]
    fn one_wait_on_another_cpu_ends_it() {
        assert_eq!(after(two_in_turns([3, 3]).chain([(7, 4)])).together, 0);
        assert_eq!(after(two_in_turns([3, 3]).chain([(8, 4)])).together, 0);
    }

    #[test]
    fn the_highest_numbers_fit() {
        let last = after([(u64::MAX >> 12, 0xffff)]);
        assert_eq!((last.cpu, last.together), (0xffff, 0));
    }
}
