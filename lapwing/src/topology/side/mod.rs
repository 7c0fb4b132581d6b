//! Stages side by side: each gets every event, none may change it.

mod chain;
mod workers;

use std::fmt;

pub use chain::Chain;

use super::graph::{Graph, StageId};
use super::stage::Stage;
use crate::Sequence;
use crate::consumer::{EventHandler, IntoAction, Shared};

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
    ///
    /// ```
    /// # use lapwing::Disruptor;
    /// # let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    /// .then_all(|side| side.read("check", |event, _, _| assert_eq!(*event, 7)))
    /// #     .build()?;
    /// # let running = consumers.start()?;
    /// # producer.publish(|event| *event = 7)?;
    /// # running.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read<R: IntoAction + 'env>(
        self,
        stage: impl Into<Stage>,
        on_event: impl FnMut(&E, Sequence, bool) -> R + Send + 'env,
    ) -> Self {
        self.add(stage, |graph, stage| graph.read(stage, on_event))
    }

    /// Adds a stage that reads batch by batch: `on_batch(events, first_sequence)`.
    ///
    /// ```
    /// # use lapwing::Disruptor;
    /// # let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    /// .then_all(|side| side.read_batch("check", |events, _| assert_eq!(events[0], 7)))
    /// #     .build()?;
    /// # let running = consumers.start()?;
    /// # producer.publish(|event| *event = 7)?;
    /// # running.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_batch<R: IntoAction + 'env>(
        self,
        stage: impl Into<Stage>,
        on_batch: impl FnMut(&[E], Sequence) -> R + Send + 'env,
    ) -> Self {
        self.add(stage, |graph, stage| graph.read_batch(stage, on_batch))
    }

    /// Adds a stage with a handler, to be [handed back](crate::Report::take).
    ///
    /// ```
    /// # use lapwing::{Disruptor, EventHandler, Sequence};
    /// # #[derive(Default)]
    /// # struct Sum(u64);
    /// # impl EventHandler<u64> for Sum {
    /// #     fn on_event(&mut self, event: &u64, _: Sequence, _: bool) {
    /// #         self.0 += event;
    /// #     }
    /// # }
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .then_all(|side| side.read_handler("left", Sum(0)).read_handler("right", Sum(100)))
    ///     .build()?;
    /// # let running = consumers.start()?;
    /// producer.publish(|event| *event = 7)?;
    /// let mut report = running.shutdown()?;
    /// assert_eq!((report.take::<Sum>("left")?.0, report.take::<Sum>("right")?.0), (7, 107));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_handler<H, R>(self, stage: impl Into<Stage>, handler: H) -> Self
    where
        H: EventHandler<E, Shared, R> + Send + 'static,
        R: IntoAction + 'env,
    {
        self.add(stage, |graph, stage| graph.read_handler(stage, handler))
    }

    /// Adds a stage whose handler is made and dropped on the stage's thread: it need not be `Send`.
    ///
    /// ```
    /// # use std::rc::Rc;
    /// # use lapwing::{Disruptor, EventHandler, Sequence};
    /// # struct Local(Rc<u64>);
    /// # impl EventHandler<u64> for Local {
    /// #     fn on_event(&mut self, event: &u64, _: Sequence, _: bool) {
    /// #         assert_eq!(*event, *self.0);
    /// #     }
    /// # }
    /// # let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    /// .then_all(|side| side.read_local("local", || Local(Rc::new(7)))) // an `Rc` is not `Send`
    /// #     .build()?;
    /// # let running = consumers.start()?;
    /// # producer.publish(|event| *event = 7)?;
    /// # running.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_local<H, R>(
        self,
        stage: impl Into<Stage>,
        make: impl FnOnce() -> H + Send + 'env,
    ) -> Self
    where
        H: EventHandler<E, Shared, R> + 'env,
        R: IntoAction + 'env,
    {
        self.add(stage, |graph, stage| graph.read_local(stage, make))
    }

    /// Adds a [`Poller`](crate::Poller), to be [taken](crate::Consumers::take_poller) by its name.
    ///
    /// ```
    /// # use lapwing::Disruptor;
    /// let (mut producer, mut consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .then_all(|side| side.poller("left").poller("right"))
    ///     .build()?;
    /// let mut left = consumers.take_poller("left")?;
    /// let mut right = consumers.take_poller("right")?;
    /// producer.publish(|event| *event = 7)?;
    /// assert_eq!(left.poll()?.as_slice(), right.poll()?.as_slice());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn poller(self, stage: impl Into<Stage>) -> Self {
        self.add(stage, Graph::poller)
    }

    /// Adds stages one after another, beside the others.
    ///
    /// ```
    /// # use lapwing::Disruptor;
    /// let (mut producer, mut consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .then_all(|side| {
    ///         side.poller("journal").chain(|chain| chain.poller("first").poller("second"))
    ///     })
    ///     .build()?;
    /// # let mut journal = consumers.take_poller("journal")?;
    /// # let mut first = consumers.take_poller("first")?;
    /// # let mut second = consumers.take_poller("second")?;
    /// producer.publish(|event| *event = 7)?;
    /// assert!(journal.poll().is_ok() && first.poll().is_ok());
    /// assert!(second.poll().is_err()); // not before the first has consumed the event
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

impl<E> fmt::Debug for Side<'_, '_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Side").field("after", &self.after).field("last", &self.last).finish()
    }
}
