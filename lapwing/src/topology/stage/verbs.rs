//! The verbs of a stage: a closure, a handler or a poller, reading or writing. A verb adds the
//! stage at its place. Not here: a stage of several workers (`workers`).

use std::any::Any;

use super::{Settings, Stage};
use crate::Sequence;
use crate::consumer::{
    Access, Consumer, EventHandler, Exclusive, IntoAction, PerBatch, PerEvent, Post, Processor,
    Recovery, Shared, Source, StageReader, WholeLife, Work,
};
use crate::topology::graph::{Abilities, Body, Part};
use crate::topology::position::{Alone, Position};

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

    /// Adds the stage at its place, with a handler that its thread makes.
    fn add<A: Access, H: Work<P::Event, A> + 'env, R: IntoAction>(
        self,
        make: impl FnOnce() -> H + Send + 'env,
        hand_back: impl FnOnce(H) -> Option<Box<dyn Any + Send>> + Send + 'env,
    ) -> P::Next {
        let abilities = Abilities::of::<P::Event, A, H, R>(&self.settings);
        let body = Box::new(move |reader, stage| {
            consumer::<P::Event, A, StageReader<P::Event>, H>(reader, stage, make, hand_back)
        });
        let body = Body::Handler(body);
        self.position.place(self.settings, Part { is_exclusive: A::IS_EXCLUSIVE, abilities, body })
    }
}

/// Stages that change events. No other stage has the event at the same time, so events need not be
/// `Sync`. Stages side by side have none of these verbs:
///
/// ```compile_fail,E0277
/// let _ = lapwing::Disruptor::single_producer(8, || 0_u64)
///     .side_by_side(|side| side.stage("left").write(|event, _, _| *event += 1));
/// ```
///
/// They can read:
///
/// ```
/// let ring = lapwing::Disruptor::single_producer(8, || 0_u64)
///     .side_by_side(|side| side.stage("left").read(|event, _, _| assert!(*event < 9)));
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

/// A consumer that gets its events from `source`.
pub(super) fn consumer<'env, E, A, S, H>(
    source: S,
    stage: Settings,
    make: impl FnOnce() -> H + Send + 'env,
    hand_back: impl FnOnce(H) -> Option<Box<dyn Any + Send>> + Send + 'env,
) -> Consumer<'env>
where
    E: Send + 'env,
    A: Access,
    S: Source<E> + Send + 'env,
    H: Work<E, A> + 'env,
{
    let Settings { name, pin, thread, timeout, on_error, on_panic, .. } = stage;
    let post = Post::new(source, timeout, Recovery::new(on_error, on_panic));
    let processor = Processor::<E, A, S, _, _>::new(post, make, hand_back);
    Consumer::new(name, (pin, thread), processor)
}

/// Hands back nothing: for a closure, or a handler that belongs to its thread.
pub(super) fn nothing<H>(_: H) -> Option<Box<dyn Any + Send>> {
    None
}

/// Hands back the handler itself.
pub(super) fn itself<H: Send + 'static, R>(work: WholeLife<H, R>) -> Option<Box<dyn Any + Send>> {
    Some(Box::new(work.0))
}
