//! The event that every contender moves. It has the same bytes in a ring and in a queue. The work
//! of the stages is in `topologies`.
//!
//! ```text
//! byte   0        4      5       6           8                        8 + 8 * PAD
//!        | value  | left | right | reserved  | pad: PAD words of 8 bytes |
//! ```
//!
//! The producer writes every word and every consumer reads every word, so a large event really
//! moves.

use std::hint;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};

/// Words of padding in an event of 8 bytes.
pub(crate) const PAD_8: usize = 0;
/// Words of padding in an event of 32 bytes.
pub(crate) const PAD_32: usize = 3;
/// Words of padding in an event of 64 bytes.
pub(crate) const PAD_64: usize = 7;
/// Words of padding in an event of 256 bytes.
pub(crate) const PAD_256: usize = 31;

const _: () = {
    assert!(size_of::<Event<PAD_8>>() == 8 && size_of::<SharedEvent<PAD_8>>() == 8);
    assert!(size_of::<Event<PAD_32>>() == 32 && size_of::<SharedEvent<PAD_32>>() == 32);
    assert!(size_of::<Event<PAD_64>>() == 64 && size_of::<SharedEvent<PAD_64>>() == 64);
    assert!(size_of::<Event<PAD_256>>() == 256 && size_of::<SharedEvent<PAD_256>>() == 256);
};

/// Words of 8 bytes in a cache line.
const WORDS_PER_LINE: usize = 8;
/// Bits before the first property.
const LEFT_SHIFT: u32 = 32;
/// Bits before the second property.
const RIGHT_SHIFT: u32 = 40;

/// The first word of an event: its number and its properties.
#[derive(Clone, Copy, Debug, Default)]
#[repr(transparent)]
pub(crate) struct First(pub(crate) u64);

impl First {
    /// Creates the first word of the event numbered `value`, of the producer numbered `origin`.
    #[inline]
    pub(crate) fn new(value: u32, origin: u8) -> Self {
        Self(u64::from(value) | u64::from(origin) << LEFT_SHIFT)
    }

    /// Returns the number, `0..events`, or the value that a step of a pipeline has written.
    #[inline]
    pub(crate) fn value(self) -> u32 {
        self.0 as u32 // the low half
    }

    /// Returns the first property, or the producer's number.
    #[inline]
    pub(crate) fn left(self) -> u8 {
        (self.0 >> LEFT_SHIFT) as u8 // the byte
    }

    /// Returns the second property.
    #[inline]
    pub(crate) fn right(self) -> u8 {
        (self.0 >> RIGHT_SHIFT) as u8 // the byte
    }

    /// Returns this word with `value` as the number.
    #[inline]
    pub(crate) fn with_value(self, value: u32) -> Self {
        Self(self.0 >> LEFT_SHIFT << LEFT_SHIFT | u64::from(value))
    }

    /// Returns this word with the first property set. It must not be set before.
    #[inline]
    pub(crate) fn with_left(self, property: u8) -> Self {
        Self(self.0 | u64::from(property) << LEFT_SHIFT)
    }

    /// Returns this word with the second property set. It must not be set before.
    #[inline]
    pub(crate) fn with_right(self, property: u8) -> Self {
        Self(self.0 | u64::from(property) << RIGHT_SHIFT)
    }
}

/// An event of a stage that has exclusive access: plain words, copied or written in place. One more
/// store changes the rate of a CPU, so all contenders write the same words.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Event<const PAD: usize> {
    first: First,
    /// Written by the producer, from the number. No stage changes it.
    pad: [u64; PAD],
}

impl<const PAD: usize> Default for Event<PAD> {
    /// Creates an event that no producer has written.
    fn default() -> Self {
        Self { first: First::default(), pad: [0; PAD] }
    }
}

impl<const PAD: usize> Event<PAD> {
    /// Creates the event numbered `value`, of the producer numbered `origin`.
    #[inline]
    pub(crate) fn new(value: u32, origin: u8) -> Self {
        Self { first: First::new(value, origin), pad: pad_of(value) }
    }

    /// Writes every word in place.
    #[inline]
    pub(crate) fn write(&mut self, value: u32) {
        *self = Self::new(value, 0);
    }

    /// Returns its number, or the value that a step of a pipeline has written.
    #[inline]
    pub(crate) fn value(&self) -> u32 {
        self.first.value()
    }

    /// Replaces its number with `value`.
    #[inline]
    pub(crate) fn change(&mut self, value: u32) {
        self.first = self.first.with_value(value);
    }

    /// Returns the first property, or the producer's number.
    #[inline]
    pub(crate) fn left(&self) -> u8 {
        self.first.left()
    }

    /// Returns the second property.
    #[inline]
    pub(crate) fn right(&self) -> u8 {
        self.first.right()
    }

    /// Sets the first property. It must not be set before.
    #[inline]
    pub(crate) fn leave_left(&mut self, property: u8) {
        self.first = self.first.with_left(property);
    }

    /// Sets the second property. It must not be set before.
    #[inline]
    pub(crate) fn leave_right(&mut self, property: u8) {
        self.first = self.first.with_right(property);
    }

