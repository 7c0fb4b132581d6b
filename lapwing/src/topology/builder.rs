//! The fluent front: stages in the order in which events pass them. Where only one stage runs at a
//! time it may write; where several do, [`Side`] has no verb that does.

use std::fmt;

use super::graph::{Graph, StageId};
use super::side::Side;
use super::stage::Stage;
use super::wiring::Parts;
use crate::Sequence;
use crate::consumer::{EventHandler, Exclusive};
use crate::error::BuildError;
use crate::lifecycle::Consumers;
use crate::producer::Producer;
use crate::sequencer::{Multi, Sequencer, Single};
use crate::wait::WaitStrategy;

/// Where a ring begins: [`single_producer`](Self::single_producer) or
/// [`multi_producer`](Self::multi_producer).
#[derive(Debug)]
pub struct Disruptor(());

impl Disruptor {
    /// A ring of `capacity` events made by `factory`, for one producer.
    ///
    /// `capacity` is a power of two in `1..=2^30`, in events; [`build`](Builder::build) checks it.
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
        Builder::new(capacity, move |_| factory())
    }

    /// As [`single_producer`](Self::single_producer), with the index of its slot given to each
    /// event's factory.
    ///
    /// ```
    /// let (_, mut consumers) =
    ///     lapwing::Disruptor::single_producer_indexed(4, |slot| slot).then_poller("all").build()?;
    /// # let _ = consumers.take_poller("all");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn single_producer_indexed<'env, E: Send + 'env>(
        capacity: usize,
        factory: impl FnMut(usize) -> E + 'env,
    ) -> Builder<'env, E, Single> {
        Builder::new(capacity, factory)
    }

    /// A ring of `capacity` events made by `factory`, for any number of producers, in one total
    /// order.
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
        Builder::new(capacity, move |_| factory())
    }

    /// As [`multi_producer`](Self::multi_producer), with the index of its slot given to each
    /// event's factory.
    ///
    /// ```
    /// let (_, mut consumers) =
    ///     lapwing::Disruptor::multi_producer_indexed(4, |slot| slot).then_poller("all").build()?;
    /// # let _ = consumers.take_poller("all");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn multi_producer_indexed<'env, E: Send + 'env>(
        capacity: usize,
        factory: impl FnMut(usize) -> E + 'env,
    ) -> Builder<'env, E, Multi> {
        Builder::new(capacity, factory)
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
/// let _ = lapwing::Disruptor::single_producer(8, || Cell::new(0)).then("a", |event, _, _| event.set(1));
/// ```
///
/// ```
/// use std::cell::Cell;
/// let _ = lapwing::Disruptor::single_producer(8, || Cell::new(0)).then_mut("a", |event, _, _| event.set(1));
/// ```
#[must_use = "nothing exists before `build`"]
pub struct Builder<'env, E, S> {
    parts: Parts<'env, E, S>,
    graph: Graph<'env, E>,
    /// Whom the next stage waits for.
    last: Vec<StageId>,
}

