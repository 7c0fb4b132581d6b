//! The fluent builder: stages in the order in which events pass them. A stage that runs alone may
//! write. For stages side by side, [`Parallel`](super::Parallel) has no verb that writes.

use std::fmt;

use lapwing_core::{Factory, HasPublishedMark};

use super::graph::{Graph, Part};
use super::parallel::Parallel;
use super::settings::Settings;
use super::stage::Stage;
use super::stage_id::StageId;
use super::wiring::Parts;
use crate::Sequence;
use crate::error::BuildError;
use crate::lifecycle::Consumers;
use crate::placement::Placement;
use crate::producer::{Producer, Sequencer};
use crate::wait::WaitStrategy;

/// A description of a ring that is not yet made: its settings and its stages.
///
/// [`Disruptor::single_producer`](crate::Disruptor::single_producer) or
/// [`multi_producer`](crate::Disruptor::multi_producer) begins one. The stages are listed in the
/// order in which events pass them:
///
/// - [`stage`](Self::stage) adds a stage that runs alone, after all stages before it. It may change
///   events.
/// - [`parallel`](Self::parallel) adds stages that read the same events at the same time.
///   The next stage waits for all of them.
/// - [`graph`](Self::graph) adds stages whose number or order is known only at run time.
///
/// [`build`](Self::build) makes the ring and returns its two ends: the producer and the
/// [`Consumers`]. It starts no thread; [`Consumers::start`] does.
///
/// ```
/// use lapwing::Disruptor;
///
/// #[derive(Default)]
/// struct Trade { price: u64, quantity: u64, total: u64 }
///
/// let (mut trades, consumers) = Disruptor::single_producer(1024, Trade::default)
///     .stage("total").write(|trade, _, _| trade.total = trade.price * trade.quantity)
///     .parallel(|parallel| parallel
///         .stage("journal").read(|trade, sequence, _| assert_eq!(trade.price, sequence))
///         .stage("risk").read(|trade, _, _| assert_eq!(trade.total, 2 * trade.price)))
///     .build()?;
/// let running = consumers.start()?; // three threads
/// for price in 0..100 {
///     trades.publish(|trade| (trade.price, trade.quantity) = (price, 2))?;
/// }
/// let report = running.shutdown()?;
/// assert!(report.stages().all(|stage| stage.processed() == 100));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a builder has no effect before `build`"]
pub struct Builder<'env, E, S> {
    parts: Parts<'env, E, S>,
    graph: Graph<'env, E>,
    /// The stages that the next stage waits for.
    last: Vec<StageId>,
}

