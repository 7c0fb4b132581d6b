//! Stages one after another, beside others: each gets every event, none may change it.

use std::fmt;

use super::Side;
use crate::Sequence;
use crate::consumer::{EventHandler, IntoAction, Shared};
use crate::topology::Stage;
use crate::topology::graph::{Graph, StageId};

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
    pub(super) graph: &'graph mut Graph<'env, E>,
    /// What the next stage comes after.
    pub(super) last: Vec<StageId>,
}

impl<'env, E: Send + Sync + 'env> Chain<'_, 'env, E> {
    /// Adds a stage that reads event by event: `on_event(event, sequence, end_of_batch)`.
    ///
    /// ```
    /// # use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
    /// # use lapwing::Disruptor;
    /// # static DONE: AtomicU64 = AtomicU64::new(0);
    /// # let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    /// .then_all(|side| side.chain(|chain| {
    ///     chain
    ///         .read("first", |_, sequence, _| DONE.store(sequence + 1, Relaxed))
    ///         .read("second", |_, sequence, _| assert!(DONE.load(Relaxed) > sequence))
    /// }))
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
        self.all(|side| side.read(stage, on_event))
    }

    /// Adds a stage that reads batch by batch: `on_batch(events, first_sequence)`.
    ///
    /// ```
    /// # use lapwing::Disruptor;
    /// # let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    /// .then_all(|side| side.chain(|chain| {
    ///     chain.read_batch("check", |events, _first_sequence| assert_eq!(events[0], 7))
    /// }))
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
        self.all(|side| side.read_batch(stage, on_batch))
    }

    /// Adds a stage with a handler, to be [handed back](crate::Report::take).
    ///
    /// ```
    /// # use lapwing::{Disruptor, EventHandler, Sequence};
    /// # struct Sum(u64);
    /// # impl EventHandler<u64> for Sum {
    /// #     fn on_event(&mut self, event: &u64, _: Sequence, _: bool) {
    /// #         self.0 += event;
    /// #     }
    /// # }
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .then_all(|side| side.chain(|chain| chain.read_handler("sum", Sum(0))))
    ///     .build()?;
    /// # let running = consumers.start()?;
    /// producer.publish(|event| *event = 7)?;
    /// let Sum(total) = running.shutdown()?.take("sum")?;
    /// assert_eq!(total, 7);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_handler<H, R>(self, stage: impl Into<Stage>, handler: H) -> Self
    where
        H: EventHandler<E, Shared, R> + Send + 'static,
        R: IntoAction + 'env,
    {
        self.all(|side| side.read_handler(stage, handler))
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
    /// .then_all(|side| side.chain(|chain| chain.read_local("local", || Local(Rc::new(7)))))
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
        self.all(|side| side.read_local(stage, make))
    }

    /// Adds a [`Poller`](crate::Poller), to be [taken](crate::Consumers::take_poller) by its name.
    ///
    /// ```
    /// # use lapwing::{Disruptor, PollError};
    /// let (mut producer, mut consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .then_all(|side| side.chain(|chain| chain.poller("first").poller("second")))
    ///     .build()?;
    /// let mut first = consumers.take_poller("first")?;
    /// let mut second = consumers.take_poller("second")?;
    /// producer.publish(|event| *event = 7)?;
    /// assert_eq!(second.poll().err(), Some(PollError::Empty));
    /// first.poll()?.consume_all();
    /// assert_eq!(second.poll()?.as_slice(), [7]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn poller(self, stage: impl Into<Stage>) -> Self {
        self.all(|side| side.poller(stage))
    }

    /// Adds stages side by side.
    ///
    /// ```
    /// # use lapwing::Disruptor;
    /// # let (mut producer, mut consumers) = Disruptor::single_producer(8, || 0_u64)
    /// .then_all(|side| side.chain(|chain| {
    ///     chain.all(|side| side.poller("left").poller("right")).poller("last")
    /// }))
    /// #     .build()?;
    /// # let mut left = consumers.take_poller("left")?;
    /// # let mut right = consumers.take_poller("right")?;
    /// # let mut last = consumers.take_poller("last")?;
    /// # producer.publish(|event| *event = 7)?;
    /// left.poll()?.consume_all();
    /// assert!(last.poll().is_err()); // not before both have consumed the event
    /// right.poll()?.consume_all();
    /// assert!(last.poll().is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
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
