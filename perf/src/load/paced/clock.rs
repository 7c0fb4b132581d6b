//! The clock of all stamps: the time-stamp counter of the CPU where it runs at one rate and alike on all
//! CPUs, the system's clock elsewhere.

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

    /// Nanoseconds since the beginning.
    #[inline]
    pub(crate) fn now(&self) -> u64 {
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
}
