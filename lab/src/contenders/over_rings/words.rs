//! An event as an array of words: the bytes of an [`Event`](crate::load::event::Event) in a type
//! that every ring can carry. Some rings require an `unsafe` promise for any other type.
//!
//! ```text
//! word   0                                     1 ..
//!        | value: 32 | left: 8 | right: 8 | 0 | padding |
//! ```

use crate::load::event::{First, digest_of, pad_of};

/// Words of an event of 8 bytes.
pub(super) const IN_8: usize = 1;
/// Words of an event of 32 bytes.
pub(super) const IN_32: usize = 4;
/// Words of an event of 64 bytes.
pub(super) const IN_64: usize = 8;
/// Words of an event of 256 bytes.
pub(super) const IN_256: usize = 32;

/// Returns the event numbered `value`, of the producer numbered `origin`. Every word is written.
#[inline]
pub(super) fn event<const N: usize>(value: u32, origin: u8) -> [u64; N] {
    let mut event = pad_of(value);
    event[0] = First::new(value, origin).0;
    event
}

/// Returns its number, or the value that a step has written.
#[inline]
pub(super) fn value<const N: usize>(event: &[u64; N]) -> u32 {
    First(event[0]).value()
}

/// Returns the event with `value` as its number.
#[inline]
pub(super) fn with_value<const N: usize>(mut event: [u64; N], value: u32) -> [u64; N] {
    event[0] = First(event[0]).with_value(value).0;
    event
}

/// Returns the first property, or the producer's number.
#[inline]
pub(super) fn left<const N: usize>(event: &[u64; N]) -> u8 {
    First(event[0]).left()
}

/// Returns the second property.
#[inline]
pub(super) fn right<const N: usize>(event: &[u64; N]) -> u8 {
    First(event[0]).right()
}

/// Returns the event with the first property set. It must not be set before.
#[inline]
pub(super) fn with_left<const N: usize>(mut event: [u64; N], property: u8) -> [u64; N] {
    event[0] = First(event[0]).with_left(property).0;
    event
}

/// Returns the event with the second property set. It must not be set before.
#[inline]
pub(super) fn with_right<const N: usize>(mut event: [u64; N], property: u8) -> [u64; N] {
    event[0] = First(event[0]).with_right(property).0;
    event
}

/// Reads every word.
#[inline]
pub(super) fn digest<const N: usize>(event: &[u64; N]) -> u64 {
    digest_of(value(event), &event[1..])
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
