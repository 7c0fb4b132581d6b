//! The fluent front: stages in the order in which events pass them. Where only one stage runs at a
//! time it may write; where several do, [`Side`](super::Side) has no verb that does.

mod verbs;
mod workers;

use std::fmt;

use super::graph::{Graph, StageId};
use super::wiring::Parts;
use crate::Sequence;
use crate::error::BuildError;
use crate::lifecycle::Consumers;
use crate::placement::Placement;
use crate::producer::Producer;
use crate::producer::{Multi, Sequencer, Single};
use crate::protocol::ring_buffer::{Factory, Noticed};
use crate::wait::WaitStrategy;

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
/// let ring = Disruptor::single_producer(8, || 0_u64).then_poller("all");
/// let (one, _readers): (SingleProducer<u64>, _) = ring.build()?;
/// let ring = Disruptor::multi_producer(16, || 0_u64).then_poller("all");
/// let (many, _readers): (MultiProducer<u64>, _) = ring.build()?;
/// assert_eq!((one.capacity(), many.capacity()), (8, 16));
/// # Ok::<(), lapwing::BuildError>(())
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
    ///     .then("check", |event, sequence, _| assert_eq!(*event, sequence))
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
    ///     lapwing::Disruptor::single_producer_indexed(4, |slot| slot).then_poller("all").build()?;
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
    /// several times as fast, its stages on one thread: [`Consumer::run_together`](crate::Consumer::run_together).
    ///
    /// ```
    /// let (mut producer, consumers) = lapwing::Disruptor::multi_producer(1024, || 0_u64)
    ///     .then("check", |event, _, _| assert!(*event > 0))
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
    ///     lapwing::Disruptor::multi_producer_indexed(4, |slot| slot).then_poller("all").build()?;
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

/// A ring to be: its size, its waiting, and its stages, in the order in which events pass them.
///
/// Each `then…` adds a stage that runs alone, after all before it: it may change events. Stages
/// side by side come from [`then_all`](Self::then_all) and only read. Nothing runs, and no thread
/// exists, before [`Consumers::start`].
///
/// ```
/// use lapwing::Disruptor;
///
/// #[derive(Default)]
/// struct Trade {
///     price: u64,
///     quantity: u32,
///     notional: u64,
/// }
///
/// let (mut trades, consumers) = Disruptor::single_producer(1024, Trade::default)
///     .then_mut("notional", |trade, _, _| trade.notional = trade.price * u64::from(trade.quantity))
///     .then_all(|side| {
///         side.read("journal", |trade, sequence, _| assert_eq!(trade.price, sequence))
///             .read("risk", |trade, _, _| assert_eq!(trade.notional, 2 * trade.price))
///     })
///     .build()?;
/// let running = consumers.start()?;
/// for price in 0..100 {
///     trades.publish(|trade| (trade.price, trade.quantity) = (price, 2))?;
/// }
/// let report = running.shutdown()?;
/// assert!(report.stages().all(|stage| stage.processed() == 100));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Stages that read need events that threads may share; a stage that changes them is alone and does
/// not:
///
/// ```compile_fail,E0277
/// use std::cell::Cell;
/// let _ = lapwing::Disruptor::single_producer(8, || Cell::new(0))
///     .then("a", |event, _, _| event.set(1));
/// ```
///
/// ```
/// use std::cell::Cell;
/// let _ = lapwing::Disruptor::single_producer(8, || Cell::new(0))
///     .then_mut("a", |event, _, _| event.set(1));
/// ```
#[must_use = "nothing exists before `build`"]
pub struct Builder<'env, E, S> {
    parts: Parts<'env, E, S>,
    graph: Graph<'env, E>,
    /// Whom the next stage waits for.
    last: Vec<StageId>,
}

