//! Where a ring begins: its capacity, its events, and whether it has one producer.

use super::builder::Builder;
use crate::producer::{Multi, Single};
use crate::protocol::ring_buffer::Factory;

/// Where a ring begins: [`single_producer`](Self::single_producer) or
/// [`multi_producer`](Self::multi_producer).
///
/// Slots lie side by side, the first at the beginning of a cache line. So an event of 64 bytes has one line, whatever its alignment; one
/// of 48, say, lies across two every other time, unless its type is `#[repr(align(64))]`: a stream does not notice, but a lone event
/// takes longer from CPU to CPU.
///
/// ```
/// use lapwing::{Disruptor, MultiProducer, SingleProducer};
///
/// let ring = Disruptor::single_producer(8, || 0_u64).stage("all").poller();
/// let (one, _readers): (SingleProducer<u64>, _) = ring.build()?;
/// let ring = Disruptor::multi_producer(16, || 0_u64).stage("all").poller();
/// let (many, _readers): (MultiProducer<u64>, _) = ring.build()?;
/// assert_eq!((one.capacity(), many.capacity()), (8, 16));
/// # Ok::<(), lapwing::error::BuildError>(())
/// ```
#[derive(Debug)]
pub struct Disruptor(());

impl Disruptor {
    /// A ring of `capacity` events made by `factory`, for one producer.
    ///
    /// `capacity` is a power of two in `1..=2^30`, in events; [`build`](Builder::build) checks it. What
    /// `factory` returns is written to its slot at once, so `build` needs stack for one event, beside what
    /// `factory` itself needs.
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
        mut factory: impl FnMut() -> E + 'env,
    ) -> Builder<'env, E, Single> {
        Builder::new(capacity, Factory::of(move |_| factory()))
    }

    /// As [`single_producer`](Self::single_producer), with the index of its slot given to each
    /// event's factory.
    ///
    /// ```
    /// let (mut producer, _consumers) =
    ///     lapwing::Disruptor::single_producer_indexed(4, |slot| slot).stage("all").poller().build()?;
    /// let (mut first, mut second) = (None, None);
    /// producer.publish(|event| first = Some(*event))?;
    /// producer.publish(|event| second = Some(*event))?;
    /// assert_eq!((first, second), (Some(0), Some(1)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn single_producer_indexed<'env, E: Send + 'env>(
        capacity: usize,
        factory: impl FnMut(usize) -> E + 'env,
    ) -> Builder<'env, E, Single> {
        Builder::new(capacity, Factory::of(factory))
    }

    /// A ring of `capacity` events made by `factory`, for any number of producers, in one total
    /// order; `capacity` as for [`single_producer`](Self::single_producer).
    ///
    /// All of them claim by one word. Where no order between producers is needed, a ring of each producer's own is
    /// several times as fast, its stages on one thread: [`Consumer::run_together`](crate::consumer::Consumer::run_together).
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
        mut factory: impl FnMut() -> E + 'env,
    ) -> Builder<'env, E, Multi> {
        Builder::new(capacity, Factory::of(move |_| factory()))
    }

    /// As [`multi_producer`](Self::multi_producer), with the index of its slot given to each
    /// event's factory.
    ///
    /// ```
    /// let (mut producer, _consumers) =
    ///     lapwing::Disruptor::multi_producer_indexed(4, |slot| slot).stage("all").poller().build()?;
    /// let mut made = Vec::new();
    /// producer.publish_batch(4, |slots| made.extend(slots.iter_mut().map(|event| *event)))?;
    /// assert_eq!(made, [0, 1, 2, 3]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn multi_producer_indexed<'env, E: Send + 'env>(
        capacity: usize,
        factory: impl FnMut(usize) -> E + 'env,
    ) -> Builder<'env, E, Multi> {
        Builder::new(capacity, Factory::of(factory))
    }
}
