//! The event: a payload that shows loss, repetition, mixture and tearing, and the marks that the
//! stages leave on it.
//!
//! ```text
//! number   of the event among those of its producer      } any mixture of two events
//! seal     a function of number, lane and seed        } fails the seal
//! lane     which producer
//! written  how many writing stages have finished it; plain memory
//! marks    one byte per stage: the lap at which the stage has finished the slot
//! ```
//!
//! All orderings of the marks are relaxed, so the marks order nothing: only the ring does.

use std::sync::atomic::{AtomicU8, Ordering};

use lapwing::Sequence;

/// Most stages of a graph.
pub(super) const STAGES: usize = 8;
/// Most producers of a ring.
pub(super) const LANES: usize = 4;
/// Number of keys.
pub(super) const KEYS: u64 = 8;

/// An event of a ring: 32 bytes.
#[derive(Debug, Default)]
pub(super) struct Event {
    number: u64,
    seal: u64,
    lane: u32,
    written: u32,
    marks: [AtomicU8; STAGES],
}

/// Returns the word that belongs to the payload.
#[inline]
pub(super) const fn seal(seed: u64, lane: u32, number: u64) -> u64 {
    (number ^ seed).rotate_left(23).wrapping_add(lane as u64)
}

impl Event {
    /// Writes a payload, as a producer does. The marks are those of the lap before.
    #[inline]
    pub(super) fn fill(&mut self, seed: u64, lane: u32, number: u64) {
        self.number = number;
        self.seal = seal(seed, lane, number);
        self.lane = lane;
        self.written = 0;
    }

    /// Returns the number that its producer gave it.
    #[inline]
    pub(super) const fn number(&self) -> u64 {
        self.number
    }

    /// Returns the second word of the payload.
    #[inline]
    pub(super) const fn seal(&self) -> u64 {
        self.seal
    }

    /// Returns its producer.
    #[inline]
    pub(super) const fn lane(&self) -> u32 {
        self.lane
    }

    /// Returns the number of writing stages that have finished it.
    #[inline]
    pub(super) const fn written(&self) -> u32 {
        self.written
    }

    /// Counts a writing stage.
    #[inline]
    pub(super) fn write(&mut self) {
        self.written += 1;
    }

    /// Returns its key.
    #[inline]
    pub(super) const fn key(&self) -> u64 {
        self.number % KEYS
    }

    /// Returns the lap at which `stage` has finished this slot.
    #[inline]
    pub(super) fn mark(&self, stage: usize) -> u8 {
        self.marks[stage].load(Ordering::Relaxed)
    }

    /// Marks that `stage` has finished it in `lap`.
    #[inline]
    pub(super) fn set_mark(&self, stage: usize, lap: u8) {
        self.marks[stage].store(lap, Ordering::Relaxed);
    }

    /// Marks it as finished by all stages in `lap`: no stage gets a claim that was given up.
    pub(super) fn set_all_marks(&self, lap: u8) {
        (0..STAGES).for_each(|stage| self.set_mark(stage, lap));
    }
}

/// Converts sequences to laps, as marks have them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Laps {
    shift: u32,
}

impl Laps {
    /// Returns the laps of a ring of `capacity` slots, a power of two.
    pub(super) const fn of(capacity: usize) -> Self {
        Self { shift: capacity.trailing_zeros() }
    }

    /// Returns the lap of `sequence`, never equal to that of the lap before. A new slot has 0, the
    /// lap before the first.
    #[inline]
    pub(super) const fn of_sequence(self, sequence: Sequence) -> u8 {
        (sequence >> self.shift).wrapping_add(1) as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_has_32_bytes() {
        assert_eq!(size_of::<Event>(), 32);
    }

    #[test]
    fn a_new_slot_has_the_marks_of_the_lap_before_the_first() {
        let laps = Laps::of(8);
        let event = Event::default();
        assert_eq!(event.mark(3), laps.of_sequence(5).wrapping_sub(1));
        assert_eq!(laps.of_sequence(8), laps.of_sequence(7) + 1);
    }
}
