//! Stages beside other stages: side by side, or one after another in a chain. Each gets every
//! event, and none may change it.

use std::fmt;

use super::graph::{Graph, Part};
use super::settings::Settings;
use super::stage::Stage;
use super::stage_id::StageId;

/// Stages side by side, within [`Builder::parallel`](crate::Builder::parallel). Each of
/// them reads every event.
///
/// ```
/// let ring = lapwing::Disruptor::single_producer(8, || 0_u64).parallel(|parallel| parallel
///     .stage("left").read(|event, _, _| assert!(*event < 9))
///     .stage("right").poller());
/// assert!(ring.build().is_ok());
/// ```
///
/// Parallel stages have no verb that changes events:
///
/// ```compile_fail,E0277
/// let _ = lapwing::Disruptor::single_producer(8, || 0_u64)
///     .parallel(|parallel| parallel.stage("left").write(|event, _, _| *event += 1));
/// ```
///
/// A closure that reads gets `&E`:
///
/// ```compile_fail,E0594
/// let _ = lapwing::Disruptor::single_producer(8, || 0_u64)
///     .parallel(|parallel| parallel.stage("left").read(|event, _, _| *event += 1));
/// ```
#[must_use = "return it from the closure"]
pub struct Parallel<'graph, 'env, E> {
    graph: &'graph mut Graph<'env, E>,
    /// The stages that each of these stages waits for.
    after: Vec<StageId>,
    /// The stages that the next stages wait for.
    last: Vec<StageId>,
}

impl<'graph, 'env, E: Send + Sync + 'env> Parallel<'graph, 'env, E> {
    pub(super) fn new(graph: &'graph mut Graph<'env, E>, after: Vec<StageId>) -> Self {
        Self { graph, after, last: Vec::new() }
    }

    /// The stages that the next stages wait for. If there is no stage here, those before.
    pub(super) fn into_last(self) -> Vec<StageId> {
        if self.last.is_empty() { self.after } else { self.last }
    }

    pub(super) fn push(mut self, mut stage: Settings, part: Part<'env, E>) -> Self {
        stage.after.extend(&self.after);
        self.last.push(self.graph.push(stage, part));
        self
    }

    /// Begins a stage beside the others. Its verb, such as [`read`](Stage::read), returns `Self`.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, mut consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .parallel(|parallel| parallel.stage("left").poller().stage("right").poller())
    ///     .build()?;
    /// let mut left = consumers.take_poller("left")?;
    /// let mut right = consumers.take_poller("right")?;
    /// producer.publish(|event| *event = 7)?;
    /// assert_eq!(left.poll()?.as_slice(), right.poll()?.as_slice());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn stage(self, stage: impl Into<Stage>) -> Stage<Self> {
        stage.into().at(self)
    }

    /// Adds stages one after another, beside the others. The next stage waits for the end
    /// of the chain.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, mut consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .parallel(|parallel| parallel
    ///         .stage("journal").poller()
    ///         .chain(|chain| chain.stage("first").poller().stage("second").poller()))
    ///     .build()?;
    /// let mut journal = consumers.take_poller("journal")?;
    /// let mut first = consumers.take_poller("first")?;
    /// let mut second = consumers.take_poller("second")?;
    /// producer.publish(|event| *event = 7)?;
    /// assert!(journal.poll().is_ok());
    /// assert!(second.poll().is_err()); // "first" has not consumed the event
    /// first.poll()?.consume_all();
    /// assert!(second.poll().is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn chain(
        mut self,
        stages: impl for<'g> FnOnce(Chain<'g, 'env, E>) -> Chain<'g, 'env, E>,
    ) -> Self {
        let chain = stages(Chain { graph: self.graph, last: self.after.clone() });
        self.last.extend(chain.last);
        self
    }
}

impl<E> fmt::Debug for Parallel<'_, '_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parallel").field("after", &self.after).field("last", &self.last).finish()
    }
}

/// Stages one after another beside others, within [`Parallel::chain`]. They only read, since other
/// stages read the same events at the same time.
///
/// ```
/// use lapwing::Disruptor;
///
/// let (_producer, consumers) = Disruptor::single_producer(8, || 0_u64)
///     .parallel(|parallel| parallel
///         .stage("journal").read(|_, _, _| {})
///         .chain(|chain| chain
///             .stage("decode").read(|_, _, _| {})
///             .parallel(|parallel| parallel
///                 .stage("left").read(|_, _, _| {})
///                 .stage("right").read(|_, _, _| {}))))
///     .stage("zero").write(|event, _, _| *event = 0)
///     .build()?;
/// assert_eq!(consumers.names().count(), 5);
/// # Ok::<(), lapwing::error::BuildError>(())
/// ```
///
/// A chain has no verb that changes events either:
///
/// ```compile_fail,E0277
/// let _ = lapwing::Disruptor::single_producer(8, || 0_u64).parallel(|parallel| {
///     parallel.chain(|chain| chain.stage("decode").write(|event, _, _| *event += 1))
/// });
/// ```
#[must_use = "return the chain from the closure"]
pub struct Chain<'graph, 'env, E> {
    graph: &'graph mut Graph<'env, E>,
    /// The stages that the next stage waits for.
    last: Vec<StageId>,
}

impl<'env, E: Send + Sync + 'env> Chain<'_, 'env, E> {
    /// Begins a stage after the stages of the chain so far. Its verb, such as
    /// [`read`](Stage::read), returns the chain.
    ///
    /// ```
    /// use lapwing::{Disruptor, error::PollError};
    ///
    /// let (mut producer, mut consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .parallel(|parallel| {
    ///         parallel.chain(|chain| chain.stage("first").poller().stage("second").poller())
    ///     })
    ///     .build()?;
    /// let mut first = consumers.take_poller("first")?;
    /// let mut second = consumers.take_poller("second")?;
    /// producer.publish(|event| *event = 7)?;
    /// assert_eq!(second.poll().err(), Some(PollError::Empty));
    /// first.poll()?.consume_all();
    /// assert_eq!(second.poll()?.as_slice(), [7]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn stage(self, stage: impl Into<Stage>) -> Stage<Self> {
        stage.into().at(self)
    }

    pub(super) fn push(mut self, mut stage: Settings, part: Part<'env, E>) -> Self {
        stage.after.extend(&self.last);
        self.last = vec![self.graph.push(stage, part)];
        self
    }

    /// Adds stages side by side after the stages of the chain so far. The next stage waits for all
    /// of them.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, mut consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .parallel(|parallel| parallel.chain(|chain| chain
    ///         .parallel(|parallel| parallel.stage("left").poller().stage("right").poller())
    ///         .stage("last").poller()))
    ///     .build()?;
    /// let mut left = consumers.take_poller("left")?;
    /// let mut right = consumers.take_poller("right")?;
    /// let mut last = consumers.take_poller("last")?;
    /// producer.publish(|event| *event = 7)?;
    /// left.poll()?.consume_all();
    /// assert!(last.poll().is_err()); // "right" has not consumed the event
    /// right.poll()?.consume_all();
    /// assert!(last.poll().is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn parallel(
        mut self,
        stages: impl for<'g> FnOnce(Parallel<'g, 'env, E>) -> Parallel<'g, 'env, E>,
    ) -> Self {
        self.last = stages(Parallel::new(self.graph, self.last)).into_last();
        self
    }
}

impl<E> fmt::Debug for Chain<'_, '_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chain").field("last", &self.last).finish_non_exhaustive()
    }
}