impl<'env, E: Send + 'env, S: Sequencer> Builder<'env, E, S> {
    fn new(capacity: usize, factory: impl FnMut(usize) -> E + 'env) -> Self {
        Self { parts: Parts::new(capacity, factory), graph: Graph::new(), last: Vec::new() }
    }

    /// How stages wait that do not say so themselves; [`Adaptive`](crate::wait::Adaptive) by
    /// default.
    pub fn wait(mut self, strategy: impl WaitStrategy) -> Self {
        self.parts.wait = Box::new(strategy);
        self
    }

    /// How producers wait on a full ring; [`Adaptive`](crate::wait::Adaptive) by default.
    pub fn producer_wait(mut self, strategy: impl WaitStrategy) -> Self {
        self.parts.producer_wait = Box::new(strategy);
        self
    }

    /// Adds the stages of a graph that was made as the program runs. Those that come after none
    /// come after the stages that are here; the next stage waits for those that none comes after.
    pub fn graph(mut self, graph: Graph<'env, E>) -> Self {
        self.last = self.graph.append(graph, &self.last);
        self
    }

    /// Adds a stage that reads event by event: `on_event(event, sequence, end_of_batch)`.
    pub fn then(
        self,
        stage: impl Into<Stage>,
        on_event: impl FnMut(&E, Sequence, bool) + Send + 'env,
    ) -> Self
    where
        E: Sync,
    {
        self.add(stage, |graph, stage| graph.read(stage, on_event))
    }

    /// Adds a stage that changes event by event: `on_event(event, sequence, end_of_batch)`.
    pub fn then_mut(
        self,
        stage: impl Into<Stage>,
        on_event: impl FnMut(&mut E, Sequence, bool) + Send + 'env,
    ) -> Self {
        self.add(stage, |graph, stage| graph.write(stage, on_event))
    }

    /// Adds a stage that reads batch by batch: `on_batch(events, first_sequence)`. A batch ends at
    /// the end of the ring.
    pub fn then_batch(
        self,
        stage: impl Into<Stage>,
        on_batch: impl FnMut(&[E], Sequence) + Send + 'env,
    ) -> Self
    where
        E: Sync,
    {
        self.add(stage, |graph, stage| graph.read_batch(stage, on_batch))
    }

    /// Adds a stage that changes batch by batch: `on_batch(events, first_sequence)`. A batch ends
    /// at the end of the ring.
    pub fn then_batch_mut(
        self,
        stage: impl Into<Stage>,
        on_batch: impl FnMut(&mut [E], Sequence) + Send + 'env,
    ) -> Self {
        self.add(stage, |graph, stage| graph.write_batch(stage, on_batch))
    }

    /// Adds a stage with a handler that reads, to be [handed back](crate::Report::take).
    pub fn then_handler<H>(self, stage: impl Into<Stage>, handler: H) -> Self
    where
        E: Sync,
        H: EventHandler<E> + Send + 'static,
    {
        self.add(stage, |graph, stage| graph.read_handler(stage, handler))
    }

    /// Adds a stage with a handler that changes events, to be [handed back](crate::Report::take).
    pub fn then_handler_mut<H>(self, stage: impl Into<Stage>, handler: H) -> Self
    where
        H: EventHandler<E, Exclusive> + Send + 'static,
    {
        self.add(stage, |graph, stage| graph.write_handler(stage, handler))
    }

    /// Adds a stage whose handler, which reads, is made and dropped on the stage's thread: it need
    /// not be `Send`.
    pub fn then_local<H>(
        self,
        stage: impl Into<Stage>,
        make: impl FnOnce() -> H + Send + 'env,
    ) -> Self
    where
        E: Sync,
        H: EventHandler<E> + 'env,
    {
        self.add(stage, |graph, stage| graph.read_local(stage, make))
    }

    /// Adds a stage whose handler, which changes events, is made and dropped on the stage's thread:
    /// it need not be `Send`.
    pub fn then_local_mut<H>(
        self,
        stage: impl Into<Stage>,
        make: impl FnOnce() -> H + Send + 'env,
    ) -> Self
    where
        H: EventHandler<E, Exclusive> + 'env,
    {
        self.add(stage, |graph, stage| graph.write_local(stage, make))
    }

    /// Adds a [`Poller`](crate::Poller) that reads, to be [taken](Consumers::take_poller) by its
    /// name.
    pub fn then_poller(self, stage: impl Into<Stage>) -> Self
    where
        E: Sync,
    {
        self.add(stage, Graph::poller)
    }

    /// Adds a [`Poller`](crate::Poller) that changes events, to be
    /// [taken](Consumers::take_poller_mut) by its name.
    pub fn then_poller_mut(self, stage: impl Into<Stage>) -> Self {
        self.add(stage, Graph::poller_mut)
    }

    /// Adds stages side by side, each of which reads every event. The next stage waits for all of
    /// them.
    pub fn then_all(
        mut self,
        stages: impl for<'g> FnOnce(Side<'g, 'env, E>) -> Side<'g, 'env, E>,
    ) -> Self
    where
        E: Sync,
    {
        self.last = stages(Side::new(&mut self.graph, self.last)).into_last();
        self
    }

    /// Makes the ring and hands out its ends: the producer, and the consumers, not started. What is
    /// published before they start waits for them, and fills the ring at most: a producer then
    /// waits too.
    ///
    /// # Errors
    ///
    /// [`BuildError`] says what is wrong with the capacity or the stages. Nothing is left behind.
    ///
    /// # Panics
    ///
    /// Only if the factory of the events does.
    pub fn build(self) -> Result<(Producer<E, S>, Consumers<'env, E>), BuildError> {
        self.parts.build(self.graph)
    }

    fn add(
        mut self,
        stage: impl Into<Stage>,
        add: impl FnOnce(&mut Graph<'env, E>, Stage) -> StageId,
    ) -> Self {
        let mut stage = stage.into();
        stage.after.extend(&self.last);
        self.last = vec![add(&mut self.graph, stage)];
        self
    }
}

impl<E, S> fmt::Debug for Builder<'_, E, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder").field("parts", &self.parts).field("graph", &self.graph).finish()
    }
}
