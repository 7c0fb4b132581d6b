//! What a stage of a builder may be: a closure, a handler or a poller, reading or writing, alone or
//! side by side.

use super::Builder;
use crate::Sequence;
use crate::consumer::{EventHandler, Exclusive, IntoAction, Shared};
use crate::producer::Sequencer;
use crate::topology::graph::{Graph, StageId};
use crate::topology::side::Side;
use crate::topology::stage::Stage;

impl<'env, E: Send + 'env, S: Sequencer> Builder<'env, E, S> {
    /// Adds a stage that reads event by event: `on_event(event, sequence, end_of_batch)`.
    ///
    /// What the closure owns (`move`) lies with its stage, on cache lines that no other thread writes to. What it borrows lies
    /// where its owner has it: two counters side by side on one stack, each written by a stage of its own, are one line that
    /// goes to and fro for each event. `#[repr(align(128))]` keeps them apart, or an [`EventHandler`] that owns what it counts
    /// and is [handed back](crate::Report::take).
    ///
    /// ```
    /// # use lapwing::Disruptor;
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .then("check", |event, _sequence, _end_of_batch| assert_eq!(*event, 7))
    ///     .build()?;
    /// # let running = consumers.start()?;
    /// # producer.publish(|event| *event = 7)?;
    /// # running.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn then<R: IntoAction + 'env>(
        self,
        stage: impl Into<Stage>,
        on_event: impl FnMut(&E, Sequence, bool) -> R + Send + 'env,
    ) -> Self
    where
        E: Sync,
    {
        self.add(stage, |graph, stage| graph.read(stage, on_event))
    }

    /// Adds a stage that changes event by event: `on_event(event, sequence, end_of_batch)`.
    ///
    /// ```
    /// # use lapwing::Disruptor;
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .then_mut("double", |event, _, _| *event *= 2)
    ///     .then("check", |event, _, _| assert_eq!(*event, 14)) // of a published 7
    ///     .build()?;
    /// # let running = consumers.start()?;
    /// # producer.publish(|event| *event = 7)?;
    /// # running.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn then_mut<R: IntoAction + 'env>(
        self,
        stage: impl Into<Stage>,
        on_event: impl FnMut(&mut E, Sequence, bool) -> R + Send + 'env,
    ) -> Self {
        self.add(stage, |graph, stage| graph.write(stage, on_event))
    }

    /// Adds a stage that reads batch by batch: `on_batch(events, first_sequence)`. A batch ends at
    /// the end of the ring. Of large events a handler that goes through [`Events`](crate::Events) sees more a second.
    ///
    /// ```
    /// # use lapwing::Disruptor;
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .then_batch("check", |events, _first_sequence| {
    ///         assert!(events.iter().all(|event| *event == 7));
    ///     })
    ///     .build()?;
    /// # let running = consumers.start()?;
    /// # producer.publish(|event| *event = 7)?;
    /// # running.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn then_batch<R: IntoAction + 'env>(
        self,
        stage: impl Into<Stage>,
        on_batch: impl FnMut(&[E], Sequence) -> R + Send + 'env,
    ) -> Self
    where
        E: Sync,
    {
        self.add(stage, |graph, stage| graph.read_batch(stage, on_batch))
    }

    /// Adds a stage that changes batch by batch: `on_batch(events, first_sequence)`. A batch ends
    /// at the end of the ring.
    ///
    /// ```
    /// # use lapwing::Disruptor;
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .then_batch_mut("stamp", |events, first_sequence| {
    ///         for (sequence, event) in (first_sequence..).zip(events) {
    ///             *event = sequence;
    ///         }
    ///     })
    ///     .then("check", |event, sequence, _| assert_eq!(*event, sequence))
    ///     .build()?;
    /// # let running = consumers.start()?;
    /// # producer.publish(|event| *event = 7)?;
    /// # running.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn then_batch_mut<R: IntoAction + 'env>(
        self,
        stage: impl Into<Stage>,
        on_batch: impl FnMut(&mut [E], Sequence) -> R + Send + 'env,
    ) -> Self {
        self.add(stage, |graph, stage| graph.write_batch(stage, on_batch))
    }

    /// Adds a stage with a handler that reads, to be [handed back](crate::Report::take).
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
    ///     Disruptor::single_producer(8, || 0).then_handler("sum", Sum::default()).build()?;
    /// let running = consumers.start()?;
    /// producer.publish(|event| *event = 7)?;
    /// let Sum(total) = running.shutdown()?.take("sum")?;
    /// assert_eq!(total, 7);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn then_handler<H, R>(self, stage: impl Into<Stage>, handler: H) -> Self
    where
        E: Sync,
        H: EventHandler<E, Shared, R> + Send + 'static,
        R: IntoAction + 'env,
    {
        self.add(stage, |graph, stage| graph.read_handler(stage, handler))
    }

    /// Adds a stage with a handler that changes events, to be [handed back](crate::Report::take).
    ///
    /// ```
    /// use lapwing::{Disruptor, EventHandler, Exclusive, Sequence};
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
    ///     .then_handler_mut("scale", Scale(2))
    ///     .then("check", |event, _, _| assert_eq!(*event, 14)) // of a published 7
    ///     .build()?;
    /// # let running = consumers.start()?;
    /// # producer.publish(|event| *event = 7)?;
    /// # running.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn then_handler_mut<H, R>(self, stage: impl Into<Stage>, handler: H) -> Self
    where
        H: EventHandler<E, Exclusive, R> + Send + 'static,
        R: IntoAction + 'env,
    {
        self.add(stage, |graph, stage| graph.write_handler(stage, handler))
    }

    /// Adds a stage whose handler, which reads, is made and dropped on the stage's thread: it need
    /// not be `Send`.
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
    ///     .then_local("local", || {
    ///         assert_eq!(std::thread::current().name(), Some("local"));
    ///         Local(Rc::new(7))
    ///     })
    ///     .build()?;
    /// # let running = consumers.start()?;
    /// # producer.publish(|event| *event = 7)?;
    /// # running.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn then_local<H, R>(
        self,
        stage: impl Into<Stage>,
        make: impl FnOnce() -> H + Send + 'env,
    ) -> Self
    where
        E: Sync,
        H: EventHandler<E, Shared, R> + 'env,
        R: IntoAction + 'env,
    {
        self.add(stage, |graph, stage| graph.read_local(stage, make))
    }

    /// Adds a stage whose handler, which changes events, is made and dropped on the stage's thread:
    /// it need not be `Send`.
    ///
    /// ```
    /// use std::rc::Rc;
    /// # use lapwing::{Disruptor, EventHandler, Exclusive, Sequence};
    ///
    /// struct Add(Rc<u64>); // cannot be sent to another thread
    /// # impl EventHandler<u64, Exclusive> for Add {
    /// #     fn on_event(&mut self, event: &mut u64, _: Sequence, _: bool) {
    /// #         *event += *self.0;
    /// #     }
    /// # }
    ///
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0)
    ///     .then_local_mut("add", || Add(Rc::new(1)))
    ///     .then("check", |event, _, _| assert_eq!(*event, 8)) // of a published 7
    ///     .build()?;
    /// # let running = consumers.start()?;
    /// # producer.publish(|event| *event = 7)?;
    /// # running.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn then_local_mut<H, R>(
        self,
        stage: impl Into<Stage>,
        make: impl FnOnce() -> H + Send + 'env,
    ) -> Self
    where
        H: EventHandler<E, Exclusive, R> + 'env,
        R: IntoAction + 'env,
    {
        self.add(stage, |graph, stage| graph.write_local(stage, make))
    }

    /// Adds a [`Poller`](crate::Poller) that reads, to be [taken](crate::Consumers::take_poller) by
    /// its name.
    ///
    /// ```
    /// # use lapwing::Disruptor;
    /// let (mut producer, mut consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).then_poller("ticks").build()?;
    /// let mut ticks = consumers.take_poller("ticks")?;
    /// producer.publish(|event| *event = 7)?;
    /// assert_eq!(ticks.poll()?.as_slice(), [7]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn then_poller(self, stage: impl Into<Stage>) -> Self
    where
        E: Sync,
    {
        self.add(stage, Graph::poller)
    }

    /// Adds a [`Poller`](crate::Poller) that changes events, to be
    /// [taken](crate::Consumers::take_poller_mut) by its name.
    ///
    /// ```
    /// # use lapwing::Disruptor;
    /// let (mut producer, mut consumers) =
    ///     Disruptor::single_producer(8, String::new).then_poller_mut("lines").build()?;
    /// let mut lines = consumers.take_poller_mut("lines")?;
    /// producer.publish(|line| line.push_str("first"))?;
    /// for (_, line) in lines.poll()?.iter_mut() {
    ///     assert_eq!(std::mem::take(line), "first"); // taken out of the ring
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn then_poller_mut(self, stage: impl Into<Stage>) -> Self {
        self.add(stage, Graph::poller_mut)
    }

    /// Adds stages side by side, each of which reads every event. The next stage waits for all of
    /// them.
    ///
    /// ```
    /// # use lapwing::Disruptor;
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .then_all(|side| {
    ///         side.read("left", |event, _, _| assert_eq!(*event, 7))
    ///             .read("right", |event, _, _| assert_eq!(*event, 7))
    ///     })
    ///     .then_mut("clear", |event, _, _| *event = 0) // when both have read it
    ///     .build()?;
    /// # let running = consumers.start()?;
    /// # producer.publish(|event| *event = 7)?;
    /// # running.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn then_all(
        mut self,
        stages: impl for<'g> FnOnce(Side<'g, 'env, E>) -> Side<'g, 'env, E>,
    ) -> Self
    where
        E: Sync,
    {
        self.last = stages(Side::new(&mut self.graph, self.last)).into_last();
        self
    }

    /// Adds a last look at each event that is done, to let go of what it keeps alive: a stage
    /// `"clear"` that runs alone, on the thread of the stage before it if that is a single one with a
    /// handler. Without it, an event lives in its slot until it is overwritten, a lap later; and so does
    /// what was written into a claim that was given up, which no stage sees.
    ///
    /// The memory of a ring is freed when the last of its ends is dropped: producers, consumers, pollers
    /// and seats. An event that owns one of these, such as a producer for replies to its own
    /// ring, keeps the ring alive from inside. Unless it is cleared, that ring and all of its events are
    /// never freed, and the ring is not closed when the other producers are dropped.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || None::<Arc<str>>)
    ///     .then("print", |text, _, _| assert!(text.is_some()))
    ///     .then_clear(|text| *text = None)
    ///     .build()?;
    /// let running = consumers.start()?;
    /// let text: Arc<str> = Arc::from("a long text");
    /// producer.publish(|event| *event = Some(Arc::clone(&text)))?;
    /// running.shutdown()?;
    /// assert_eq!(Arc::strong_count(&text), 1); // the ring keeps nothing
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn then_clear(self, mut clear: impl FnMut(&mut E) + Send + 'env) -> Self {
        let beside = self.last.first().and_then(|last| self.graph.with_handler(*last));
        let stage = Stage { beside, ..Stage::new("clear") };
        self.then_mut(stage, move |event, _, _| clear(event))
    }

    pub(super) fn add(
        mut self,
        stage: impl Into<Stage>,
        add: impl FnOnce(&mut Graph<'env, E>, Stage) -> StageId,
    ) -> Self {
        let mut stage = stage.into();
        stage.after.extend(&self.last);
        self.last = vec![add(&mut self.graph, stage)];
        self
    }
}
