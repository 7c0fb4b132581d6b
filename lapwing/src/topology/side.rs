//! Stages side by side: each gets every event, none may change it.

use std::fmt;

use super::graph::{Graph, StageId};
use super::stage::Stage;
use crate::Sequence;
use crate::consumer::EventHandler;

/// Stages side by side, within [`Builder::then_all`](crate::Builder::then_all). All of them read; a
/// verb that writes is not there:
///
/// ```compile_fail,E0599
/// let _ = lapwing::Disruptor::single_producer(8, || 0_u64)
///     .then_all(|side| side.then_mut("left", |event, _, _| *event += 1));
/// ```
///
/// ```compile_fail,E0594
/// let _ = lapwing::Disruptor::single_producer(8, || 0_u64)
///     .then_all(|side| side.read("left", |event, _, _| *event += 1));
/// ```
///
/// ```
/// let _ = lapwing::Disruptor::single_producer(8, || 0_u64)
///     .then_all(|side| side.read("left", |event, _, _| assert!(*event < 9)));
/// ```
#[must_use = "return the side from the closure"]
pub struct Side<'graph, 'env, E> {
    graph: &'graph mut Graph<'env, E>,
    /// What every stage of this side comes after.
    after: Vec<StageId>,
    /// Whom the stages after this side wait for.
    last: Vec<StageId>,
}

impl<'graph, 'env, E: Send + Sync + 'env> Side<'graph, 'env, E> {
    pub(super) fn new(graph: &'graph mut Graph<'env, E>, after: Vec<StageId>) -> Self {
        Self { graph, after, last: Vec::new() }
    }

    /// Whom the stages after this side wait for: for an empty side, those before it.
    pub(super) fn into_last(self) -> Vec<StageId> {
        if self.last.is_empty() { self.after } else { self.last }
    }

    fn add(
        mut self,
        stage: impl Into<Stage>,
        add: impl FnOnce(&mut Graph<'env, E>, Stage) -> StageId,
    ) -> Self {
        let mut stage = stage.into();
        stage.after.extend(&self.after);
        self.last.push(add(self.graph, stage));
        self
    }

    /// Adds a stage that reads event by event: `on_event(event, sequence, end_of_batch)`.
    pub fn read(
        self,
        stage: impl Into<Stage>,
        on_event: impl FnMut(&E, Sequence, bool) + Send + 'env,
    ) -> Self {
        self.add(stage, |graph, stage| graph.read(stage, on_event))
    }

    /// Adds a stage that reads batch by batch: `on_batch(events, first_sequence)`.
    pub fn read_batch(
        self,
        stage: impl Into<Stage>,
        on_batch: impl FnMut(&[E], Sequence) + Send + 'env,
    ) -> Self {
        self.add(stage, |graph, stage| graph.read_batch(stage, on_batch))
    }

    /// Adds a stage with a handler, to be [handed back](crate::Report::take).
    pub fn read_handler<H>(self, stage: impl Into<Stage>, handler: H) -> Self
    where
        H: EventHandler<E> + Send + 'static,
    {
        self.add(stage, |graph, stage| graph.read_handler(stage, handler))
    }

    /// Adds a stage whose handler is made and dropped on the stage's thread: it need not be `Send`.
    pub fn read_local<H>(
        self,
        stage: impl Into<Stage>,
        make: impl FnOnce() -> H + Send + 'env,
    ) -> Self
    where
        H: EventHandler<E> + 'env,
    {
        self.add(stage, |graph, stage| graph.read_local(stage, make))
    }

    /// Adds a [`Poller`](crate::Poller), to be [taken](crate::Consumers::take_poller) by its name.
    pub fn poller(self, stage: impl Into<Stage>) -> Self {
        self.add(stage, Graph::poller)
    }

    /// Adds stages one after another, beside the others.
    pub fn chain(
        mut self,
        stages: impl for<'g> FnOnce(Chain<'g, 'env, E>) -> Chain<'g, 'env, E>,
    ) -> Self {
        let chain = stages(Chain { graph: self.graph, last: self.after.clone() });
        self.last.extend(chain.last);
        self
    }
}

impl<E> fmt::Debug for Side<'_, '_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Side").field("after", &self.after).field("last", &self.last).finish()
    }
}

/// Stages one after another beside others, within [`Side::chain`]. They read, since others run
/// beside them.
///
/// ```
/// use lapwing::Disruptor;
///
/// let (producer, consumers) = Disruptor::single_producer(8, || 0_u64)
///     .then_all(|side| {
///         side.read("journal", |_, _, _| {}).chain(|chain| {
///             chain
///                 .read("decode", |_, _, _| {})
///                 .all(|side| side.read("left", |_, _, _| {}).read("right", |_, _, _| {}))
///         })
///     })
///     .then_mut("clear", |event, _, _| *event = 0)
///     .build()?;
/// assert_eq!(consumers.names().count(), 5);
/// # drop(producer);
/// # Ok::<(), lapwing::BuildError>(())
/// ```
#[must_use = "return the chain from the closure"]
pub struct Chain<'graph, 'env, E> {
    graph: &'graph mut Graph<'env, E>,
    /// What the next stage comes after.
    last: Vec<StageId>,
}

impl<'env, E: Send + Sync + 'env> Chain<'_, 'env, E> {
    /// Adds a stage that reads event by event: `on_event(event, sequence, end_of_batch)`.
    pub fn read(
        self,
        stage: impl Into<Stage>,
        on_event: impl FnMut(&E, Sequence, bool) + Send + 'env,
    ) -> Self {
        self.all(|side| side.read(stage, on_event))
    }

    /// Adds a stage that reads batch by batch: `on_batch(events, first_sequence)`.
    pub fn read_batch(
        self,
        stage: impl Into<Stage>,
        on_batch: impl FnMut(&[E], Sequence) + Send + 'env,
    ) -> Self {
        self.all(|side| side.read_batch(stage, on_batch))
    }

    /// Adds a stage with a handler, to be [handed back](crate::Report::take).
    pub fn read_handler<H>(self, stage: impl Into<Stage>, handler: H) -> Self
    where
        H: EventHandler<E> + Send + 'static,
    {
        self.all(|side| side.read_handler(stage, handler))
    }

    /// Adds a stage whose handler is made and dropped on the stage's thread: it need not be `Send`.
    pub fn read_local<H>(
        self,
        stage: impl Into<Stage>,
        make: impl FnOnce() -> H + Send + 'env,
    ) -> Self
    where
        H: EventHandler<E> + 'env,
    {
        self.all(|side| side.read_local(stage, make))
    }

    /// Adds a [`Poller`](crate::Poller), to be [taken](crate::Consumers::take_poller) by its name.
    pub fn poller(self, stage: impl Into<Stage>) -> Self {
        self.all(|side| side.poller(stage))
    }

    /// Adds stages side by side.
    pub fn all(
        mut self,
        stages: impl for<'g> FnOnce(Side<'g, 'env, E>) -> Side<'g, 'env, E>,
    ) -> Self {
        self.last = stages(Side::new(self.graph, self.last)).into_last();
        self
    }
}

impl<E> fmt::Debug for Chain<'_, '_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chain").field("last", &self.last).finish_non_exhaustive()
    }
}
