//! The verbs of a stage that changes events: a closure, a handler or a poller. Not here: how a verb
//! adds the stage (`verbs`).

use super::Stage;
use super::verbs::{itself, nothing};
use crate::Sequence;
use crate::consumer::{
    BatchHandler, BatchLife, EventHandler, Exclusive, IntoAction, PerBatch, PerEvent, WholeLife,
};
use crate::topology::graph::{Abilities, Body, Part};
use crate::topology::position::{Alone, Position};

/// Stages that change events. No other stage has the event at the same time, so events need not be
/// `Sync`. Stages side by side have none of these verbs:
///
/// ```compile_fail,E0277
/// let _ = lapwing::Disruptor::single_producer(8, || 0_u64)
///     .parallel(|parallel| parallel.stage("left").write(|event, _, _| *event += 1));
/// ```
///
/// They can read:
///
/// ```
/// let ring = lapwing::Disruptor::single_producer(8, || 0_u64)
///     .parallel(|parallel| parallel.stage("left").read(|event, _, _| assert!(*event < 9)));
/// assert!(ring.build().is_ok());
/// ```
impl<'env, P: Position<'env>> Stage<P> {
    /// Changes events one by one with a closure: `on_event(event, sequence, end_of_batch)`.
    ///
    /// The closure returns `()`, an [`Action`](crate::Action), or a `Result`; see [`IntoAction`].
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("double").write(|event, _, _| *event *= 2)
    ///     .stage("check").read(|event, _, _| assert_eq!(*event, 14))
    ///     .build()?;
    /// let running = consumers.start()?;
    /// producer.publish(|event| *event = 7)?;
    /// running.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn write<R: IntoAction + 'env>(
        self,
        on_event: impl FnMut(&mut P::Event, Sequence, bool) -> R + Send + 'env,
    ) -> P::Next
    where
        P: Alone<'env>,
    {
        self.add::<Exclusive, _, R>(|| PerEvent::new(on_event), nothing)
    }

    /// Changes events batch by batch with a closure: `on_batch(events, first_sequence)`.
    ///
    /// The closure returns `()`, an [`Action`](crate::Action), or a `Result`; see [`IntoAction`].
    /// After `()`, the stage releases the batch. [`max_batch`](Self::max_batch) limits a batch.
    ///
    /// A batch is a slice, so it ends at the last slot of the ring, and the next batch begins at
    /// the first slot.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("stamp").write_batch(|events, first_sequence| {
    ///         for (sequence, event) in (first_sequence..).zip(events) {
    ///             *event = sequence;
    ///         }
    ///     })
    ///     .stage("check").read(|event, sequence, _| assert_eq!(*event, sequence))
    ///     .build()?;
    /// let running = consumers.start()?;
    /// producer.publish_batch(3, |_| {})?;
    /// running.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn write_batch<R: IntoAction + 'env>(
        self,
        on_batch: impl FnMut(&mut [P::Event], Sequence) -> R + Send + 'env,
    ) -> P::Next
    where
        P: Alone<'env>,
    {
        self.add::<Exclusive, _, R>(|| PerBatch::new(on_batch), nothing)
    }

    /// Changes events one by one with a handler. [`Report::take`](crate::Report::take) hands it
    /// back at the end.
    ///
    /// ```
    /// use lapwing::{Disruptor, EventHandler, Sequence, consumer::Exclusive};
    ///
    /// struct Scale(u64);
    ///
    /// impl EventHandler<u64, Exclusive> for Scale {
    ///     fn on_event(&mut self, event: &mut u64, _: Sequence, _: bool) {
    ///         *event *= self.0;
    ///     }
    /// }
    ///
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0)
    ///     .stage("scale").write_handler(Scale(2))
    ///     .stage("check").read(|event, _, _| assert_eq!(*event, 14))
    ///     .build()?;
    /// let running = consumers.start()?;
    /// producer.publish(|event| *event = 7)?;
    /// running.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn write_handler<H, R>(self, handler: H) -> P::Next
    where
        P: Alone<'env>,
        H: EventHandler<P::Event, Exclusive, R> + Send + 'static,
        R: IntoAction + 'env,
    {
        self.add::<Exclusive, _, R>(|| WholeLife::new(handler), itself)
    }

    /// Changes events batch by batch with a handler. [`Report::take`](crate::Report::take) hands it
    /// back at the end.
    ///
    /// ```
    /// use lapwing::{Disruptor, Sequence, consumer::{BatchHandler, Done, Exclusive}};
    ///
    /// struct Scale(u64);
    ///
    /// impl BatchHandler<u64, Exclusive> for Scale {
    ///     fn on_batch(&mut self, events: &mut [u64], _first: Sequence, _: Done<'_>) {
    ///         events.iter_mut().for_each(|event| *event *= self.0);
    ///     }
    /// }
    ///
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0)
    ///     .stage("scale").write_batch_handler(Scale(2))
    ///     .stage("check").read(|event, _, _| assert_eq!(*event, 14))
    ///     .build()?;
    /// let running = consumers.start()?;
    /// producer.publish(|event| *event = 7)?;
    /// running.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn write_batch_handler<H, R>(self, handler: H) -> P::Next
    where
        P: Alone<'env>,
        H: BatchHandler<P::Event, Exclusive, R> + Send + 'static,
        R: IntoAction + 'env,
    {
        self.add::<Exclusive, _, R>(|| BatchLife::new(handler), |work| Some(Box::new(work.0)))
    }

    /// Changes events one by one with a handler that is made and dropped on the thread of the
    /// stage. The handler need not be `Send`.
    ///
    /// ```
    /// use std::rc::Rc;
    /// use lapwing::{Disruptor, EventHandler, Sequence, consumer::Exclusive};
    ///
    /// struct Add(Rc<u64>); // cannot be sent to another thread
    ///
    /// impl EventHandler<u64, Exclusive> for Add {
    ///     fn on_event(&mut self, event: &mut u64, _: Sequence, _: bool) {
    ///         *event += *self.0;
    ///     }
    /// }
    ///
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0)
    ///     .stage("add").write_local(|| Add(Rc::new(1)))
    ///     .stage("check").read(|event, _, _| assert_eq!(*event, 8))
    ///     .build()?;
    /// let running = consumers.start()?;
    /// producer.publish(|event| *event = 7)?;
    /// running.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn write_local<H, R>(self, make: impl FnOnce() -> H + Send + 'env) -> P::Next
    where
        P: Alone<'env>,
        H: EventHandler<P::Event, Exclusive, R> + 'env,
        R: IntoAction + 'env,
    {
        self.add::<Exclusive, _, R>(|| WholeLife::new(make()), nothing)
    }

    /// Leaves the events to a [`Poller`](crate::Poller) that changes them. The program
    /// [takes](crate::Consumers::take_poller_mut) it by the name of the stage before the start, and
    /// polls on a thread of its choice.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, mut consumers) =
    ///     Disruptor::single_producer(8, String::new).stage("lines").poller_mut().build()?;
    /// let mut lines = consumers.take_poller_mut("lines")?;
    /// producer.publish(|line| line.push_str("first"))?;
    /// for (_, line) in lines.poll()?.iter_mut() {
    ///     assert_eq!(std::mem::take(line), "first"); // moved out of the ring
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn poller_mut(self) -> P::Next
    where
        P: Alone<'env>,
    {
        let part = Part { is_exclusive: true, abilities: Abilities::default(), body: Body::Poller };
        self.position.place(self.settings, part)
    }
}
