//! What a stage may be: a closure, a handler or a poller, reading or writing. A verb puts the stage at its place.
//! Not here: a stage of several workers (`workers`).

use std::any::Any;

use super::{Settings, Stage};
use crate::Sequence;
use crate::consumer::{
    Access, Consumer, EventHandler, Exclusive, IntoAction, PerBatch, PerEvent, Post, Processor,
    Recovery, Shared, Source, StageReader, WholeLife, Work,
};
use crate::topology::graph::{Abilities, Body, Part};
use crate::topology::position::{Alone, Position};

/// Stages that read. Threads share what is read, so events must be `Sync`:
///
/// ```compile_fail,E0277
/// use std::cell::Cell;
/// let ring = lapwing::Disruptor::single_producer(8, || Cell::new(0));
/// let _ = ring.stage("a").read(|event, _, _| event.set(1));
/// ```
///
/// ```
/// use std::cell::Cell;
/// let ring = lapwing::Disruptor::single_producer(8, || Cell::new(0));
/// let _ = ring.stage("a").write(|event, _, _| event.set(1)); // alone with the event
/// ```
impl<'env, P: Position<'env>> Stage<P> {
    /// Reads event by event: `on_event(event, sequence, end_of_batch)`.
    ///
    /// What the closure owns (`move`) lies with its stage, on cache lines that no other thread writes to. What it
    /// borrows lies where its owner has it: two counters side by side on one stack, each written by a stage of its
    /// own, share a line, for which the two threads contend at each event. `#[repr(align(128))]` keeps them apart, or
    /// an [`EventHandler`] that owns what it counts and is [handed back](crate::Report::take).
    ///
    /// ```
    /// # use lapwing::Disruptor;
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("check").read(|event, _sequence, _end_of_batch| assert_eq!(*event, 7))
    ///     .build()?;
    /// # let running = consumers.start()?;
    /// # producer.publish(|event| *event = 7)?;
    /// # running.shutdown()?;
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

