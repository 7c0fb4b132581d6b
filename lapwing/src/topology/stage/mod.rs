//! A stage as a program writes it: a name, settings (`options`), and a verb (`read_verbs`,
//! `write_verbs`, `worker_verbs`) that says what the stage does. Not here: the place of a stage
//! (`position`).

mod options;
mod verbs;
mod workers;

mod read_verbs;
mod worker_verbs;
mod write_verbs;

use std::fmt;

pub use workers::WorkerStage;

use super::graph::Graph;
use super::settings::Settings;
use super::stage_id::StageId;

/// A stage: its name, its settings, and a verb that says what it does with events.
///
/// 1. [`stage`](crate::Builder::stage) of a [`Builder`](crate::Builder) begins a stage. A
///    [`Parallel`](crate::graph::Parallel::stage), a [chain](crate::graph::Chain::stage) and a
///    [graph](crate::graph::Graph::stage) have the same call.
/// 2. Settings such as [`wait_strategy`](Self::wait_strategy) may follow.
/// 3. A verb ends the stage and returns what the stage was begun on, for the next stage.
///
/// | what gets the events | reads: `&E` | changes: `&mut E` |
/// |---|---|---|
/// | a closure, event by event | [`read`](Self::read) | [`write`](Self::write) |
/// | a closure, batch by batch | [`read_batch`](Self::read_batch) | [`write_batch`](Self::write_batch) |
/// | an [`EventHandler`](crate::EventHandler) | [`read_handler`](Self::read_handler) | [`write_handler`](Self::write_handler) |
/// | a [`BatchHandler`](crate::consumer::BatchHandler) | [`read_batch_handler`](Self::read_batch_handler) | [`write_batch_handler`](Self::write_batch_handler) |
/// | an `EventHandler` made on the thread of the stage | [`read_local`](Self::read_local) | [`write_local`](Self::write_local) |
/// | a [`Poller`](crate::Poller), which you poll | [`poller`](Self::poller) | [`poller_mut`](Self::poller_mut) |
/// | several [`WorkerStage`](crate::graph::WorkerStage) | [`workers`](Self::workers), then [`read`](crate::graph::WorkerStage::read) | [`workers`](Self::workers), then [`write`](crate::graph::WorkerStage::write) |
///
/// `P` is the [place](crate::graph::Position) of the stage. A verb that changes events exists only
/// where a stage is [alone](crate::graph::Alone) with them.
///
/// ```
/// use lapwing::{Disruptor, wait::Blocking};
///
/// let (_producer, consumers) = Disruptor::single_producer(1024, || 0_u64)
///     .stage("enrich").write(|event, _, _| *event += 1)
///     .stage("risk")
///         .wait_strategy(Blocking::default())
///         .max_batch(64)
///         .read(|event, _, _| assert!(*event > 0))
///     .build()?;
/// assert_eq!(consumers.names().collect::<Vec<_>>(), ["enrich", "risk"]);
/// # Ok::<(), lapwing::error::BuildError>(())
/// ```
///
/// [`Stage::new`] makes a stage without a place. Use it to keep settings in a variable, and to take
/// a [dynamic stage](crate::graph::DynamicStages::join). A `&str` or a `String` converts to a stage
/// with that name and no settings.
///
/// ```
/// use lapwing::{Disruptor, Stage};
///
/// let risk = Stage::new("risk").max_batch(64);
/// let ring = Disruptor::single_producer(1024, || 0_u64).stage(risk).read(|_, _, _| {});
/// assert!(ring.build().is_ok());
/// ```
///
/// A stage without a place has no verbs:
///
/// ```compile_fail,E0599
/// let _ = lapwing::Stage::new("risk").read(|_: &u64, _, _| {});
/// ```
#[must_use = "a stage is added by a verb, such as `read`"]
pub struct Stage<P = Unplaced> {
    pub(super) settings: Settings,
    pub(super) position: P,
}

/// The position of a [`Stage`] that has no place yet. [`Stage::new`] makes such a stage. `stage` of
/// a builder, parallel stages, a chain or a graph gives it its place.
///
/// ```
/// use lapwing::{Disruptor, Stage, graph::Unplaced};
///
/// let stage: Stage<Unplaced> = Stage::new("risk");
/// assert!(Disruptor::single_producer(8, || 0_u64).stage(stage).poller().build().is_ok());
/// ```
#[derive(Debug)]
pub struct Unplaced(());

impl Stage {
    /// Creates a stage that has no place in a ring yet. Settings may follow.
    ///
    /// The name must be unique among the stages and workers of the ring. It must not be empty, and
    /// must not contain a NUL. [`build`](crate::Builder::build) and
    /// [`join`](crate::graph::DynamicStages::join) check that. The thread of the stage has the same
    /// name, unless the stage or the [`Placement`](crate::graph::Placement) chooses another thread.
    ///
    /// ```
    /// use lapwing::{Disruptor, Stage, error::BuildError, wait::Blocking};
    ///
    /// let journal = Stage::new("journal").wait_strategy(Blocking::default()).max_batch(64);
    /// let ring = Disruptor::single_producer(8, || 0_u64).stage(journal).read(|_, _, _| {});
    /// let (_producer, consumers) = ring.build()?;
    /// assert_eq!(consumers.names().collect::<Vec<_>>(), ["journal"]);
    ///
    /// let nameless = Disruptor::single_producer(8, || 0_u64).stage(Stage::new("")).poller();
    /// assert_eq!(nameless.build().err(), Some(BuildError::InvalidName { stage: String::new() }));
    /// # Ok::<(), BuildError>(())
    /// ```
    pub fn new(name: impl Into<String>) -> Self {
        Self { settings: Settings::new(name.into()), position: Unplaced(()) }
    }

