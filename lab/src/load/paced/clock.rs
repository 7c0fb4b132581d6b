//! The clock of all stamps: the CPU's time-stamp counter if it runs at one rate and equally on all
//! CPUs, otherwise the system clock.
//!
//! A CPU can read its counter before earlier loads complete. A CPU that predicts that an event is
//! available would stamp it before it arrives. So a read of the counter waits for all earlier
//! loads, as a read of the system clock does.

use std::hint::black_box;

/// Nanoseconds since the creation of the clock. Copies for other threads have the same time.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    counter: quanta::Clock,
    /// The counter at the creation of the clock.
    origin: u64,
}

/// Clock reads for [`Clock::cost`].
const LOOKS: u32 = 1_000;

impl Clock {
    /// Creates a clock that starts at zero. The first clock of a process takes up to 200 ms,
    /// because it compares the counter with the system clock.
    pub(crate) fn new() -> Self {
        let counter = quanta::Clock::new();
        let origin = counter.raw();
        Self { counter, origin }
    }

    /// Returns nanoseconds since the creation, after all earlier loads have completed.
    #[inline]
    pub(crate) fn now(&self) -> u64 {
        catch_up();
        self.counter.delta_as_nanos(self.origin, self.counter.raw())
    }

    /// Returns the mean time of a clock read, in nanoseconds.
    pub(crate) fn cost(&self) -> f64 {
        let before = self.now();
        (0..LOOKS).for_each(|_| {
            black_box(self.now());
        });
        (self.now() - before) as f64 / f64::from(LOOKS)
    }
}

/// Prevents the CPU from starting later instructions before all earlier loads have completed. The
/// system clock does this by itself.
#[inline(always)]
fn catch_up() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every CPU of this kind has it, and it changes nothing.
    unsafe {
        std::arch::x86_64::_mm_lfence();
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: barriers change nothing.
    unsafe {
        std::arch::asm!("dsb ishld", "isb", options(nostack, preserves_flags));
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn copies_tell_the_same_time() {
        let clock = Clock::new();
        let copy = clock.clone();
        let before = clock.now();
        let between = thread::spawn(move || copy.now()).join().unwrap();
        assert!((before..=clock.now()).contains(&between), "{before} {between}");
        assert!(clock.cost() > 0.0);
    }

    /// Returns this many numbers. Each needs a division of the one before it.
    #[cfg(target_arch = "x86_64")]
    fn divided(start: u64, times: u32) -> u64 {
        (0..times).fold(start, |number, _| u64::MAX / (number | 1))
    }

    #[cfg(target_arch = "x86_64")] // elsewhere a tick can be longer than this
    #[test]
    fn a_look_comes_after_what_the_cpu_has_not_done_yet() {
        const TIMES: u32 = 16;
        const MANY: u32 = 16;
        let clock = Clock::new();
        let time = |times: u32| {
            let before = clock.now();
            black_box(divided(black_box(before), times));
            clock.now() - before
        };
        let mut once: Vec<_> = (0..1_000).map(|_| time(TIMES)).collect();
        once.sort_unstable();
        let least = (0..1_000).map(|_| time(TIMES * MANY)).min().unwrap() / u64::from(MANY);
        let median = once[once.len() / 2];
        assert!(median * 2 > least, "{median} ns, of which the divisions alone take {least}");
    }
}
