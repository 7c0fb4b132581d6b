//! The check of events that workers share: the workers of a stage see each event once, together.
//! By key, all events of a key are seen in order, whichever worker has the key.

use std::sync::atomic::{AtomicU64, Ordering};

use super::checker::{Checked, out_of_order};
use super::event::{KEYS, LANES};
use super::rules::must;

/// What one worker, or all workers of a stage, have seen of one producer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sums {
    count: u64,
    /// Sum of the numbers, modulo 2^64.
    first: u64,
    /// Sum of their squares, modulo 2^64.
    second: u64,
}

/// What one worker, or all workers of a stage, have seen.
pub(super) type Tally = [Sums; LANES];

impl Sums {
    #[inline]
    pub(super) const fn add(&mut self, number: u64) {
        self.count += 1;
        self.first = self.first.wrapping_add(number);
        self.second = self.second.wrapping_add(number.wrapping_mul(number));
    }

    /// Adds what another worker has seen.
    const fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.first = self.first.wrapping_add(other.first);
        self.second = self.second.wrapping_add(other.second);
    }

    /// Returns the sums of the numbers below `count`, each once.
    const fn of_first(count: u64) -> Self {
        let n = count as u128;
        let below = n.saturating_sub(1);
        let first = (n * below / 2) as u64;
        let second = (n * below * (2 * n).saturating_sub(1) / 6) as u64; // exact below 2^42
        Self { count, first, second }
    }

    /// Checks that these are the events below `accepted`, each once.
    ///
    /// # Errors
    ///
    /// Says how many it has seen.
    pub(super) fn check(&self, lane: usize, accepted: u64) -> Checked {
        let seen = self.count;
        must(*self == Self::of_first(accepted), || {
            format!("seen {seen} events of producer {lane}, of {accepted} not each of them once")
        })
    }
}

/// The next number of each key of each producer. The workers of a stage share it. Relaxed
/// throughout: the library orders the worker that had a key before the next one that has it.
#[derive(Debug, Default)]
pub(super) struct KeyOrder([[AtomicU64; KEYS as usize]; LANES]);

impl KeyOrder {
    /// Checks that `number` is the next one of its key, and counts it.
    ///
    /// # Errors
    ///
    /// Says which number is next.
    pub(super) fn see(&self, lane: u32, number: u64) -> Checked {
        let key = number % KEYS;
        let next = &self.0[lane as usize][key as usize];
        // A new key begins with its own number.
        let expected = next.load(Ordering::Relaxed) + key;
        must(number == expected, || out_of_order(lane, expected, number))?;
        next.store(expected + KEYS - key, Ordering::Relaxed);
        Ok(())
    }

    /// Makes `number` the next one of its key again.
    pub(super) fn take_back(&self, lane: u32, number: u64) {
        let key = number % KEYS;
        self.0[lane as usize][key as usize].store(number - key, Ordering::Relaxed);
    }
}

/// Adds what another worker has seen.
pub(super) fn sums(into: &mut Tally, of: &Tally) {
    into.iter_mut().zip(of).for_each(|(into, of)| into.merge(of));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums(numbers: &[u64]) -> Sums {
        let mut sums = Sums::default();
        numbers.iter().for_each(|&number| sums.add(number));
        sums
    }

    #[test]
    fn each_number_once_passes_in_any_order_and_over_workers() {
        let mut all = sums(&[4, 0, 2]);
        all.merge(&sums(&[3, 1]));
        assert_eq!(all.check(0, 5), Ok(()));
        assert_eq!(sums(&[]).check(0, 0), Ok(()));
        assert_eq!(Sums::of_first(1 << 20), sums(&(0..1 << 20).collect::<Vec<_>>()));
    }

    #[test]
    fn a_lost_and_a_repeated_number_are_found() {
        assert!(sums(&[0, 1, 2]).check(0, 4).is_err());
        assert!(sums(&[0, 1, 1, 2]).check(0, 3).is_err());
        let both = sums(&[0, 1, 1, 3]).check(0, 4);
        assert!(both.is_err());
        // The same sum, another sum of squares.
        assert!(sums(&[0, 2, 2, 2]).check(0, 4).is_err());
    }

    #[test]
    fn the_events_of_a_key_are_in_order() {
        let keys = KeyOrder::default();
        for number in [1, 0, KEYS, 1 + KEYS, 3] {
            keys.see(0, number).unwrap();
        }
        assert!(keys.see(0, 3).unwrap_err().contains("repeated"));
        assert!(keys.see(0, 1 + 3 * KEYS).unwrap_err().contains("lost"));
        assert!(keys.see(1, 1).is_ok());
        keys.take_back(0, 1);
        assert!(keys.see(0, 1).is_ok());
    }
}
