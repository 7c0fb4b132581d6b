//! The default length of a batch: how many events a stage takes before it releases them, so that
//! the threads that wait for them can go on. The numbers are measured: see E2, E44 and E45 in
//! `lab/results/experiments.md`.

use std::ops::RangeInclusive;

/// A ring has this many parts, and a stage holds at most one of them. With few stages, there are
/// fewer and larger parts.
const BATCHES_PER_RING: u64 = 4;

/// Longest batch with several producers, in events. On a full ring, the producers are parked until
/// the batch is finished, and each of them needs a wake-up.
const MOST_OF_SEVERAL: u64 = 4096;

/// Sizes of an event, in bytes, of which one or two fill a cache line.
const ONE_OR_TWO_TO_A_LINE: RangeInclusive<usize> = 32..=64;
/// Bytes of a batch of such events that is worth those wake-ups.
const WORTH_WAKING: u64 = 1 << 20;

/// The longest batch of a handler, in a ring of `capacity` events `E` and this many `stages`.
///
/// A few stages share the ring equally with the producer: while each works on its part, the one
/// before it fills the next part.
pub(super) fn of_handler<E>(capacity: u64, stages: usize, is_multi: bool) -> u64 {
    let parts = (stages as u64 + 1).min(BATCHES_PER_RING);
    let part = (capacity / parts).max(1);
    let bytes = part.saturating_mul(size_of::<E>() as u64);
    let is_worth_waking = ONE_OR_TWO_TO_A_LINE.contains(&size_of::<E>()) && bytes >= WORTH_WAKING;
    if is_multi && !is_worth_waking { shared(capacity).min(MOST_OF_SEVERAL) } else { part }
}

/// The longest batch of a worker, or of a dynamic consumer: other consumers may hold as much.
pub(super) fn shared(capacity: u64) -> u64 {
    (capacity / BATCHES_PER_RING).max(1)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn few_stages_hold_larger_parts() {
        let parts =
            |capacity| [1, 2, 3, 9].map(|stages| of_handler::<u64>(capacity, stages, false));
        assert_eq!(parts(1 << 16), [32_768, 21_845, 16_384, 16_384]);
        assert_eq!(parts(1), [1; 4]);
    }

    #[test]
    fn of_several_producers_a_batch_is_short_or_worth_their_wakes() {
        let longest = |capacity| {
            [
                of_handler::<[u64; 1]>(capacity, 1, true),
                of_handler::<[u64; 4]>(capacity, 1, true),
                of_handler::<[u64; 8]>(capacity, 1, true),
                of_handler::<[u64; 8]>(capacity, 3, true),
                of_handler::<[u64; 32]>(capacity, 1, true),
            ]
        };
        assert_eq!(longest(1), [1; 5]);
        assert_eq!(longest(1 << 10), [1 << 8; 5]);
        assert_eq!(longest(1 << 15), [4096, 4096, 1 << 14, 4096, 4096]);
        assert_eq!(longest(1 << 16), [4096, 1 << 15, 1 << 15, 1 << 14, 4096]);
        assert_eq!(longest(1 << 20), [4096, 1 << 19, 1 << 19, 1 << 18, 4096]);
    }
}
