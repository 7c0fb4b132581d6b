//! What a stage of a graph may be: a closure, a handler or a poller, reading or writing.

use std::any::Any;

use super::{Abilities, Body, Graph, StageId};
use crate::Sequence;
use crate::consumer::{
    Access, Consumer, EventHandler, Exclusive, IntoAction, PerBatch, PerEvent, Post, Processor,
    Recovery, Shared, Source, StageReader, WholeLife, Work,
};
use crate::topology::Stage;

impl<'env, E: Send + 'env> Graph<'env, E> {
    /// Adds a stage that reads event by event: `on_event(event, sequence, end_of_batch)`.
    ///
    /// ```
    /// # use lapwing::{Disruptor, Graph};
    /// let mut graph = Graph::new();
    /// graph.read("left", |event: &u64, _, _| assert_eq!(*event, 7));
    /// graph.read("right", |event: &u64, _, _| assert_eq!(*event, 7)); // beside the other
    /// # let (mut producer, consumers) = Disruptor::single_producer(8, || 0).graph(graph).build()?;
    /// # let running = consumers.start()?;
    /// # producer.publish(|event| *event = 7)?;
    /// # running.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read<R: IntoAction + 'env>(
        &mut self,
        stage: impl Into<Stage>,
        on_event: impl FnMut(&E, Sequence, bool) -> R + Send + 'env,
    ) -> StageId
    where
        E: Sync,
    {
        self.add::<Shared, _, R>(stage, PerEvent::new(on_event), nothing)
    }

    /// Adds a stage that changes event by event: `on_event(event, sequence, end_of_batch)`.
    ///
    /// ```
    /// # use lapwing::{Disruptor, Graph, Stage};
    /// let mut graph = Graph::new();
    /// let double = graph.write("double", |event: &mut u64, _, _| *event *= 2);
    /// graph.read(Stage::new("check").after(double), |event, _, _| assert_eq!(*event, 14));
    /// # let (mut producer, consumers) = Disruptor::single_producer(8, || 0).graph(graph).build()?;
    /// # let running = consumers.start()?;
    /// # producer.publish(|event| *event = 7)?;
    /// # running.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn write<R: IntoAction + 'env>(
        &mut self,
        stage: impl Into<Stage>,
        on_event: impl FnMut(&mut E, Sequence, bool) -> R + Send + 'env,
    ) -> StageId {
        self.add::<Exclusive, _, R>(stage, PerEvent::new(on_event), nothing)
    }

    /// Adds a stage that reads batch by batch: `on_batch(events, first_sequence)`.
    ///
    /// ```
    /// # use lapwing::{Disruptor, Graph};
    /// let mut graph = Graph::new();
    /// graph.read_batch("check", |events: &[u64], _first_sequence| assert_eq!(events[0], 7));
    /// # let (mut producer, consumers) = Disruptor::single_producer(8, || 0).graph(graph).build()?;
    /// # let running = consumers.start()?;
    /// # producer.publish(|event| *event = 7)?;
    /// # running.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_batch<R: IntoAction + 'env>(
        &mut self,
        stage: impl Into<Stage>,
        on_batch: impl FnMut(&[E], Sequence) -> R + Send + 'env,
    ) -> StageId
    where
        E: Sync,
    {
        self.add::<Shared, _, R>(stage, PerBatch::new(on_batch), nothing)
    }

    /// Adds a stage that changes batch by batch: `on_batch(events, first_sequence)`.
    ///
    /// ```
    /// # use lapwing::{Disruptor, Graph, Stage};
    /// let mut graph = Graph::new();
    /// let fill = graph.write_batch("fill", |events: &mut [u64], first| events.fill(first + 1));
    /// graph.read(Stage::new("check").after(fill), |event, _, _| assert_eq!(*event, 1));
    /// # let (mut producer, consumers) = Disruptor::single_producer(8, || 0).graph(graph).build()?;
    /// # let running = consumers.start()?;
    /// # producer.publish(|event| *event = 7)?;
    /// # running.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn write_batch<R: IntoAction + 'env>(
        &mut self,
        stage: impl Into<Stage>,
        on_batch: impl FnMut(&mut [E], Sequence) -> R + Send + 'env,
    ) -> StageId {
        self.add::<Exclusive, _, R>(stage, PerBatch::new(on_batch), nothing)
    }

    /// Adds a stage with a handler that reads, to be [handed back](crate::Report::take).
    ///
    /// ```
    /// # use lapwing::{Disruptor, EventHandler, Graph, Sequence};
    /// # struct Sum(u64);
    /// # impl EventHandler<u64> for Sum {
    /// #     fn on_event(&mut self, event: &u64, _: Sequence, _: bool) {
    /// #         self.0 += event;
    /// #     }
    /// # }
    /// let mut graph = Graph::new();
    /// graph.read_handler("sum", Sum(0));
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0).graph(graph).build()?;
    /// # let running = consumers.start()?;
    /// producer.publish(|event| *event = 7)?;
    /// let Sum(total) = running.shutdown()?.take("sum")?;
    /// assert_eq!(total, 7);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_handler<H, R>(&mut self, stage: impl Into<Stage>, handler: H) -> StageId
    where
        E: Sync,
        H: EventHandler<E, Shared, R> + Send + 'static,
        R: IntoAction + 'env,
    {
        self.add::<Shared, _, R>(stage, WholeLife::new(handler), itself)
    }

    /// Adds a stage with a handler that changes events, to be [handed back](crate::Report::take).
    ///
    /// ```
    /// # use lapwing::{Disruptor, EventHandler, Exclusive, Graph, Sequence, Stage};
    /// # struct Scale(u64);
    /// # impl EventHandler<u64, Exclusive> for Scale {
    /// #     fn on_event(&mut self, event: &mut u64, _: Sequence, _: bool) {
    /// #         *event *= self.0;
    /// #     }
    /// # }
    /// let mut graph = Graph::new();
    /// let scale = graph.write_handler("scale", Scale(2));
    /// graph.read(Stage::new("check").after(scale), |event, _, _| assert_eq!(*event, 14));
    /// # let (mut producer, consumers) = Disruptor::single_producer(8, || 0).graph(graph).build()?;
    /// # let running = consumers.start()?;
    /// # producer.publish(|event| *event = 7)?;
    /// # running.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn write_handler<H, R>(&mut self, stage: impl Into<Stage>, handler: H) -> StageId
    where
        H: EventHandler<E, Exclusive, R> + Send + 'static,
        R: IntoAction + 'env,
    {
        self.add::<Exclusive, _, R>(stage, WholeLife::new(handler), itself)
    }

    /// Adds a stage whose handler, which reads, is made and dropped on the stage's thread: it need
    /// not be `Send`.
    ///
    /// ```
    /// # use std::rc::Rc;
    /// # use lapwing::{Disruptor, EventHandler, Graph, Sequence};
    /// # struct Local(Rc<u64>);
    /// # impl EventHandler<u64> for Local {
    /// #     fn on_event(&mut self, event: &u64, _: Sequence, _: bool) {
    /// #         assert_eq!(*event, *self.0);
    /// #     }
    /// # }
    /// let mut graph = Graph::new();
    /// graph.read_local("local", || Local(Rc::new(7))); // an `Rc` is not `Send`
    /// # let (mut producer, consumers) = Disruptor::single_producer(8, || 0).graph(graph).build()?;
    /// # let running = consumers.start()?;
    /// # producer.publish(|event| *event = 7)?;
    /// # running.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_local<H, R>(
        &mut self,
        stage: impl Into<Stage>,
        make: impl FnOnce() -> H + Send + 'env,
    ) -> StageId
    where
        E: Sync,
        H: EventHandler<E, Shared, R> + 'env,
        R: IntoAction + 'env,
    {
        self.add_made::<Shared, _, R>(stage, || WholeLife::new(make()), nothing)
    }

    /// Adds a stage whose handler, which changes events, is made and dropped on the stage's thread:
    /// it need not be `Send`.
    ///
    /// ```
    /// # use std::rc::Rc;
    /// # use lapwing::{Disruptor, EventHandler, Exclusive, Graph, Sequence, Stage};
    /// # struct Add(Rc<u64>);
    /// # impl EventHandler<u64, Exclusive> for Add {
    /// #     fn on_event(&mut self, event: &mut u64, _: Sequence, _: bool) {
    /// #         *event += *self.0;
    /// #     }
    /// # }
    /// let mut graph = Graph::new();
    /// let add = graph.write_local("add", || Add(Rc::new(1))); // an `Rc` is not `Send`
    /// graph.read(Stage::new("check").after(add), |event, _, _| assert_eq!(*event, 8));
    /// # let (mut producer, consumers) = Disruptor::single_producer(8, || 0).graph(graph).build()?;
    /// # let running = consumers.start()?;
    /// # producer.publish(|event| *event = 7)?;
    /// # running.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn write_local<H, R>(
        &mut self,
        stage: impl Into<Stage>,
        make: impl FnOnce() -> H + Send + 'env,
    ) -> StageId
    where
        H: EventHandler<E, Exclusive, R> + 'env,
        R: IntoAction + 'env,
    {
        self.add_made::<Exclusive, _, R>(stage, || WholeLife::new(make()), nothing)
    }

    /// Adds a stage without a handler, to be [taken](crate::Consumers::take_poller) as a
    /// [`Poller`](crate::Poller) that reads.
    ///
    /// ```
    /// # use lapwing::{Disruptor, Graph};
    /// let mut graph = Graph::new();
    /// graph.poller("ticks");
    /// let ring = Disruptor::single_producer(8, || 0).graph(graph);
    /// let (mut producer, mut consumers) = ring.build()?;
    /// let mut ticks = consumers.take_poller("ticks")?;
    /// producer.publish(|event| *event = 7)?;
    /// assert_eq!(ticks.poll()?.as_slice(), [7]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn poller(&mut self, stage: impl Into<Stage>) -> StageId
    where
        E: Sync,
    {
        self.push(stage.into(), false, Abilities::default(), Body::Poller)
    }

    /// Adds a stage without a handler, to be [taken](crate::Consumers::take_poller_mut) as a
    /// [`Poller`](crate::Poller) that changes events.
    ///
    /// ```
    /// # use lapwing::{Disruptor, Graph};
    /// let mut graph = Graph::new();
    /// graph.poller_mut("ticks");
    /// let ring = Disruptor::single_producer(8, || 0).graph(graph);
    /// let (mut producer, mut consumers) = ring.build()?;
    /// let mut ticks = consumers.take_poller_mut("ticks")?;
    /// producer.publish(|event| *event = 7)?;
    /// assert_eq!(ticks.poll()?.as_mut_slice(), [7]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn poller_mut(&mut self, stage: impl Into<Stage>) -> StageId {
        self.push(stage.into(), true, Abilities::default(), Body::Poller)
    }

    fn add<A: Access, H: Work<E, A> + Send + 'env, R: IntoAction>(
        &mut self,
        stage: impl Into<Stage>,
        work: H,
        hand_back: impl FnOnce(H) -> Option<Box<dyn Any + Send>> + Send + 'env,
    ) -> StageId {
        self.add_made::<A, H, R>(stage, || work, hand_back)
    }

    fn add_made<A: Access, H: Work<E, A> + 'env, R: IntoAction>(
        &mut self,
        stage: impl Into<Stage>,
        make: impl FnOnce() -> H + Send + 'env,
        hand_back: impl FnOnce(H) -> Option<Box<dyn Any + Send>> + Send + 'env,
    ) -> StageId {
        let stage = stage.into();
        let abilities = Abilities::of::<E, A, H, R>(&stage);
        let body = Box::new(move |reader, stage| {
            consumer::<E, A, StageReader<E>, H>(reader, stage, make, hand_back)
        });
        self.push(stage, A::IS_EXCLUSIVE, abilities, Body::Handler(body))
    }
}

/// A consumer that gets its events from `source`.
pub(super) fn consumer<'env, E, A, S, H>(
    source: S,
    stage: Stage,
    make: impl FnOnce() -> H + Send + 'env,
    hand_back: impl FnOnce(H) -> Option<Box<dyn Any + Send>> + Send + 'env,
) -> Consumer<'env>
where
    E: Send + 'env,
    A: Access,
    S: Source<E> + Send + 'env,
    H: Work<E, A> + 'env,
{
    let Stage { name, pin, thread, timeout, on_error, on_panic, .. } = stage;
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
