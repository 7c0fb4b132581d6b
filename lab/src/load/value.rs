//! Values that a channel carries under load. They contain numbers, so loss and damage change the
//! answer.

use crate::load::queue::Payload;

/// The number of a damaged value. No sender uses it.
const DAMAGED: u64 = u64::MAX;
/// Bits of a number in each byte of a string. A byte of seven bits is a character.
const BITS: u32 = 7;

/// The payload.
pub(crate) trait Value: Payload {
    /// Creates the value of a number.
    fn of(number: u64) -> Self;

    /// Returns the number of a value.
    fn number(&self) -> u64;
}

impl Value for u64 {
    #[inline]
    fn of(number: u64) -> Self {
        number
    }

    #[inline]
    fn number(&self) -> u64 {
        *self
    }
}

/// 64 bytes: the number, eight times.
impl Value for [u64; 8] {
    #[inline]
    fn of(number: u64) -> Self {
        [number; 8]
    }

    #[inline]
    fn number(&self) -> u64 {
        let differing = self.iter().fold(0, |bits, word| bits | (word ^ self[0]));
        if differing == 0 { self[0] } else { DAMAGED }
    }
}

/// A string on the heap that the sender allocates and the receiver frees. Each character holds
/// seven bits of the number.
impl Value for String {
    #[inline]
    fn of(number: u64) -> Self {
        let mut text = Self::new();
        let mut rest = number;
        loop {
            text.push(char::from((rest & ((1 << BITS) - 1)) as u8));
            rest >>= BITS;
            if rest == 0 {
                return text;
            }
        }
    }

    #[inline]
    fn number(&self) -> u64 {
        self.bytes().rev().fold(0, |number, byte| (number << BITS) | u64::from(byte))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_carry_their_numbers() {
        for number in [0, 1, 127, 128, 300, 1 << 40, u64::MAX - 1] {
            assert_eq!(u64::of(number).number(), number);
            assert_eq!(<[u64; 8]>::of(number).number(), number);
            assert_eq!(String::of(number).number(), number);
        }
        let mut torn = <[u64; 8]>::of(5);
        torn[7] = 6;
        assert_eq!(torn.number(), DAMAGED);
    }
}
