//! What every contender moves: the same bytes as an event in a ring and as a message in a queue.
//! Not here: what the stages compute (`topologies`).
//!
//! ```text
//! byte   0        4      5       6           8                        8 + 8 * PAD
//!        | value  | left | right | reserved  | pad: PAD words of 8 bytes |
//! ```
//!
//! The producer writes every word and every consumer reads every word, so a large event really
//! moves.

use std::array;
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
    assert!(size_of::<Event<PAD_8>>() == 8 && size_of::<Message<PAD_8>>() == 8);
    assert!(size_of::<Event<PAD_32>>() == 32 && size_of::<Message<PAD_32>>() == 32);
    assert!(size_of::<Event<PAD_64>>() == 64 && size_of::<Message<PAD_64>>() == 64);
    assert!(size_of::<Event<PAD_256>>() == 256 && size_of::<Message<PAD_256>>() == 256);
    assert!(size_of::<SharedEvent<PAD_8>>() == 8 && size_of::<SharedEvent<PAD_256>>() == 256);
};

/// A slot of a ring. Written alone by the producer; the two properties are also written by stages
/// that run side by side and therefore share `&Event`.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Event<const PAD: usize> {
    /// The event's number, `0..events`; a pipeline overwrites it.
    pub(crate) value: u32,
    /// The property left by the first of two side-by-side stages, or the producer's number.
    left: AtomicU8,
    /// The property left by the second of two side-by-side stages.
    right: AtomicU8,
    /// Fills the first word; never read.
    reserved: [u8; 2],
    /// Written from `value` by the producer, never changed by a stage.
    pad: [u64; PAD],
}

impl<const PAD: usize> Default for Event<PAD> {
    /// An event that no producer has written yet.
    fn default() -> Self {
        Self {
            value: 0,
            left: AtomicU8::new(0),
            right: AtomicU8::new(0),
            reserved: [0; 2],
            pad: [0; PAD],
        }
    }
}

impl<const PAD: usize> Event<PAD> {
    /// Writes every word in place. The properties keep what the slot's last event left there, as
    /// whoever reads them comes after whoever leaves them.
    #[inline]
    pub(crate) fn write(&mut self, value: u32) {
        self.value = value;
        self.pad = pad_of(value);
    }

    /// Writes every word in place, as the producer numbered `origin`.
    #[inline]
    pub(crate) fn write_as(&mut self, value: u32, origin: u8) {
        self.write(value);
        *self.left.get_mut() = origin;
    }

    /// Reads every word.
    #[inline]
    pub(crate) fn digest(&self) -> u64 {
        digest_of(self.value, &self.pad)
    }

    /// The first property.
    #[inline]
    pub(crate) fn left(&self) -> u8 {
        // Relaxed suffices: the contender orders the stages, the property only travels with the
        // event.
        self.left.load(Ordering::Relaxed)
    }

    /// The second property.
    #[inline]
    pub(crate) fn right(&self) -> u8 {
        // Relaxed suffices: as for `left`.
        self.right.load(Ordering::Relaxed)
    }

    /// Leaves the first property in the event.
    #[inline]
    pub(crate) fn leave_left(&self, property: u8) {
        // Relaxed suffices: the contender publishes this store with the stage's progress.
        self.left.store(property, Ordering::Relaxed);
    }

    /// Leaves the second property in the event.
    #[inline]
    pub(crate) fn leave_right(&self, property: u8) {
        // Relaxed suffices: as for `leave_left`.
        self.right.store(property, Ordering::Relaxed);
    }
}

/// A slot of a ring that lets no stage alter an event: the number of an [`Event`] is an atomic here,
/// so that the steps of a pipeline can change it through the `&SharedEvent` that they are handed.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct SharedEvent<const PAD: usize> {
    /// As [`Event::value`].
    value: AtomicU32,
    /// Where the properties of an [`Event`] are; never read.
    reserved: [u8; 4],
    /// As in [`Event`].
    pad: [u64; PAD],
}

