//! A stage as a program writes it: a name, settings (`options`), and a verb (`verbs`, `worker_verbs`) that says what the
//! stage does. Not here: where it stands (`position`).

mod options;
mod settings;
mod verbs;
mod worker_verbs;
mod workers;

use std::fmt;

pub(super) use settings::Settings;
pub use workers::Workers;

use super::graph::{Graph, StageId};

/// A stage: its name, its settings, and then what it does with events.
///
/// [`stage`](crate::Builder::stage) of a builder, a [side](crate::graph::Side::stage), a
/// [chain](crate::graph::Chain::stage) or a [graph](crate::graph::Graph::stage) begins one. Settings such as
/// [`wait`](Self::wait) may follow, and a verb ends it: it says what the stage does, and returns what the stage was
/// begun on. `P` is that [position](crate::graph::Position); a verb that changes events exists only where a stage is
/// [alone](crate::graph::Alone).
///
/// | what gets the events | reads: `&E` | changes: `&mut E` |
/// |---|---|---|
/// | a closure, event by event | [`read`](Self::read) | [`write`](Self::write) |
/// | a closure, batch by batch | [`read_batch`](Self::read_batch) | [`write_batch`](Self::write_batch) |
/// | an [`EventHandler`](crate::EventHandler) | [`read_handler`](Self::read_handler) | [`write_handler`](Self::write_handler) |
/// | one that is made on the stage's thread | [`read_local`](Self::read_local) | [`write_local`](Self::write_local) |
/// | a [`Poller`](crate::Poller) of yours | [`poller`](Self::poller) | [`poller_mut`](Self::poller_mut) |
/// | several [`Workers`](crate::graph::Workers) | [`workers`](Self::workers), then [`read`](crate::graph::Workers::read) | [`workers`](Self::workers), then [`write`](crate::graph::Workers::write) |
///
/// ```
/// use lapwing::Disruptor;
/// use lapwing::wait::Blocking;
///
/// let (producer, consumers) = Disruptor::single_producer(1024, || 0_u64)
///     .stage("enrich").write(|event, _, _| *event += 1)
///     .stage("risk")
///         .wait(Blocking::default())
///         .max_batch(64)
///         .read(|event, _, _| assert!(*event > 0))
///     .build()?;
/// assert_eq!(consumers.names().collect::<Vec<_>>(), ["enrich", "risk"]);
/// # drop(producer);
/// # Ok::<(), lapwing::error::BuildError>(())
/// ```
///
/// [`Stage::new`] makes a stage without a place, for settings that are kept in a variable, and for a
/// [seat](crate::graph::Seats::take). It has no verbs. A `&str` or a `String` is one with that name and no settings.
///
/// ```
/// use lapwing::{Disruptor, Stage};
///
/// let risk = Stage::new("risk").max_batch(64);
/// let ring = Disruptor::single_producer(1024, || 0_u64);
/// let (producer, consumers) = ring.stage(risk).read(|_, _, _| {}).build()?;
/// # drop((producer, consumers));
/// # Ok::<(), lapwing::error::BuildError>(())
/// ```
///
/// ```compile_fail,E0599
/// let _ = lapwing::Stage::new("risk").read(|_: &u64, _, _| {});
/// ```
#[must_use = "a stage is added by a verb, such as `read`"]
pub struct Stage<P = Unplaced> {
    pub(super) settings: Settings,
    pub(super) position: P,
}

/// The position of a [`Stage`] that is not part of a graph: [`Stage::new`] makes it, and `stage` of a builder, a side, a
/// chain or a graph gives it its place.
///
/// ```
/// use lapwing::{Stage, graph::Unplaced};
///
/// let stage: Stage<Unplaced> = Stage::new("risk");
/// # let _ = stage;
/// ```
#[derive(Debug)]
pub struct Unplaced(());

impl Stage {
    /// A stage with this name, which is also its thread's, and no place yet. Names are unique in a graph, not empty,
    /// and have no NUL; [`build`](crate::Builder::build) checks it.
    ///
    /// ```
    /// use lapwing::{Disruptor, Stage, error::BuildError};
    ///
    /// let nameless = Disruptor::single_producer(8, || 0_u64).stage(Stage::new("")).poller();
    /// assert_eq!(nameless.build().err(), Some(BuildError::InvalidName { stage: String::new() }));
    /// ```
    pub fn new(name: impl Into<String>) -> Self {
        Self { settings: Settings::new(name.into()), position: Unplaced(()) }
    }

    /// The same stage, at its place.
    pub(super) fn at<P>(self, position: P) -> Stage<P> {
        Stage { settings: self.settings, position }
    }
}

impl<E> Stage<&mut Graph<'_, E>> {
    /// A stage that this one comes after: it gets each event when that stage has finished it. Only a stage of a
    /// [`Graph`] has this call; elsewhere the place says what a stage comes after. An id of another graph is
    /// [`BuildError::UnknownStage`](crate::error::BuildError::UnknownStage).
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
    /// # let mut left = consumers.take_poller("left")?;
    /// # let mut right = consumers.take_poller("right")?;
    /// # let mut both = consumers.take_poller("both")?;
    /// producer.publish(|event| *event = 7)?;
    /// left.poll()?.consume_all();
    /// assert!(both.poll().is_err());
    /// right.poll()?.consume_all();
    /// assert_eq!(both.poll()?.as_slice(), [7]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// ```compile_fail,E0599
    /// use lapwing::{Disruptor, graph::Graph};
    ///
    /// let id = Graph::new().stage("first").read(|_: &u64, _, _| {});
    /// let ring = Disruptor::single_producer(8, || 0_u64);
    /// let _ = ring.stage("second").after(id).read(|_, _, _| {});
    /// ```
    pub fn after(mut self, stage: StageId) -> Self {
        self.settings.after.push(stage);
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