    /// Reads every word.
    #[inline]
    pub(crate) fn digest(&self) -> u64 {
        digest_of(self.value(), &self.pad)
    }

    /// Stores one word of each cache line of the event again, with its own value.
    #[inline]
    pub(crate) fn store_as_it_is(&mut self) {
        self.first = hint::black_box(self.first);
        let others = self.pad.iter_mut().skip(WORDS_PER_LINE - 1).step_by(WORDS_PER_LINE);
        others.for_each(|word| *word = hint::black_box(*word));
    }
}

/// The same bytes in a ring slot that stages change while others read: parallel stages, and steps
/// of a pipeline in a ring that gives stages no exclusive access.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct SharedEvent<const PAD: usize> {
    value: AtomicU32,
    left: AtomicU8,
    right: AtomicU8,
    /// Fills the first word; never read.
    reserved: [u8; 2],
    pad: [u64; PAD],
}

impl<const PAD: usize> Default for SharedEvent<PAD> {
    /// Creates an event that no producer has written.
    fn default() -> Self {
        Self {
            value: AtomicU32::new(0),
            left: AtomicU8::new(0),
            right: AtomicU8::new(0),
            reserved: [0; 2],
            pad: [0; PAD],
        }
    }
}

impl<const PAD: usize> SharedEvent<PAD> {
    /// Writes its number and every word of padding in place. The properties keep their old values,
    /// because the stages that read them run after the stages that write them.
    #[inline]
    pub(crate) fn write(&mut self, value: u32) {
        *self.value.get_mut() = value;
        self.pad = pad_of(value);
    }

    /// Returns its number, or the value that a step of a pipeline has written.
    #[inline]
    pub(crate) fn value(&self) -> u32 {
        // Relaxed suffices: the contender orders the stages, and the number only travels with the
        // event.
        self.value.load(Ordering::Relaxed)
    }

    /// Replaces its number with `value`.
    #[inline]
    pub(crate) fn change(&self, value: u32) {
        // Relaxed suffices: the contender publishes this store with the stage's progress.
        self.value.store(value, Ordering::Relaxed);
    }

    /// Returns the first property, or the producer's number.
    #[inline]
    pub(crate) fn left(&self) -> u8 {
        // Relaxed suffices: as for `value`.
        self.left.load(Ordering::Relaxed)
    }

    /// Returns the second property.
    #[inline]
    pub(crate) fn right(&self) -> u8 {
        // Relaxed suffices: as for `value`.
        self.right.load(Ordering::Relaxed)
    }

    /// Sets the first property.
    #[inline]
    pub(crate) fn leave_left(&self, property: u8) {
        // Relaxed suffices: as for `change`.
        self.left.store(property, Ordering::Relaxed);
    }

    /// Sets the second property.
    #[inline]
    pub(crate) fn leave_right(&self, property: u8) {
        // Relaxed suffices: as for `change`.
        self.right.store(property, Ordering::Relaxed);
    }

    /// Returns a number that depends on every word.
    #[inline]
    pub(crate) fn digest(&self) -> u64 {
        digest_of(self.value(), &self.pad)
    }
}

/// Returns the padding of the event numbered `value`. All words are equal. If they were numbered,
/// compilers would use stores of two words that cross cache lines for some contenders and not for
/// others.
#[inline]
pub(crate) fn pad_of<const PAD: usize>(value: u32) -> [u64; PAD] {
    [u64::from(value); PAD]
}

/// Returns a number that depends on every word. A stale word from an earlier lap changes it.
#[inline]
pub(crate) fn digest_of(value: u32, pad: &[u64]) -> u64 {
    pad.iter().fold(u64::from(value), |sum, word| sum.wrapping_add(*word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_that_stages_share_has_the_same_digest_number_and_properties() {
        let mut shared = SharedEvent::<PAD_64>::default();
        shared.write(7);
        let mut event = Event::<PAD_64>::new(7, 0);
        assert_eq!(shared.digest(), event.digest());

        shared.change(u32::MAX);
        shared.leave_left(3);
        shared.leave_right(5);
        event.change(u32::MAX);
        event.leave_left(3);
        event.leave_right(5);
        assert_eq!((event.value(), event.left(), event.right()), (u32::MAX, 3, 5));
        assert_eq!((shared.value(), shared.left(), shared.right()), (u32::MAX, 3, 5));
        assert_eq!(shared.digest(), event.digest());
    }

    #[test]
    fn a_new_number_leaves_the_properties() {
        let mut event = Event::<PAD_8>::new(u32::MAX, 2);
        event.leave_right(1);
        event.change(9);
        assert_eq!((event.value(), event.left(), event.right()), (9, 2, 1));
    }

    #[test]
    fn digest_changes_when_one_word_is_stale() {
        let fresh = Event::<PAD_32>::new(9, 0);
        let mut torn = fresh;
        torn.pad[2] = Event::<PAD_32>::new(8, 0).pad[2];

        assert_ne!(fresh.digest(), torn.digest());
    }
}
