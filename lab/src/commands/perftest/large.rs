//! Large events: an array of numbers, and blocks of bytes in place or behind a pointer.
//!
//! ```text
//! P1 --> EP1
//! ```

use lapwing::SingleProducer;

use super::parts::{handled, publish_each};
use super::test::{Load, PerfTest, Work, sum_below};
use crate::measure::crew::RunError;
use crate::measure::run::Pass;

/// Numbers of a long array.
const LONGS: usize = 2_048;
/// Numbers of a block of 256 bytes.
const BLOCK_LONGS: usize = 32;
/// Seed of the numbers of a block.
const BLOCK_SEED: u64 = 1;

/// Arrays of 2048 numbers, which LMAX counts individually.
pub(super) const LONG_ARRAY: PerfTest = PerfTest {
    name: "OneToOneSequencedLongArrayThroughputTest",
    shape: "1P-1C",
    threads: 2,
    ring: 1_024,
    wait: "yielding",
    event_bytes: LONGS * size_of::<u64>(),
    lmax_events: 1_000_000,
    operations_per_event: LONGS as u32,
    expected: |events| vec![sum_below(events).wrapping_mul(LONGS as u64)],
    work: Work::Throughput(|load| run(load, || [0; LONGS], |longs, value| longs.fill(value))),
};

/// A block of 256 bytes is copied into each slot. LMAX stores them outside of Java's heap, in one
/// piece of memory, as a ring of Lapwing does.
pub(super) const OFF_HEAP: PerfTest = PerfTest {
    name: "OneToOneOffHeapThroughputTest",
    ring: 1 << 20,
    event_bytes: BLOCK_LONGS * size_of::<u64>(),
    lmax_events: 10_000_000,
    operations_per_event: 1,
    expected: |events| {
        let block = block().iter().fold(0_u64, |sum, long| sum.wrapping_add(*long));
        vec![block.wrapping_mul(u64::from(events))]
    },
    work: Work::Throughput(|load| {
        let block = block();
        run(load, || [0; BLOCK_LONGS], move |longs, _| *longs = block)
    }),
    ..LONG_ARRAY
};

/// A block of 256 bytes is copied into memory behind a pointer, one block per slot.
pub(super) const ON_HEAP: PerfTest = PerfTest {
    name: "OneToOneOnHeapThroughputTest",
    work: Work::Throughput(|load| {
        let block = block();
        run(load, || Box::new([0; BLOCK_LONGS]), move |longs, _| **longs = block)
    }),
    ..OFF_HEAP
};

/// Returns the numbers of every block.
fn block() -> [u64; BLOCK_LONGS] {
    let mut random = fastrand::Rng::with_seed(BLOCK_SEED);
    std::array::from_fn(|_| random.u64(..))
}

/// Runs one thread that writes each event's slot and a handler that adds up its numbers.
fn run<E: AsLongs + Send + Sync>(
    load: Load,
    factory: impl FnMut() -> E,
    mut write: impl FnMut(&mut E, u64) + Send,
) -> Result<Pass, RunError> {
    let publish_all =
        |producer: &mut SingleProducer<E>| publish_each(producer, load.events, &mut write);
    let add = |sum: u64, long: &u64| sum.wrapping_add(*long);
    handled(load, factory, publish_all, |sum, event| event.longs().iter().fold(sum, add))
}

/// An event that is some numbers.
trait AsLongs {
    /// Returns the numbers.
    fn longs(&self) -> &[u64];
}

impl<const COUNT: usize> AsLongs for [u64; COUNT] {
    fn longs(&self) -> &[u64] {
        self
    }
}

impl<const COUNT: usize> AsLongs for Box<[u64; COUNT]> {
    fn longs(&self) -> &[u64] {
        self.as_slice()
    }
}