    /// The same stage at its place.
    pub(super) fn at<P>(self, position: P) -> Stage<P> {
        Stage { settings: self.settings, position }
    }
}

impl<'env, E: Send + 'env> Graph<'env, E> {
    /// Begins a stage. Its verb adds the stage and returns its id. Other stages depend on it by
    /// [`after`](Stage::after) with that id.
    ///
    /// ```
    /// use lapwing::{Disruptor, graph::Graph};
    ///
    /// let mut graph = Graph::new();
    /// let double = graph.stage("double").write(|event: &mut u64, _, _| *event *= 2);
    /// graph.stage("left").after(double).read(|event, _, _| assert_eq!(*event, 14));
    /// graph.stage("right").after(double).read(|event, _, _| assert_eq!(*event, 14)); // beside "left"
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0).graph(graph).build()?;
    /// let running = consumers.start()?;
    /// producer.publish(|event| *event = 7)?;
    /// running.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn stage(&mut self, stage: impl Into<Stage>) -> Stage<&mut Self> {
        stage.into().at(self)
    }
}

impl<E> Stage<&mut Graph<'_, E>> {
    /// Makes this stage depend on `stage`: it gets each event after `stage` has finished it.
    /// Several calls add several dependencies. The same id again changes nothing, because code that
    /// collects ids may meet one twice; a name that stands twice in a list is an error of
    /// [`after_named`](Self::after_named).
    ///
    /// For an id of another graph, [`build`](crate::Builder::build) returns
    /// [`UnknownStage`](crate::error::BuildError::UnknownStage).
    ///
    /// ```
    /// use lapwing::{Disruptor, graph::Graph};
    ///
    /// let mut graph = Graph::new();
    /// let left = graph.stage("left").poller();
    /// let right = graph.stage("right").poller();
    /// graph.stage("both").after(left).after(right).poller();
    /// let ring = Disruptor::single_producer(8, || 0).graph(graph);
    /// let (mut producer, mut consumers) = ring.build()?;
    /// let mut left = consumers.take_poller("left")?;
    /// let mut right = consumers.take_poller("right")?;
    /// let mut both = consumers.take_poller("both")?;
    /// producer.publish(|event| *event = 7)?;
    /// left.poll()?.consume_all();
    /// assert!(both.poll().is_err()); // "right" has not consumed the event
    /// right.poll()?.consume_all();
    /// assert_eq!(both.poll()?.as_slice(), [7]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Only a stage of a [`Graph`] has this call. Elsewhere, the place determines the dependencies:
    ///
    /// ```compile_fail,E0599
    /// use lapwing::{Disruptor, graph::Graph};
    ///
    /// let id = Graph::new().stage("first").read(|_: &u64, _, _| {});
    /// let ring = Disruptor::single_producer(8, || 0_u64);
    /// let _ = ring.stage("second").after(id).read(|_, _, _| {});
    /// ```
    pub fn after(mut self, stage: StageId) -> Self {
        if !self.settings.after.contains(&stage) {
            self.settings.after.push(stage);
        }
        self
    }

    /// Makes this stage depend on the stage `name` of the same graph, as [`after`](Self::after)
    /// does by an id. That stage may be added later, so a program can add the stages in any order,
    /// for example in that of a configuration file.
    ///
    /// Errors of [`build`](crate::Builder::build) name this stage and `name`:
    ///
    /// - [`UnknownUpstream`](crate::error::BuildError::UnknownUpstream) if no stage of the graph
    ///   has this name. A stage that the [`Builder`](crate::Builder) has added before does not
    ///   count: stages without dependencies follow it in any case.
    /// - [`DuplicateUpstream`](crate::error::BuildError::DuplicateUpstream) if this stage depends
    ///   on it already, also by its id.
    /// - [`Cycle`](crate::error::BuildError::Cycle) if the other stage depends on this one.
    ///
    /// [`names`](crate::Consumers::names) then lists each stage after those that it depends on.
    ///
    /// ```
    /// use lapwing::{Disruptor, error::BuildError, graph::Graph};
    ///
    /// let mut graph = Graph::new();
    /// for (name, upstream) in [("book", "risk"), ("risk", "decode"), ("journal", "decode")] {
    ///     graph.stage(name).after_named(upstream).read(|_: &u64, _, _| {});
    /// }
    /// graph.stage("decode").read(|_, _, _| {});
    /// let (_producer, consumers) = Disruptor::single_producer(8, || 0_u64).graph(graph).build()?;
    /// assert_eq!(consumers.names().collect::<Vec<_>>(), ["decode", "risk", "book", "journal"]);
    ///
    /// let mut graph = Graph::new();
    /// graph.stage("book").after_named("rsik").read(|_: &u64, _, _| {});
    /// let error = Disruptor::single_producer(8, || 0_u64).graph(graph).build().unwrap_err();
    /// let text = "a stage depends on a stage that its graph does not have: stage=\"book\", upstream=\"rsik\"";
    /// assert_eq!(error.to_string(), text);
    /// # Ok::<(), BuildError>(())
    /// ```
    pub fn after_named(mut self, name: impl Into<String>) -> Self {
        self.settings.after_names.push(name.into());
        self
    }
}

impl From<&str> for Stage {
    fn from(name: &str) -> Self {
        Self::new(name)
    }
}

impl From<String> for Stage {
    fn from(name: String) -> Self {
        Self::new(name)
    }
}

impl<P> fmt::Debug for Stage<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.settings.fmt(f)
    }
}
