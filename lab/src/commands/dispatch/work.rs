//! The work of the orchestrator for an order: read-modify-writes over a small memory. Their number
//! is calibrated to take the requested time on this machine.

use std::hint::black_box;
use std::time::Instant;

/// Words of the memory: 32 KiB, a first-level cache.
const WORDS: usize = 4_096;
/// The distance between two written words. Each write uses another cache line, and all of them are
/// used before one repeats.
const STRIDE: usize = 9;
/// Steps of one calibration.
const PILOT_STEPS: u64 = 1_000_000;
/// Calibrations. The fastest one counts, because any disturbance makes one slower.
const PILOTS: usize = 5;

/// The speed of this machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// Mean time of a step.
    pub(super) nanoseconds_per_step: f64,
}

impl Pace {
    /// Measures the pace, in some milliseconds.
    pub(super) fn measure() -> Self {
        let pilot = || {
            let mut work = Work { memory: vec![1; WORDS], place: 0, steps: PILOT_STEPS };
            work.simulate(); // warms up
            let started_at = Instant::now();
            work.simulate();
            started_at.elapsed().as_nanos() as f64 / PILOT_STEPS as f64
        };
        let fastest = (0..PILOTS).map(|_| pilot()).fold(f64::INFINITY, f64::min);
        Self { nanoseconds_per_step: fastest.max(f64::MIN_POSITIVE) }
    }

    /// Returns work that takes `nanoseconds` per order.
    pub(super) fn work(self, nanoseconds: u64) -> Work {
        let steps = (nanoseconds as f64 / self.nanoseconds_per_step).round() as u64;
        Work { memory: vec![1; WORDS], place: 0, steps }
    }
}

/// The work for one order at a time.
#[derive(Debug)]
pub(super) struct Work {
    /// The written memory.
    memory: Vec<u64>,
    /// The word that is written next.
    place: usize,
    /// Steps for an order.
    steps: u64,
}

impl Work {
    /// Does the work for one order.
    #[inline]
    pub(super) fn simulate(&mut self) {
        for step in 0..self.steps {
            self.place = (self.place + STRIDE) % WORDS;
            let word = &mut self.memory[self.place];
            *word = word.rotate_left(5) ^ step;
        }
        black_box(&mut self.memory);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_time_is_more_steps_and_none_is_none() {
        let pace = Pace { nanoseconds_per_step: 0.5 };
        assert_eq!(pace.work(0).steps, 0);
        assert_eq!(pace.work(1_000).steps, 2_000);
    }

    #[test]
    fn work_writes_its_memory() {
        let mut work = Pace { nanoseconds_per_step: 1.0 }.work(10);
        work.simulate();
        assert_eq!(work.place, 10 * STRIDE);
        assert_ne!(work.memory, vec![1; WORDS]);
    }
}