impl<'env, E: Send + 'env, S: Sequencer> Builder<'env, E, S> {
    /// A builder of a ring whose events `factory` makes in place.
    pub(crate) fn new(capacity: usize, factory: Factory<'env, E>) -> Self {
        Self { parts: Parts::new(capacity, factory), graph: Graph::new(), last: Vec::new() }
    }

    /// Makes first stages check the published marks of the producer.
    pub(crate) fn look_at_published_marks(mut self) -> Self
    where
        E: HasPublishedMark,
    {
        self.parts.look_at_published_marks();
        self
    }

    /// Sets the name of the ring; "ring" by default.
    ///
    /// The name can be any text. A [`Monitor`](crate::monitor::Monitor) shows it. If a
    /// [`Placement`] puts several stages on a thread without a name, the thread is named after the
    /// ring, such as "orders-0".
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
        self.parts.name = Some(name.into());
        self
    }

    /// Lets other processes of the same user monitor the ring, by `lapwing top` or by an
    /// [`Observer`](crate::observe::Observer). Linux only.
    ///
    /// The atomic variables that a [`Monitor`](crate::monitor::Monitor) reads (sequences, counters and
    /// states) then lie in a mapped file instead of private memory, so the ring stores nothing twice.
    /// The events stay private. The file remains readable while the process is stopped or hangs, and
    /// after it was killed. [`observe`](crate::observe) says where the file is, and how long it stays.
    ///
    /// The file is named after `name`, the process and a number, so several rings may share a name. A
    /// name has 1 to 64 of `A-Z`, `a-z`, `0-9`, `-`, `_` and `.`, and does not begin with a dot. The
    /// ring has this name too, unless [`name`](Self::name) sets another. [`build`](Self::build) returns
    /// [`ObservableName`](BuildError::ObservableName) for any other name, and
    /// [`ObservableFile`](BuildError::ObservableFile) if the file cannot be made, as on systems other
    /// than Linux.
    ///
    /// Any process of this user can write to the file, and thereby corrupt the ring, even where the
    /// kernel forbids it to debug this process.
    ///
    #[cfg_attr(target_os = "linux", doc = "```")]
    #[cfg_attr(not(target_os = "linux"), doc = "```no_run")]
    /// use lapwing::{Disruptor, observe};
    ///
    /// let (mut producer, _consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .observable("example-orders")
    ///     .stage("all").poller()
    ///     .build()?;
    /// producer.publish(|event| *event = 7)?;
    ///
    /// // In this or another process:
    /// let mut files = observe::ring_files()?;
    /// files.retain(|file| file.name() == "example-orders" && file.pid() == std::process::id());
    /// let observer = files[0].observe()?;
    /// assert_eq!(observer.monitor().snapshot().published, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn observable(mut self, name: impl Into<String>) -> Self {
        self.parts.observable = Some(name.into());
        self
    }

    /// Sets how stages and dynamic consumers wait, except those with a
    /// [strategy](Stage::wait_strategy) of their own; [`Adaptive`](crate::wait::Adaptive) by
    /// default.
    ///
    /// ```
    /// use lapwing::{Disruptor, wait::Blocking};
    ///
    /// let (mut producer, mut consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .wait_strategy(Blocking::default())
    ///     .stage("all").poller()
    ///     .build()?;
    /// let mut poller = consumers.take_poller("all")?;
    /// let thread = std::thread::spawn(move || producer.publish(|event| *event = 7));
    /// assert_eq!(poller.wait()?.as_slice(), [7]); // may have parked
    /// thread.join().unwrap()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn wait_strategy(mut self, strategy: impl WaitStrategy) -> Self {
        self.parts.wait = Box::new(strategy);
        self
    }

    /// Sets how producers wait on a full ring; [`Adaptive`](crate::wait::Adaptive) by default.
    ///
    /// ```
    /// use lapwing::{Disruptor, wait::Yielding};
    ///
    /// let (mut producer, consumers) = Disruptor::single_producer(1, || 0_u64)
    ///     .producer_wait_strategy(Yielding::default())
    ///     .stage("check").read(|event, sequence, _| assert_eq!(*event, sequence))
    ///     .build()?;
    /// let running = consumers.start()?;
    /// for number in 0..10 {
    ///     producer.publish(|event| *event = number)?; // waits for the only slot
    /// }
    /// assert_eq!(running.shutdown()?.stages().next().unwrap().processed(), 10);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn producer_wait_strategy(mut self, strategy: impl WaitStrategy) -> Self {
        self.parts.producer_wait = Box::new(strategy);
        self
    }

    /// Sets the sequence of the first event; 0 by default, and at most
    /// [`MAX_FIRST_SEQUENCE`](crate::MAX_FIRST_SEQUENCE).
    ///
    /// Every position in the ring starts there. Use it for a ring that continues an earlier one,
    /// for example when a journal is replayed or when other programs know the sequences.
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

    /// Reserves `count` dynamic stages for consumers that [join](crate::graph::DynamicStages::join)
    /// and leave while the ring runs; 0 by default, and at most
    /// [`MAX_DYNAMIC_STAGES`](crate::MAX_DYNAMIC_STAGES).
    ///
    /// Dynamic stages have a cost. A producer that has used up its known free slots also reads
    /// every dynamic stage, free ones included, and runs a full fence. Every thread also checks for
    /// parked threads, since a consumer that joins may park. A ring without dynamic stages pays
    /// nothing.
    ///
    /// ```
    /// use lapwing::{Disruptor, graph::StartAt};
    ///
    /// let (mut producer, mut consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).dynamic_stages(1)
    ///         .stage("all").poller().build()?;
    /// let _all = consumers.take_poller("all")?;
    /// let mut late = consumers.dynamic_stages().join("late", StartAt::Now)?.poller();
    /// producer.publish(|event| *event = 7)?;
    /// assert_eq!(late.poll()?.as_slice(), [7]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn dynamic_stages(mut self, count: usize) -> Self {
        self.parts.dynamic_stages = count;
        self
    }

    /// Sets which thread runs which stage, including the stages of a [`Graph`]. By default each
    /// stage has its own thread. The last call applies.
    ///
    /// ```
    /// use lapwing::{Disruptor, graph::Placement};
    ///
    /// let (_producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .placement(Placement::threads(1))
    ///     .parallel(|parallel| parallel
    ///         .stage("left").read(|_, _, _| {})
    ///         .stage("right").read(|_, _, _| {}))
    ///     .build()?;
    /// assert_eq!(consumers.threads().collect::<Vec<_>>(), [("ring-0", vec!["left", "right"])]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn placement(mut self, placement: Placement) -> Self {
        self.parts.placement = placement;
        self
    }

    /// Begins a stage that runs alone, after all stages before it.
    ///
    /// `stage` is a name, or a [`Stage`] with settings. More settings may follow. A verb such as
    /// [`read`](Stage::read) or [`write`](Stage::write) adds the stage and returns the builder.
    ///
    /// ```
    /// use lapwing::{Disruptor, wait::BusySpin};
    ///
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("double").wait_strategy(BusySpin).write(|event, _, _| *event *= 2)
    ///     .stage("check").read(|event, _, _| assert_eq!(*event, 14))
    ///     .build()?;
    /// let running = consumers.start()?;
    /// producer.publish(|event| *event = 7)?;
    /// running.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn stage(self, stage: impl Into<Stage>) -> Stage<Self> {
        stage.into().at(self)
    }

    /// Adds a stage after the last stages.
    pub(super) fn push(mut self, mut stage: Settings, part: Part<'env, E>) -> Self {
        stage.after.extend(&self.last);
        self.last = vec![self.graph.push(stage, part)];
        self
    }

    /// Adds stages side by side. Each of them reads every event. The next stage waits for all of
    /// them.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .parallel(|parallel| parallel
    ///         .stage("left").read(|event, _, _| assert_eq!(*event, 7))
    ///         .stage("right").read(|event, _, _| assert_eq!(*event, 7)))
    ///     .stage("zero").write(|event, _, _| *event = 0) // after both have read it
    ///     .build()?;
    /// let running = consumers.start()?;
    /// producer.publish(|event| *event = 7)?;
    /// running.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn parallel(
        mut self,
        stages: impl for<'g> FnOnce(Parallel<'g, 'env, E>) -> Parallel<'g, 'env, E>,
    ) -> Self
    where
        E: Sync,
    {
        self.last = stages(Parallel::new(&mut self.graph, self.last)).into_last();
        self
    }

    /// Adds a stage that clears each event once all stages before it have finished it, to release
    /// what the event owns. It also clears events that were [skipped](crate::Action::Skip). Call it
    /// last: stages added after it get cleared events.
    ///
    /// The stage is named "clear" and runs alone. It shares the thread of the stage before it, or
    /// of the first of several stages before it, if that stage has a single handler. Otherwise, or
    /// if a group names it, the [`Placement`] gives it a thread. A panic of `clear` halts the ring.
    ///
    /// Without this call, an event lives in its slot until it is overwritten, one lap of the ring
    /// later. What was written into a claim that was dropped always lives that long, since no stage
    /// sees it.
    ///
    /// The memory of a ring is freed when the last of its ends is dropped: producers, consumers,
    /// pollers and dynamic stages. An event that owns an end of its own ring, for example a
    /// producer for replies, keeps the ring alive. Unless it is cleared, the ring and its events
    /// are never freed. If the end is a producer, dropping the other producers does not close the
    /// ring.
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
        stage.settings.takes_failed = true;
        stage.write(move |event, _, _| clear(event))
    }

    /// Adds the stages of a [`Graph`], which the program can put together at run time.
    ///
    /// Stages of the graph without dependencies run after the stages added before. The next
    /// stage waits for the stages of the graph that no other depends on.
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
    ///     .stage("zero").write(|event, _, _| *event = 0)
    ///     .build()?;
    /// assert_eq!(consumers.names().count(), 5);
    /// let running = consumers.start()?;
    /// producer.publish(|event| *event = 7)?;
    /// running.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn graph(mut self, graph: Graph<'env, E>) -> Self {
        self.last = self.graph.append(graph, &self.last);
        self
    }

    /// Makes the ring and returns its two ends: the producer, and the consumers, which are not
    /// started. The factory runs on the calling thread, once for each slot.
    ///
    /// Events may be published before the consumers start. They stay in the ring. Once the ring is
    /// full, [`publish`](Producer::publish) waits until the consumers have started and freed slots.
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
    /// On an error no ring exists. The factory has not run, unless writing the file of an observable
    /// ring failed at the end; the events that it made are then dropped. The variants of [`BuildError`]
    /// describe the causes:
    ///
    /// - A setting of the ring is out of range: [`Capacity`](BuildError::Capacity),
    ///   [`DynamicStages`](BuildError::DynamicStages),
    ///   [`FirstSequence`](BuildError::FirstSequence).
    /// - The allocator refuses the memory: [`OutOfMemory`](BuildError::OutOfMemory).
    /// - The ring cannot be [observable](Self::observable):
    ///   [`ObservableName`](BuildError::ObservableName), [`ObservableFile`](BuildError::ObservableFile).
    /// - There is no stage: [`NoConsumers`](BuildError::NoConsumers).
    /// - The name of a stage or thread is invalid: [`InvalidName`](BuildError::InvalidName).
    /// - Two stages or workers have one name: [`DuplicateName`](BuildError::DuplicateName).
    /// - A stage has a fault: [`ZeroMaxBatch`](BuildError::ZeroMaxBatch),
    ///   [`UnusedSetting`](BuildError::UnusedSetting), [`Workers`](BuildError::Workers).
    /// - A [`Graph`] has an invalid order: [`UnknownStage`](BuildError::UnknownStage),
    ///   [`UnknownUpstream`](BuildError::UnknownUpstream),
    ///   [`DuplicateUpstream`](BuildError::DuplicateUpstream), [`Cycle`](BuildError::Cycle),
    ///   [`Overlap`](BuildError::Overlap).
    /// - Stages cannot run on the threads that they, or the
    ///   [`placement`](Self::placement), ask for: [`ZeroThreads`](BuildError::ZeroThreads),
    ///   [`UnknownInGroup`](BuildError::UnknownInGroup),
    ///   [`PollerInGroup`](BuildError::PollerInGroup), [`TwoThreads`](BuildError::TwoThreads),
    ///   [`BlockingShares`](BuildError::BlockingShares),
    ///   [`UnknownThread`](BuildError::UnknownThread), [`TwoPins`](BuildError::TwoPins).
    ///
    /// # Panics
    ///
    /// If user code panics: the factory of the events, or the `clone` of a wait strategy or of the
    /// failure policy of a worker group. The events that were made are then dropped.
    pub fn build(self) -> Result<(Producer<E, S>, Consumers<'env, E>), BuildError> {
        self.parts.build(self.graph)
    }
}

impl<E, S> fmt::Debug for Builder<'_, E, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder").field("parts", &self.parts).field("graph", &self.graph).finish()
    }
}
