//! The clock of all stamps: the time-stamp counter of the CPU where it runs at one rate and alike on all
//! CPUs, the system's clock elsewhere.
//!
//! A CPU reads its counter when it gets there, which may be before the loads in front of it have their lines: whoever has
//! guessed that an event is there would stamp it before it came. So a look at the counter begins when all before it has
//! ended, as a look at the system's clock does.

use std::hint::black_box;

/// Nanoseconds since the clock was made. Copies for other threads tell the same time.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    counter: quanta::Clock,
    /// What the counter told when the clock was made.
    origin: u64,
}

/// Looks at the clock for [`Clock::cost`].
const LOOKS: u32 = 1_000;

impl Clock {
    /// A clock that begins now. The first of a process takes up to 200 ms: it compares the counter with
    /// the system's clock.
    pub(crate) fn new() -> Self {
        let counter = quanta::Clock::new();
        let origin = counter.raw();
        Self { counter, origin }
    }

    /// Nanoseconds since the beginning, once all that was read before is there.
    #[inline]
    pub(crate) fn now(&self) -> u64 {
        catch_up();
        self.counter.delta_as_nanos(self.origin, self.counter.raw())
    }

    /// Nanoseconds that a look at the clock takes, as a mean.
    pub(crate) fn cost(&self) -> f64 {
        let before = self.now();
        (0..LOOKS).for_each(|_| {
            black_box(self.now());
        });
        (self.now() - before) as f64 / f64::from(LOOKS)
    }
}

/// Lets the CPU begin with nothing that follows before all loads in front of it have ended. The system's clock does that by
/// itself.
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

    /// So many numbers, each of which takes the CPU a division of the one before.
    #[cfg(target_arch = "x86_64")]
    fn divided(start: u64, times: u32) -> u64 {
        (0..times).fold(start, |number, _| u64::MAX / (number | 1))
    }

    #[cfg(target_arch = "x86_64")] // elsewhere a tick may be longer than this takes
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
