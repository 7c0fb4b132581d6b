//! The entry point of a ring: its capacity, its events, and whether it has one producer or several.

use lapwing_core::Factory;

use super::builder::Builder;
use crate::producer::{Multi, Single};

/// The entry point: [`single_producer`](Self::single_producer) or
/// [`multi_producer`](Self::multi_producer) begins a ring.
///
/// The slots form one array whose first slot begins a cache line. An event of 64 bytes therefore
/// occupies exactly one cache line, whatever its alignment. An event of 48 bytes, for example,
/// spans two cache lines every other time, unless its type is `#[repr(align(64))]`. That does not
/// change the throughput of a stream, but a single event takes longer from CPU to CPU.
///
/// ```
/// use lapwing::{Disruptor, MultiProducer, SingleProducer};
///
/// let ring = Disruptor::single_producer(8, || 0_u64).stage("all").poller();
/// let (one, _consumers): (SingleProducer<u64>, _) = ring.build()?;
/// let ring = Disruptor::multi_producer(16, || 0_u64).stage("all").poller();
/// let (many, _consumers): (MultiProducer<u64>, _) = ring.build()?;
/// assert_eq!((one.capacity(), many.capacity()), (8, 16));
/// # Ok::<(), lapwing::error::BuildError>(())
/// ```
#[derive(Debug)]
pub struct Disruptor(());

impl Disruptor {
    /// Begins a ring of `capacity` events for one producer. `factory` makes each event.
    ///
    /// `capacity` is a power of two in `1..=2^30`, in events; [`build`](Builder::build) checks it.
    /// `build` then calls `factory` once for each slot, from the first to the last, and writes the
    /// event there at once. It therefore needs stack for one event, besides what `factory` needs.
    ///
    /// ```
    /// let (mut producer, consumers) = lapwing::Disruptor::single_producer(1024, || 0_u64)
    ///     .stage("check").read(|event, sequence, _| assert_eq!(*event, sequence))
    ///     .build()?;
    /// let running = consumers.start()?;
    /// for number in 0..10 {
    ///     assert_eq!(producer.publish(|event| *event = number)?, number);
    /// }
    /// running.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn single_producer<'env, E: Send + 'env>(
        capacity: usize,
        factory: impl FnMut() -> E + 'env,
    ) -> Builder<'env, E, Single> {
        Builder::new(capacity, Factory::of(factory))
    }

    /// Begins a ring of `capacity` events for any number of producers. `factory` makes each event.
    ///
    /// `capacity` is a power of two in `1..=2^30`, in events; [`build`](Builder::build) checks it,
    /// and calls `factory` once for each slot, from the first to the last.
    ///
    /// The events of all producers have one total order, since the producers claim slots through
    /// one shared word. If the order between producers does not matter, use one ring for each
    /// producer, with the stages of all rings on one thread:
    /// [`Consumer::run_together`](crate::consumer::Consumer::run_together). That is several times
    /// as fast.
    ///
    /// ```
    /// let (mut producer, consumers) = lapwing::Disruptor::multi_producer(1024, || 0_u64)
    ///     .stage("check").read(|event, _, _| assert!(*event > 0))
    ///     .build()?;
    /// let running = consumers.start()?;
    /// let mut second = producer.clone();
    /// let thread = std::thread::spawn(move || second.publish(|event| *event = 2));
    /// producer.publish(|event| *event = 1)?;
    /// thread.join().unwrap()?;
    /// assert_eq!(running.shutdown()?.stages().next().unwrap().processed(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn multi_producer<'env, E: Send + 'env>(
        capacity: usize,
        factory: impl FnMut() -> E + 'env,
    ) -> Builder<'env, E, Multi> {
        Builder::new(capacity, Factory::of(factory))
    }
}
