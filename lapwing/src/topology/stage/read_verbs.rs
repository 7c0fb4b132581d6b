//! The verbs of a stage that reads: a closure, a handler or a poller. Not here: how a verb adds the
//! stage (`verbs`).

use super::Stage;
use super::verbs::{itself, nothing};
use crate::Sequence;
use crate::consumer::{
    BatchHandler, BatchLife, EventHandler, IntoAction, PerBatch, PerEvent, Shared, WholeLife,
};
use crate::topology::graph::{Abilities, Body, Part};
use crate::topology::position::Position;

/// Stages that read. Several threads may read an event at the same time, so events must be `Sync`:
///
/// ```compile_fail,E0277
/// use std::cell::Cell;
/// let ring = lapwing::Disruptor::single_producer(8, || Cell::new(0));
/// let _ = ring.stage("a").read(|event, _, _| event.set(1));
/// ```
///
/// A stage that changes events accepts them, since it is alone with each event:
///
/// ```
/// use std::cell::Cell;
/// let ring = lapwing::Disruptor::single_producer(8, || Cell::new(0));
/// let ring = ring.stage("a").write(|event, _, _| event.set(1));
/// assert!(ring.build().is_ok());
/// ```
impl<'env, P: Position<'env>> Stage<P> {
    /// Reads events one by one with a closure: `on_event(event, sequence, end_of_batch)`.
    ///
    /// The closure returns `()`, an [`Action`](crate::Action), or a `Result`; see [`IntoAction`].
    ///
    /// What the closure owns (`move`) lies on cache lines that no other thread writes. What it
    /// borrows lies where its owner put it. Two counters that lie side by side on a stack may share
    /// a cache line. If two stages write them, the two threads contend for that cache line at each
    /// event (false sharing). To avoid it, use `#[repr(align(128))]`, or an [`EventHandler`] that
    /// owns its counter and is [handed back](crate::Report::take).
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("check").read(|event, sequence, _end_of_batch| assert_eq!(*event, sequence))
    ///     .build()?;
    /// let running = consumers.start()?;
    /// for number in 0..10 {
    ///     producer.publish(|event| *event = number)?;
    /// }
    /// assert_eq!(running.shutdown()?.stages().next().unwrap().processed(), 10);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read<R: IntoAction + 'env>(
        self,
        on_event: impl FnMut(&P::Event, Sequence, bool) -> R + Send + 'env,
    ) -> P::Next
    where
        P::Event: Sync,
    {
        self.add::<Shared, _, R>(|| PerEvent::new(on_event), nothing)
    }

    /// Reads events batch by batch with a closure: `on_batch(events, first_sequence)`.
    ///
    /// The closure returns `()`, an [`Action`](crate::Action), or a `Result`; see [`IntoAction`].
    /// After `()`, the stage releases the batch. [`max_batch`](Self::max_batch) limits a batch.
    ///
    /// A batch is a slice, so it ends at the last slot of the ring, and the next batch begins at
    /// the first slot. With large events, a closure that iterates over
    /// [`Events`](crate::consumer::Events) has a higher throughput.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("check").read_batch(|events, _first_sequence| {
    ///         assert!(events.iter().all(|event| *event == 7));
    ///     })
    ///     .build()?;
    /// let running = consumers.start()?;
    /// producer.publish(|event| *event = 7)?;
    /// running.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_batch<R: IntoAction + 'env>(
        self,
        on_batch: impl FnMut(&[P::Event], Sequence) -> R + Send + 'env,
    ) -> P::Next
    where
        P::Event: Sync,
    {
        self.add::<Shared, _, R>(|| PerBatch::new(on_batch), nothing)
    }

    /// Reads events one by one with a handler. [`Report::take`](crate::Report::take) hands it back
    /// at the end.
    ///
    /// ```
    /// use lapwing::{Disruptor, EventHandler, Sequence};
    ///
    /// struct Sum(u64);
    ///
    /// impl EventHandler<u64> for Sum {
    ///     fn on_event(&mut self, event: &u64, _: Sequence, _: bool) {
    ///         self.0 += event;
    ///     }
    /// }
    ///
    /// let (mut producer, consumers) =
    ///     Disruptor::single_producer(8, || 0).stage("sum").read_handler(Sum(0)).build()?;
    /// let running = consumers.start()?;
    /// producer.publish(|event| *event = 7)?;
    /// let Sum(total) = running.shutdown()?.take("sum")?;
    /// assert_eq!(total, 7);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_handler<H, R>(self, handler: H) -> P::Next
    where
        P::Event: Sync,
        H: EventHandler<P::Event, Shared, R> + Send + 'static,
        R: IntoAction + 'env,
    {
        self.add::<Shared, _, R>(|| WholeLife::new(handler), itself)
    }

    /// Reads events batch by batch with a handler. [`Report::take`](crate::Report::take) hands it
    /// back at the end.
    ///
    /// ```
    /// use lapwing::{Disruptor, Sequence, consumer::{BatchHandler, Done}};
    ///
    /// struct Sum(u64);
    ///
    /// impl BatchHandler<u64> for Sum {
    ///     fn on_batch(&mut self, events: &[u64], _first: Sequence, _: Done<'_>) {
    ///         self.0 += events.iter().sum::<u64>();
    ///     }
    /// }
    ///
    /// let (mut producer, consumers) =
    ///     Disruptor::single_producer(8, || 0).stage("sum").read_batch_handler(Sum(0)).build()?;
    /// let running = consumers.start()?;
    /// producer.publish(|event| *event = 7)?;
    /// let Sum(total) = running.shutdown()?.take("sum")?;
    /// assert_eq!(total, 7);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_batch_handler<H, R>(self, handler: H) -> P::Next
    where
        P::Event: Sync,
        H: BatchHandler<P::Event, Shared, R> + Send + 'static,
        R: IntoAction + 'env,
    {
        self.add::<Shared, _, R>(|| BatchLife::new(handler), |work| Some(Box::new(work.0)))
    }

    /// Reads events one by one with a handler that is made and dropped on the thread of the stage.
    /// The handler need not be `Send`.
    ///
    /// ```
    /// use std::rc::Rc;
    /// use lapwing::{Disruptor, EventHandler, Sequence};
    ///
    /// struct Local(Rc<u64>); // cannot be sent to another thread
    ///
    /// impl EventHandler<u64> for Local {
    ///     fn on_event(&mut self, event: &u64, _: Sequence, _: bool) {
    ///         assert_eq!(*event, *self.0);
    ///     }
    /// }
    ///
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0)
    ///     .stage("local").read_local(|| Local(Rc::new(7)))
    ///     .build()?;
    /// let running = consumers.start()?;
    /// producer.publish(|event| *event = 7)?;
    /// running.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_local<H, R>(self, make: impl FnOnce() -> H + Send + 'env) -> P::Next
    where
        P::Event: Sync,
        H: EventHandler<P::Event, Shared, R> + 'env,
        R: IntoAction + 'env,
    {
        self.add::<Shared, _, R>(|| WholeLife::new(make()), nothing)
    }

    /// Leaves the events to a [`Poller`](crate::Poller). The program
    /// [takes](crate::Consumers::take_poller) it by the name of the stage before the start, and
    /// polls on a thread of its choice.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, mut consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("ticks").poller().build()?;
    /// let mut ticks = consumers.take_poller("ticks")?;
    /// producer.publish(|event| *event = 7)?;
    /// assert_eq!(ticks.poll()?.as_slice(), [7]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn poller(self) -> P::Next
    where
        P::Event: Sync,
    {
        let part =
            Part { is_exclusive: false, abilities: Abilities::default(), body: Body::Poller };
        self.position.place(self.settings, part)
    }
}
