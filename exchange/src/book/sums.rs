//! The quantity that rests in a range of prices, in steps that do not grow with the range.
//!
//! A block of 256 levels has a sum, and so has a block of 256 blocks.

use bytemuck::allocation::try_zeroed_vec;

/// Layers of blocks. A band has at most 2^24 levels, so the upper layer has at most 256 blocks.
const LAYERS: usize = 2;
/// The number of bits of an index inside of a block.
const BLOCK_SHIFT: u32 = 8;

/// The sums of blocks of levels.
#[derive(Clone, Debug)]
pub(super) struct Sums {
    layers: [Vec<u64>; LAYERS],
}

impl Sums {
    /// Returns sums of so many empty levels; `None` if the system has no memory for them.
    pub(super) fn new(levels: u32) -> Option<Self> {
        let mut blocks = levels as usize;
        let mut layers = [const { Vec::new() }; LAYERS];
        for layer in &mut layers {
            blocks = blocks.div_ceil(1 << BLOCK_SHIFT);
            *layer = try_zeroed_vec(blocks).ok()?;
        }
        Some(Self { layers })
    }

    /// Follows a level whose quantity grows.
    #[inline]
    pub(super) fn add(&mut self, mut level: u32, quantity: u64) {
        for layer in &mut self.layers {
            level >>= BLOCK_SHIFT;
            layer[level as usize] += quantity;
        }
    }

    /// Follows a level whose quantity shrinks.
    #[inline]
    pub(super) fn remove(&mut self, mut level: u32, quantity: u64) {
        for layer in &mut self.layers {
            level >>= BLOCK_SHIFT;
            layer[level as usize] -= quantity;
        }
    }

    /// Returns the sum of the levels from `first` to `last`. `quantity` is that of one level.
    pub(super) fn within(&self, first: u32, last: u32, quantity: impl Fn(u32) -> u64) -> u64 {
        let (mut next, end) = (first, last + 1);
        let mut sum = 0;
        while next < end {
            let (mut width, mut found) = (1, None);
            for layer in &self.layers {
                let wider = width << BLOCK_SHIFT;
                if next % wider != 0 || end - next < wider {
                    break;
                }
                width = wider;
                found = Some(layer[(next / wider) as usize]);
            }
            sum += found.unwrap_or_else(|| quantity(next));
            next += width;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn a_sum_is_that_of_its_levels_in_few_steps() {
        const LEVELS: u32 = 300_000;
        let mut sums = Sums::new(LEVELS).unwrap();
        let mut levels = vec![0_u64; LEVELS as usize];
        let mut random = fastrand::Rng::with_seed(5);
        for _ in 0..20_000 {
            let (level, quantity) = (random.u32(..LEVELS), random.u64(..1 << 40));
            sums.remove(level, levels[level as usize]);
            sums.add(level, quantity);
            levels[level as usize] = quantity;
        }
        let compare = |first: u32, last: u32| {
            let steps = Cell::new(0);
            let sum = sums.within(first, last, |level| {
                steps.set(steps.get() + 1);
                levels[level as usize]
            });
            assert_eq!(sum, levels[first as usize..=last as usize].iter().sum());
            assert!(steps.get() <= 2 * 255, "steps={steps:?}");
        };
        compare(0, LEVELS - 1);
        for _ in 0..200 {
            let (one, other) = (random.u32(..LEVELS), random.u32(..LEVELS));
            compare(one.min(other), one.max(other));
            compare(one, one);
        }
    }
}