    /// Reads batch by batch: `on_batch(events, first_sequence)`. A batch ends at the end of the ring, where the
    /// next one begins. Of large events a handler that goes through [`Events`](crate::consumer::Events) sees more a second.
    ///
    /// ```
    /// # use lapwing::Disruptor;
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("check").read_batch(|events, _first_sequence| {
    ///         assert!(events.iter().all(|event| *event == 7));
    ///     })
    ///     .build()?;
    /// # let running = consumers.start()?;
    /// # producer.publish(|event| *event = 7)?;
    /// # running.shutdown()?;
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

    /// Reads with a handler, to be [handed back](crate::Report::take).
    ///
    /// ```
    /// use lapwing::{Disruptor, EventHandler, Sequence};
    ///
    /// #[derive(Default)]
    /// struct Sum(u64);
    ///
    /// impl EventHandler<u64> for Sum {
    ///     fn on_event(&mut self, event: &u64, _: Sequence, _: bool) {
    ///         self.0 += event;
    ///     }
    /// }
    ///
    /// let (mut producer, consumers) =
    ///     Disruptor::single_producer(8, || 0).stage("sum").read_handler(Sum::default()).build()?;
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

    /// Reads with a handler that is made and dropped on the stage's thread: it need not be `Send`.
    ///
    /// ```
    /// use std::rc::Rc;
    /// # use lapwing::{Disruptor, EventHandler, Sequence};
    ///
    /// struct Local(Rc<u64>); // cannot be sent to another thread
    /// # impl EventHandler<u64> for Local {
    /// #     fn on_event(&mut self, event: &u64, _: Sequence, _: bool) {
    /// #         assert_eq!(*event, *self.0);
    /// #     }
    /// # }
    ///
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0)
    ///     .stage("local").read_local(|| {
    ///         assert_eq!(std::thread::current().name(), Some("local"));
    ///         Local(Rc::new(7))
    ///     })
    ///     .build()?;
    /// # let running = consumers.start()?;
    /// # producer.publish(|event| *event = 7)?;
    /// # running.shutdown()?;
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

    /// Leaves the events to a [`Poller`](crate::Poller) that reads, to be [taken](crate::Consumers::take_poller) by the
    /// stage's name.
    ///
    /// ```
    /// # use lapwing::Disruptor;
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

    /// Puts the stage at its place, with a handler that its thread makes.
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

/// Stages that change events. No other stage has the event meanwhile, so it need not be `Sync`, and stages side by
/// side have none of these verbs:
///
/// ```compile_fail,E0277
/// let _ = lapwing::Disruptor::single_producer(8, || 0_u64)
///     .side_by_side(|side| side.stage("left").write(|event, _, _| *event += 1));
/// ```
///
/// ```
/// let _ = lapwing::Disruptor::single_producer(8, || 0_u64)
///     .side_by_side(|side| side.stage("left").read(|event, _, _| assert!(*event < 9)));
/// ```
impl<'env, P: Position<'env>> Stage<P> {
    /// Changes event by event: `on_event(event, sequence, end_of_batch)`.
    ///
    /// ```
    /// # use lapwing::Disruptor;
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("double").write(|event, _, _| *event *= 2)
    ///     .stage("check").read(|event, _, _| assert_eq!(*event, 14)) // of a published 7
    ///     .build()?;
    /// # let running = consumers.start()?;
    /// # producer.publish(|event| *event = 7)?;
    /// # running.shutdown()?;
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

    /// Changes batch by batch: `on_batch(events, first_sequence)`. A batch ends at the end of the ring, where the next
    /// one begins.
    ///
    /// ```
    /// # use lapwing::Disruptor;
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("stamp").write_batch(|events, first_sequence| {
    ///         for (sequence, event) in (first_sequence..).zip(events) {
    ///             *event = sequence;
    ///         }
    ///     })
    ///     .stage("check").read(|event, sequence, _| assert_eq!(*event, sequence))
    ///     .build()?;
    /// # let running = consumers.start()?;
    /// # producer.publish(|event| *event = 7)?;
    /// # running.shutdown()?;
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

    /// Changes events with a handler, to be [handed back](crate::Report::take).
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
    ///     .stage("check").read(|event, _, _| assert_eq!(*event, 14)) // of a published 7
    ///     .build()?;
    /// # let running = consumers.start()?;
    /// # producer.publish(|event| *event = 7)?;
    /// # running.shutdown()?;
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

    /// Changes events with a handler that is made and dropped on the stage's thread: it need not be `Send`.
    ///
    /// ```
    /// use std::rc::Rc;
    /// # use lapwing::{Disruptor, EventHandler, Sequence, consumer::Exclusive};
    ///
    /// struct Add(Rc<u64>); // cannot be sent to another thread
    /// # impl EventHandler<u64, Exclusive> for Add {
    /// #     fn on_event(&mut self, event: &mut u64, _: Sequence, _: bool) {
    /// #         *event += *self.0;
    /// #     }
    /// # }
    ///
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0)
    ///     .stage("add").write_local(|| Add(Rc::new(1)))
    ///     .stage("check").read(|event, _, _| assert_eq!(*event, 8)) // of a published 7
    ///     .build()?;
    /// # let running = consumers.start()?;
    /// # producer.publish(|event| *event = 7)?;
    /// # running.shutdown()?;
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

    /// Leaves the events to a [`Poller`](crate::Poller) that changes them, to be
    /// [taken](crate::Consumers::take_poller_mut) by the stage's name.
    ///
    /// ```
    /// # use lapwing::Disruptor;
    /// let (mut producer, mut consumers) =
    ///     Disruptor::single_producer(8, String::new).stage("lines").poller_mut().build()?;
    /// let mut lines = consumers.take_poller_mut("lines")?;
    /// producer.publish(|line| line.push_str("first"))?;
    /// for (_, line) in lines.poll()?.iter_mut() {
    ///     assert_eq!(std::mem::take(line), "first"); // taken out of the ring
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

/// A closure or a handler of the thread's own: nothing to hand back.
pub(super) fn nothing<H>(_: H) -> Option<Box<dyn Any + Send>> {
    None
}

/// A handler, handed back as it is.
pub(super) fn itself<H: Send + 'static, R>(work: WholeLife<H, R>) -> Option<Box<dyn Any + Send>> {
    Some(Box::new(work.0))
}