impl<const PAD: usize> Default for SharedEvent<PAD> {
    /// An event that no producer has written yet.
    fn default() -> Self {
        Self { value: AtomicU32::new(0), reserved: [0; 4], pad: [0; PAD] }
    }
}

impl<const PAD: usize> SharedEvent<PAD> {
    /// As [`Event::write`].
    #[inline]
    pub(crate) fn write(&mut self, value: u32) {
        *self.value.get_mut() = value;
        self.pad = pad_of(value);
    }

    /// Its number, or what a step has made of it.
    #[inline]
    pub(crate) fn value(&self) -> u32 {
        // Relaxed suffices: the contender orders the steps, the number only travels with the event.
        self.value.load(Ordering::Relaxed)
    }

    /// Puts `value` in the place of its number.
    #[inline]
    pub(crate) fn change(&self, value: u32) {
        // Relaxed suffices: the contender publishes this store with the step's progress.
        self.value.store(value, Ordering::Relaxed);
    }

    /// As [`Event::digest`].
    #[inline]
    pub(crate) fn digest(&self) -> u64 {
        digest_of(self.value(), &self.pad)
    }
}

/// What a queue carries: the fields of [`Event`] as plain values, copied from arc to arc.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct Message<const PAD: usize> {
    /// As [`Event::value`].
    pub(crate) value: u32,
    /// The first property, or the producer's number.
    pub(crate) left: u8,
    /// The second property.
    pub(crate) right: u8,
    /// Fills the first word.
    reserved: [u8; 2],
    /// As in [`Event`].
    pad: [u64; PAD],
}

impl<const PAD: usize> Default for Message<PAD> {
    /// A message with every word zero, to touch the memory of a queue before the clock starts.
    fn default() -> Self {
        Self { value: 0, left: 0, right: 0, reserved: [0; 2], pad: [0; PAD] }
    }
}

impl<const PAD: usize> Message<PAD> {
    /// Writes every word, as the producer numbered `origin`.
    #[inline]
    pub(crate) fn new(value: u32, origin: u8) -> Self {
        Self { value, left: origin, right: 0, reserved: [0; 2], pad: pad_of(value) }
    }

    /// Reads every word.
    #[inline]
    pub(crate) fn digest(&self) -> u64 {
        digest_of(self.value, &self.pad)
    }
}

/// The padding of the event numbered `value`; every word depends on it.
#[inline]
fn pad_of<const PAD: usize>(value: u32) -> [u64; PAD] {
    array::from_fn(|index| u64::from(value) + index as u64)
}

/// One number from every word: a word left over from an earlier lap changes it.
#[inline]
fn digest_of<const PAD: usize>(value: u32, pad: &[u64; PAD]) -> u64 {
    pad.iter().fold(u64::from(value), |sum, word| sum.wrapping_add(*word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn event_and_message_have_the_same_digest() {
        let mut event = Event::<PAD_64>::default();
        event.write_as(7, 2);
        let message = Message::<PAD_64>::new(7, 2);

        assert_eq!(event.digest(), message.digest());
        assert_eq!((event.left(), event.right()), (message.left, message.right));
    }

    #[test]
    fn event_whose_number_is_shared_has_the_same_digest() {
        let mut event = SharedEvent::<PAD_64>::default();
        event.write(7);
        assert_eq!(event.digest(), Message::<PAD_64>::new(7, 0).digest());

        event.change(9);
        let mut message = Message::<PAD_64>::new(7, 0);
        message.value = 9;
        assert_eq!((event.value(), event.digest()), (9, message.digest()));
    }

    #[test]
    fn digest_changes_when_one_word_is_stale() {
        let fresh = Message::<PAD_32>::new(9, 0);
        let mut torn = fresh;
        torn.pad[2] = Message::<PAD_32>::new(8, 0).pad[2];

        assert_ne!(fresh.digest(), torn.digest());
    }
}
