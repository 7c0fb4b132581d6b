//! The event: a payload that shows loss, repetition, mixture and tearing, and the marks that stages
//! leave on it.
//!
//! ```text
//! number   of the event among those of its producer   } any mixture of two events
//! seal     a function of number, lane and seed        } fails the seal
//! lane     which producer
//! written  the stages that wrote to it; plain memory
//! marks    one byte per stage: a tag of the number, once its handler was called with the event
//! ```
//!
//! The marks are stored and loaded, never changed in one step, and all their orderings are relaxed.
//! So they order nothing: only the ring does. A producer clears them. A stale mark of the event that
//! the slot had before has another tag, nearly always.

use std::sync::atomic::{AtomicU8, Ordering};

use super::program::Stages;

/// Most stages of a graph, and the stage that clears events.
pub(super) const STAGES: usize = 7;
pub(super) const CLEAR: usize = STAGES;
/// The mark of the stage that clears events, in a set of stages.
pub(super) const CLEARED: Stages = 1 << CLEAR;
/// Most producers of a ring.
pub(super) const LANES: usize = 4;
/// Number of keys of groups by key.
pub(super) const KEYS: u64 = 5;

/// The id of a slot without an event: new, or given up.
pub(super) const NO_EVENT: u64 = 0;
/// The number of a slot without an event.
const NO_NUMBER: u64 = u64::MAX;
/// Bits of an id that are the number.
const NUMBER_BITS: u32 = 56;

/// An event of a ring: 32 bytes.
#[derive(Debug)]
pub(super) struct Event {
    number: u64,
    seal: u64,
    lane: u32,
    written: u32,
    marks: [AtomicU8; STAGES + 1],
}

/// The words that a producer writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Payload {
    /// The number that its producer gave it, from 0 on.
    pub(super) number: u64,
    pub(super) seal: u64,
    pub(super) lane: u32,
}

impl Payload {
    #[inline]
    pub(super) const fn new(seed: u64, lane: u32, number: u64) -> Self {
        Self { number, seal: seal(seed, lane, number), lane }
    }

    /// Whether its words belong together.
    #[inline]
    pub(super) const fn is_whole(&self, seed: u64) -> bool {
        self.seal == seal(seed, self.lane, self.number)
    }
}

/// The word that belongs to a payload.
#[inline]
const fn seal(seed: u64, lane: u32, number: u64) -> u64 {
    (number ^ seed).rotate_left(23).wrapping_add(lane as u64)
}

/// The mark that says that a stage has the event with this number: never 0.
#[inline]
pub(super) const fn tag(number: u64) -> u8 {
    (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8 | 1
}

impl Event {
    pub(super) fn new() -> Self {
        let (number, marks) = (NO_NUMBER, Default::default());
        Self { number, seal: 0, lane: 0, written: 0, marks }
    }

    /// Makes it the event of `payload`, which no stage has seen.
    #[inline]
    pub(super) fn fill(&mut self, payload: Payload) {
        let Payload { number, seal, lane } = payload;
        *self = Self { number, seal, lane, written: 0, marks: Default::default() };
    }

    /// Makes it a slot without an event.
    pub(super) fn empty(&mut self) {
        *self = Self::new();
    }

    #[inline]
    pub(super) const fn payload(&self) -> Payload {
        Payload { number: self.number, seal: self.seal, lane: self.lane }
    }

    /// Whether it has an event.
    #[inline]
    pub(super) const fn is_event(&self) -> bool {
        self.number != NO_NUMBER
    }

    /// The number that no other event of the ring has, or [`NO_EVENT`].
    pub(super) const fn id(&self) -> u64 {
        if self.is_event() { id_of(self.lane, self.number) } else { NO_EVENT }
    }

    #[inline]
    pub(super) const fn key(&self) -> u64 {
        self.number % KEYS
    }

    /// Returns the stages that wrote to it.
    #[inline]
    pub(super) const fn written(&self) -> Stages {
        self.written as Stages
    }

    #[inline]
    pub(super) fn write(&mut self, stage: usize) {
        self.written |= 1 << stage;
    }

    pub(super) fn clear(&mut self) {
        self.mark(CLEAR);
    }

    /// Notes that the handler of `stage` was called with it.
    #[inline]
    pub(super) fn mark(&self, stage: usize) {
        self.marks[stage].store(tag(self.number), Ordering::Relaxed);
    }

    /// Takes the mark back.
    pub(super) fn unmark(&self, stage: usize) {
        self.marks[stage].store(0, Ordering::Relaxed);
    }

    /// Whether the handler of `stage` was called with it.
    #[inline]
    pub(super) fn has_mark(&self, stage: usize) -> bool {
        self.marks[stage].load(Ordering::Relaxed) == tag(self.number)
    }

    /// Returns the stages that have left a mark.
    pub(super) fn marks(&self) -> Stages {
        let has = |stage: &usize| self.has_mark(*stage);
        (0..=CLEAR).filter(has).fold(0, |marks, stage| marks | 1 << stage)
    }
}

/// The id of an event.
pub(super) const fn id_of(lane: u32, number: u64) -> u64 {
    (lane as u64) << NUMBER_BITS | (number + 1)
}

/// The key of the event with this id.
pub(super) const fn key_of(id: u64) -> u64 {
    ((id & ((1 << NUMBER_BITS) - 1)) - 1) % KEYS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_has_32_bytes() {
        assert_eq!(size_of::<Event>(), 32);
    }

    #[test]
    fn a_producer_clears_the_marks() {
        let mut event = Event::new();
        event.fill(Payload::new(7, 1, 4));
        event.mark(2);
        event.clear();
        assert_eq!(event.marks(), 1 << 2 | CLEARED);
        assert_eq!(key_of(event.id()), event.key());
        event.fill(Payload::new(7, 1, 5));
        assert_eq!(event.marks(), 0);
        event.empty();
        assert_eq!((event.id(), event.marks()), (NO_EVENT, 0));
    }

    #[test]
    fn a_mixture_of_two_events_is_not_whole() {
        let [one, other] = [Payload::new(7, 0, 4), Payload::new(7, 1, 5)];
        assert!(one.is_whole(7) && !one.is_whole(8));
        assert!(!Payload { seal: other.seal, ..one }.is_whole(7));
        assert!(!Payload { lane: other.lane, ..one }.is_whole(7));
    }
}
