//! An event as an array of words: the bytes of a [`Event`](crate::load::event::Event), in a type that
//! every ring can carry, even one that asks for an `unsafe` promise about any other.
//!
//! ```text
//! word   0                                     1 ..
//!        | value: 32 | left: 8 | right: 8 | 0 | padding |
//! ```

/// Words of an event of 8 bytes.
pub(super) const IN_8: usize = 1;
/// Words of an event of 32 bytes.
pub(super) const IN_32: usize = 4;
/// Words of an event of 64 bytes.
pub(super) const IN_64: usize = 8;
/// Words of an event of 256 bytes.
pub(super) const IN_256: usize = 32;

/// Bits before the first property, or the producer's number.
const LEFT_SHIFT: u32 = 32;
/// Bits before the second property.
const RIGHT_SHIFT: u32 = 40;

/// The event numbered `value`, of the producer numbered `origin`: every word is written.
#[inline]
pub(super) fn event<const N: usize>(value: u32, origin: u8) -> [u64; N] {
    let mut event = [u64::from(value); N];
    event[0] |= u64::from(origin) << LEFT_SHIFT;
    event
}

/// Its number, or what a step has made of it.
#[inline]
pub(super) fn value<const N: usize>(event: &[u64; N]) -> u32 {
    event[0] as u32 // the low half
}

/// The event with `value` in the place of its number.
#[inline]
pub(super) fn with_value<const N: usize>(mut event: [u64; N], value: u32) -> [u64; N] {
    event[0] = event[0] >> LEFT_SHIFT << LEFT_SHIFT | u64::from(value);
    event
}

/// The first property, or the producer's number.
#[inline]
pub(super) fn left<const N: usize>(event: &[u64; N]) -> u8 {
    (event[0] >> LEFT_SHIFT) as u8
}

/// The second property.
#[inline]
pub(super) fn right<const N: usize>(event: &[u64; N]) -> u8 {
    (event[0] >> RIGHT_SHIFT) as u8
}

/// The event with the first property, which it did not have.
#[inline]
pub(super) fn with_left<const N: usize>(mut event: [u64; N], property: u8) -> [u64; N] {
    event[0] |= u64::from(property) << LEFT_SHIFT;
    event
}

/// The event with the second property, which it did not have.
#[inline]
pub(super) fn with_right<const N: usize>(mut event: [u64; N], property: u8) -> [u64; N] {
    event[0] |= u64::from(property) << RIGHT_SHIFT;
    event
}

/// Reads every word.
#[inline]
pub(super) fn digest<const N: usize>(event: &[u64; N]) -> u64 {
    let number = u64::from(value(event));
    event[1..].iter().fold(number, |sum, word| sum.wrapping_add(*word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::event::{Event, PAD_8, PAD_64};

    #[test]
    fn words_are_those_of_a_message() {
        let message = Event::<PAD_64>::new(u32::MAX, 2);
        let words = event::<IN_64>(u32::MAX, 2);
        assert_eq!(digest(&words), message.digest());
        assert_eq!((value(&words), left(&words)), (message.value(), message.left()));
    }

    #[test]
    fn a_new_number_leaves_the_properties() {
        let words = with_right(with_left(event::<IN_8>(u32::MAX, 0), 3), 5);
        let changed = with_value(words, 7);
        assert_eq!((value(&changed), left(&changed), right(&changed)), (7, 3, 5));

        let mut message = Event::<PAD_8>::new(9, 0);
        message.change(7);
        assert_eq!(digest(&changed), message.digest());
    }
}