impl<'env, E: Send + 'env, S: Sequencer> Builder<'env, E, S> {
    /// A ring of events that `factory` makes in place.
    pub(crate) fn new(capacity: usize, factory: Factory<'env, E>) -> Self {
        Self { parts: Parts::new(capacity, factory), graph: Graph::new(), last: Vec::new() }
    }

    /// Has first stages look at the notices that the producer gives.
    pub(crate) fn look_at_notices(mut self) -> Self
    where
        E: Noticed,
    {
        self.parts.look_at_notices();
        self
    }

    /// Name of the ring, for people who look at it with a [`Monitor`](crate::Monitor); any text,
    /// and "ring" by default.
    ///
    /// ```
    /// let (producer, _consumers) = lapwing::Disruptor::single_producer(8, || 0_u64)
    ///     .name("orders")
    ///     .then_poller("all")
    ///     .build()?;
    /// assert_eq!(producer.monitor().snapshot().ring, "orders");
    /// # Ok::<(), lapwing::BuildError>(())
    /// ```
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.parts.name = name.into();
        self
    }

    /// How stages wait that do not say so themselves; [`Adaptive`](crate::wait::Adaptive) by
    /// default.
    ///
    /// ```
    /// use lapwing::{Disruptor, wait::Blocking};
    ///
    /// let (mut producer, mut consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .wait(Blocking::default())
    ///     .then_poller("all")
    ///     .build()?;
    /// let mut poller = consumers.take_poller("all")?;
    /// let thread = std::thread::spawn(move || producer.publish(|event| *event = 7));
    /// assert_eq!(poller.wait()?.as_slice(), [7]); // may have parked
    /// # thread.join().unwrap()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn wait(mut self, strategy: impl WaitStrategy) -> Self {
        self.parts.wait = Box::new(strategy);
        self
    }

    /// How producers wait on a full ring; [`Adaptive`](crate::wait::Adaptive) by default.
    ///
    /// ```
    /// use lapwing::{Disruptor, wait::Yielding};
    ///
    /// let (mut producer, consumers) = Disruptor::single_producer(1, || 0_u64)
    ///     .producer_wait(Yielding::default())
    ///     .then("check", |event, sequence, _| assert_eq!(*event, sequence))
    ///     .build()?;
    /// let running = consumers.start()?;
    /// for number in 0..10 {
    ///     producer.publish(|event| *event = number)?; // waits for the one slot
    /// }
    /// assert_eq!(running.shutdown()?.stages().next().unwrap().processed(), 10);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn producer_wait(mut self, strategy: impl WaitStrategy) -> Self {
        self.parts.producer_wait = Box::new(strategy);
        self
    }

    /// Sequence of the first event; 0 by default, and at most
    /// [`MAX_FIRST_SEQUENCE`](crate::MAX_FIRST_SEQUENCE). Every position in the ring begins there:
    /// for a ring that goes on where another one ended, whose journal is replayed or whose sequences
    /// others know.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let journal = [7, 8, 9]; // of a process that ended after three events
    /// let (mut producer, mut consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .first_sequence(journal.len() as u64)
    ///     .then_poller("all")
    ///     .build()?;
    /// let mut poller = consumers.take_poller("all")?;
    /// assert_eq!(poller.sequence(), 3);
    /// assert_eq!(producer.publish(|event| *event = 10)?, 3);
    /// assert_eq!(poller.poll()?.iter().next(), Some((3, &10)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn first_sequence(mut self, first: Sequence) -> Self {
        self.parts.first_sequence = first;
        self
    }

    /// Keeps `count` seats for consumers that [join](crate::Seats::take) while the ring runs, and
    /// leave; at most [`MAX_SEATS`](crate::MAX_SEATS), 0 by default.
    ///
    /// A producer that finds its limit used up reads the seats too, free ones included, and runs a
    /// full fence; and everybody looks for sleepers, since a consumer that joins may park. A ring
    /// without seats pays nothing.
    ///
    /// ```
    /// use lapwing::{Disruptor, StartAt};
    ///
    /// let (mut producer, mut consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).seats(1).then_poller("all").build()?;
    /// # let _all = consumers.take_poller("all")?;
    /// let mut late = consumers.seats().take("late", StartAt::Now)?.poller();
    /// producer.publish(|event| *event = 7)?;
    /// assert_eq!(late.poll()?.as_slice(), [7]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn seats(mut self, count: usize) -> Self {
        self.parts.seats = count;
        self
    }

    /// Which thread runs which stage, those of a [`Graph`] as well; by default each has its own. The last
    /// call holds.
    ///
    /// ```
    /// use lapwing::{Disruptor, Graph, Placement};
    ///
    /// let mut graph = Graph::new();
    /// graph.read("left", |event: &u64, sequence, _| assert_eq!(*event, sequence));
    /// graph.read("right", |event: &u64, sequence, _| assert_eq!(*event, sequence));
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0)
    ///     .placement(Placement::threads(1))
    ///     .graph(graph)
    ///     .build()?;
    /// assert_eq!(consumers.threads().collect::<Vec<_>>(), [("ring-0", vec!["left", "right"])]);
    /// let running = consumers.start()?; // one thread
    /// for number in 0..100 {
    ///     producer.publish(|event| *event = number)?;
    /// }
    /// running.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn placement(mut self, placement: Placement) -> Self {
        self.parts.placement = placement;
        self
    }

    /// Adds the stages of a graph that was made as the program runs. Those that come after none
    /// come after the stages that are here; the next stage waits for those that none comes after.
    ///
    /// ```
    /// use lapwing::{Disruptor, Graph};
    ///
    /// let mut graph = Graph::new();
    /// for shard in 0..3 {
    ///     graph.read(format!("shard {shard}"), |event: &u64, _, _| assert_eq!(*event, 14));
    /// }
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .then_mut("double", |event, _, _| *event *= 2)
    ///     .graph(graph)
    ///     .then_mut("clear", |event, _, _| *event = 0)
    ///     .build()?;
    /// assert_eq!(consumers.names().count(), 5);
    /// # let running = consumers.start()?;
    /// # producer.publish(|event| *event = 7)?;
    /// # running.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn graph(mut self, graph: Graph<'env, E>) -> Self {
        self.last = self.graph.append(graph, &self.last);
        self
    }

    /// Makes the ring and hands out its ends: the producer, and the consumers, not started. What is
    /// published before they start waits for them, and fills the ring at most: a producer then
    /// waits too.
    ///
    /// ```
    /// use lapwing::{BuildError, Disruptor};
    ///
    /// let ring = Disruptor::single_producer(8, || 0_u64).then("sum", |_, _, _| {});
    /// let (producer, consumers) = ring.build()?;
    /// assert_eq!((producer.capacity(), consumers.names().count()), (8, 1));
    ///
    /// let odd = Disruptor::single_producer(1000, || 0_u64).then_poller("all");
    /// assert_eq!(odd.build().unwrap_err(), BuildError::Capacity { requested: 1000 });
    /// # Ok::<(), BuildError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`BuildError`] says what is wrong with the capacity or the stages. Nothing is left behind.
    ///
    /// # Panics
    ///
    /// Only if the factory of the events does, or the `clone` of a wait strategy.
    pub fn build(self) -> Result<(Producer<E, S>, Consumers<'env, E>), BuildError> {
        self.parts.build(self.graph)
    }
}

impl<E, S> fmt::Debug for Builder<'_, E, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder").field("parts", &self.parts).field("graph", &self.graph).finish()
    }
}
