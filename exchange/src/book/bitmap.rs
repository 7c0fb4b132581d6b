//! A set of small numbers that finds its next member upwards or downwards in a few steps.
//!
//! Bit `i` of a layer says whether word `i` of the layer below has a bit. Four layers of words of 64
//! bits hold 2^24 numbers.

use bytemuck::allocation::try_zeroed_vec;

const LAYERS: usize = 4;
/// The number of bits of an index inside of a word.
const WORD_SHIFT: u32 = 6;

/// A set of numbers below a bound.
#[derive(Clone, Debug)]
pub(super) struct Bitmap {
    /// The lowest layer has one bit for each number.
    layers: [Vec<u64>; LAYERS],
}

impl Bitmap {
    /// Returns an empty set for numbers below `bound`; `None` if the system has no memory for it.
    pub(super) fn new(bound: u32) -> Option<Self> {
        let mut words = bound as usize;
        let mut layers = [const { Vec::new() }; LAYERS];
        for layer in &mut layers {
            words = words.div_ceil(64);
            *layer = try_zeroed_vec(words).ok()?;
        }
        debug_assert_eq!(words, 1, "the bound must be at most 2^24");
        Some(Self { layers })
    }

    pub(super) fn insert(&mut self, number: u32) {
        let mut index = number;
        for layer in &mut self.layers {
            let (word, bit) = place(index);
            let was_empty = layer[word] == 0;
            layer[word] |= bit;
            if !was_empty {
                return;
            }
            index >>= WORD_SHIFT;
        }
    }

    pub(super) fn remove(&mut self, number: u32) {
        let mut index = number;
        for layer in &mut self.layers {
            let (word, bit) = place(index);
            layer[word] &= !bit;
            if layer[word] != 0 {
                return;
            }
            index >>= WORD_SHIFT;
        }
    }

    /// Returns the smallest member above `number`.
    pub(super) fn above(&self, number: u32) -> Option<u32> {
        let mut index = number;
        for (height, layer) in self.layers.iter().enumerate() {
            let (word, bit) = place(index);
            let higher = layer[word] & !(bit | (bit - 1));
            if higher != 0 {
                let found = (index & !63) | higher.trailing_zeros();
                return Some(self.descend(height, found, u64::trailing_zeros));
            }
            index >>= WORD_SHIFT;
        }
        None
    }

    /// Returns the largest member below `number`.
    pub(super) fn below(&self, number: u32) -> Option<u32> {
        let mut index = number;
        for (height, layer) in self.layers.iter().enumerate() {
            let (word, bit) = place(index);
            let lower = layer[word] & (bit - 1);
            if lower != 0 {
                let found = (index & !63) | highest_bit(lower);
                return Some(self.descend(height, found, highest_bit));
            }
            index >>= WORD_SHIFT;
        }
        None
    }

    /// Returns the member that bit `index` of the layer at `height` stands for, by the bit that `pick`
    /// chooses in each word below.
    fn descend(&self, height: usize, mut index: u32, pick: impl Fn(u64) -> u32) -> u32 {
        for layer in self.layers[..height].iter().rev() {
            index = index << WORD_SHIFT | pick(layer[index as usize]);
        }
        index
    }
}

/// Returns the word of a bit and the bit in it.
const fn place(index: u32) -> (usize, u64) {
    ((index >> WORD_SHIFT) as usize, 1 << (index & 63))
}

const fn highest_bit(word: u64) -> u32 {
    63 - word.leading_zeros()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Compares a bitmap with a set after each of many changes.
    fn agrees_with_a_set(bound: u32, step: u32) {
        let (mut bitmap, mut set) = (Bitmap::new(bound).unwrap(), BTreeSet::new());
        let mut number = 7 % bound;
        for round in 0..2_000_u32 {
            number = (number + step) % bound;
            if round % 3 == 2 {
                bitmap.remove(number);
                set.remove(&number);
            } else {
                bitmap.insert(number);
                set.insert(number);
            }
            number = (number + round) % bound;
            assert_eq!(bitmap.above(number), set.range(number + 1..).next().copied());
            assert_eq!(bitmap.below(number), set.range(..number).next_back().copied());
        }
    }

    #[test]
    fn the_next_member_is_that_of_a_sorted_set() {
        for (bound, step) in [(1, 1), (2, 1), (64, 5), (65, 7), (4_096, 61), (300_000, 97_001)] {
            agrees_with_a_set(bound, step);
        }
        agrees_with_a_set(1 << 24, 9_999_991);
    }
}
