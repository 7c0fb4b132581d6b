//! The fluent front: stages in the order in which events pass them. Where only one stage runs at a
//! time it may write; where several do, [`Side`](super::Side) has no verb that does.

use std::fmt;

use super::graph::{Graph, Part, StageId};
use super::side::Side;
use super::stage::{Settings, Stage};
use super::wiring::Parts;
use crate::Sequence;
use crate::error::BuildError;
use crate::lifecycle::Consumers;
use crate::placement::Placement;
use crate::producer::{Producer, Sequencer};
use crate::protocol::ring_buffer::{Factory, Noticed};
use crate::wait::WaitStrategy;

/// A ring to be: its size, its waiting, and its stages, in the order in which events pass them.
///
/// [`stage`](Self::stage) begins a stage that runs alone, after all before it: it may change events. Stages
/// side by side come from [`side_by_side`](Self::side_by_side) and only read. Nothing runs, and no thread
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
///     .stage("notional")
///     .write(|trade, _, _| trade.notional = trade.price * u64::from(trade.quantity))
///     .side_by_side(|side| {
///         side.stage("journal")
///             .read(|trade, sequence, _| assert_eq!(trade.price, sequence))
///             .stage("risk")
///             .read(|trade, _, _| assert_eq!(trade.notional, 2 * trade.price))
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

    /// Name of the ring, for people who look at it with a [`Monitor`](crate::monitor::Monitor); any text,
    /// and "ring" by default.
    ///
    /// ```
    /// let (producer, _consumers) = lapwing::Disruptor::single_producer(8, || 0_u64)
    ///     .name("orders")
    ///     .stage("all").poller()
    ///     .build()?;
    /// assert_eq!(producer.monitor().snapshot().ring, "orders");
    /// # Ok::<(), lapwing::error::BuildError>(())
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
    ///     .stage("all").poller()
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
    ///     .stage("check").read(|event, sequence, _| assert_eq!(*event, sequence))
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
    ///     .stage("all").poller()
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

    /// Keeps `count` seats for consumers that [join](crate::graph::Seats::take) while the ring runs, and
    /// leave; at most [`MAX_SEATS`](crate::MAX_SEATS), 0 by default.
    ///
    /// A producer that finds its limit used up reads the seats too, free ones included, and runs a
    /// full fence; and everybody looks for sleepers, since a consumer that joins may park. A ring
    /// without seats pays nothing.
    ///
    /// ```
    /// use lapwing::{Disruptor, graph::StartAt};
    ///
    /// let (mut producer, mut consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).seats(1).stage("all").poller().build()?;
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
    /// use lapwing::{Disruptor, graph::{Graph, Placement}};
    ///
    /// let mut graph = Graph::new();
    /// graph.stage("left").read(|event: &u64, sequence, _| assert_eq!(*event, sequence));
    /// graph.stage("right").read(|event: &u64, sequence, _| assert_eq!(*event, sequence));
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

    /// Whether the ends of the ring run A/B tests; they do by default.
    ///
    /// A producer and a consumer of a stream can prefetch, acquire cache lines before they release slots, or pause
    /// longer between polls. What pays depends on the machine and on its load, so each end times both ways for some
    /// thousand events now and then and keeps the faster one. [`Monitor::ab_tests`](crate::monitor::Monitor::ab_tests)
    /// shows the choices. Without the tests each of these stays off: throughput is lower, and no event is handled
    /// in a way that is only being tried.
    ///
    /// ```
    /// let (producer, _consumers) = lapwing::Disruptor::single_producer(8, || 0_u64)
    ///     .ab_tests(false)
    ///     .stage("all").poller()
    ///     .build()?;
    /// assert!(producer.monitor().ab_tests().is_empty());
    /// # Ok::<(), lapwing::error::BuildError>(())
    /// ```
    pub fn ab_tests(mut self, are_on: bool) -> Self {
        self.parts.ab_tests.are_off = !are_on;
        self
    }

    /// Begins a stage that runs alone, after all before it: a name, or a [`Stage`] with settings. More settings may
    /// follow; a verb such as [`read`](Stage::read) or [`write`](Stage::write) adds the stage and returns the builder.
    ///
    /// ```
    /// use lapwing::{Disruptor, wait::BusySpin};
    ///
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("double").wait(BusySpin).write(|event, _, _| *event *= 2)
    ///     .stage("check").read(|event, _, _| assert_eq!(*event, 14)) // of a published 7
    ///     .build()?;
    /// # let running = consumers.start()?;
    /// # producer.publish(|event| *event = 7)?;
    /// # running.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn stage(self, stage: impl Into<Stage>) -> Stage<Self> {
        stage.into().at(self)
    }

    /// Adds a stage after those that are here.
    pub(super) fn push(mut self, mut stage: Settings, part: Part<'env, E>) -> Self {
        stage.after.extend(&self.last);
        self.last = vec![self.graph.push(stage, part)];
        self
    }

    /// Adds stages side by side, each of which reads every event. The next stage waits for all of
    /// them.
    ///
    /// ```
    /// # use lapwing::Disruptor;
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .side_by_side(|side| side
    ///         .stage("left").read(|event, _, _| assert_eq!(*event, 7))
    ///         .stage("right").read(|event, _, _| assert_eq!(*event, 7)))
    ///     .stage("zero").write(|event, _, _| *event = 0) // when both have read it
    ///     .build()?;
    /// # let running = consumers.start()?;
    /// # producer.publish(|event| *event = 7)?;
    /// # running.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn side_by_side(
        mut self,
        stages: impl for<'g> FnOnce(Side<'g, 'env, E>) -> Side<'g, 'env, E>,
    ) -> Self
    where
        E: Sync,
    {
        self.last = stages(Side::new(&mut self.graph, self.last)).into_last();
        self
    }

    /// Adds a last look at each event that is done, to let go of what it keeps alive: a stage
    /// `"clear"` that runs alone, on the thread of the stage before it if that is a single one with a
    /// handler. Without it, an event lives in its slot until it is overwritten, a lap later; and so does
    /// what was written into a claim that was given up, which no stage sees.
    ///
    /// The memory of a ring is freed when the last of its ends is dropped: producers, consumers, pollers
    /// and seats. An event that owns one of these, such as a producer for replies to its own
    /// ring, keeps the ring alive from inside. Unless it is cleared, that ring and all of its events are
    /// never freed, and the ring is not closed when the other producers are dropped.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || None::<Arc<str>>)
    ///     .stage("print").read(|text, _, _| assert!(text.is_some()))
    ///     .clear(|text| *text = None)
    ///     .build()?;
    /// let running = consumers.start()?;
    /// let text: Arc<str> = Arc::from("a long text");
    /// producer.publish(|event| *event = Some(Arc::clone(&text)))?;
    /// running.shutdown()?;
    /// assert_eq!(Arc::strong_count(&text), 1); // the ring keeps nothing
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn clear(self, mut clear: impl FnMut(&mut E) + Send + 'env) -> Self {
        let beside = self.last.first().and_then(|last| self.graph.with_handler(*last));
        let mut stage = self.stage("clear");
        stage.settings.beside = beside;
        stage.write(move |event, _, _| clear(event))
    }

    /// Adds the stages of a graph that was made as the program runs. Those that come after none
    /// come after the stages that are here; the next stage waits for those that none comes after.
    ///
    /// ```
    /// use lapwing::{Disruptor, graph::Graph};
    ///
    /// let mut graph = Graph::new();
    /// for shard in 0..3 {
    ///     graph.stage(format!("shard {shard}")).read(|event: &u64, _, _| assert_eq!(*event, 14));
    /// }
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("double").write(|event, _, _| *event *= 2)
    ///     .graph(graph)
    ///     .stage("clear").write(|event, _, _| *event = 0)
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
    /// use lapwing::{Disruptor, error::BuildError};
    ///
    /// let ring = Disruptor::single_producer(8, || 0_u64).stage("sum").read(|_, _, _| {});
    /// let (producer, consumers) = ring.build()?;
    /// assert_eq!((producer.capacity(), consumers.names().count()), (8, 1));
    ///
    /// let odd = Disruptor::single_producer(1000, || 0_u64).stage("all").poller();
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
