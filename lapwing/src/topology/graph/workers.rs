//! Worker groups in a graph: closures or handlers, reading or writing.

use std::any::Any;
use std::sync::Arc;

use super::verbs::{consumer, itself, nothing};
use super::{Abilities, Body, Graph, StageId};
use crate::Sequence;
use crate::consumer::{
    Access, EventHandler, Exclusive, HandOver, IntoAction, Keyed, Mailboxes, PerEvent, Shared,
    WholeLife, Work, Worker,
};
use crate::topology::{Stage, Workers};

impl<'env, E: Send + 'env> Graph<'env, E> {
    /// Adds a group of [`Workers`] that reads event by event. `make` is called for each of them, with
    /// its number, and returns what it does: `on_event(event, sequence, end_of_batch)`.
    ///
    /// ```
    /// # use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
    /// # use lapwing::{Disruptor, Graph};
    /// # static SUM: AtomicU64 = AtomicU64::new(0);
    /// let mut graph = Graph::new();
    /// graph.read_workers("sum", 2, |_worker| {
    ///     |event: &u64, _, _| { SUM.fetch_add(*event, Relaxed); }
    /// });
    /// graph.read("beside", |_, _, _| {});
    /// # let (mut producer, consumers) = Disruptor::single_producer(8, || 0).graph(graph).build()?;
    /// # let running = consumers.start()?;
    /// producer.publish_batch(3, |slots| slots.iter_mut().for_each(|event| *event = 7))?;
    /// running.shutdown()?;
    /// assert_eq!(SUM.load(Relaxed), 21); // each event once
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_workers<F, R>(
        &mut self,
        stage: impl Into<Stage>,
        workers: impl Into<Workers<E>>,
        mut make: impl FnMut(usize) -> F,
    ) -> StageId
    where
        E: Sync,
        F: FnMut(&E, Sequence, bool) -> R + Send + 'env,
        R: IntoAction + 'env,
    {
        self.add_workers::<Shared, _, R>(stage, workers, |i| PerEvent::new(make(i)), nothing)
    }

    /// As [`read_workers`](Self::read_workers), with events to change.
    ///
    /// ```
    /// # use lapwing::{Disruptor, Graph, Stage};
    /// let mut graph = Graph::new();
    /// let double = graph.write_workers("double", 2, |_worker| |event: &mut u64, _, _| *event *= 2);
    /// graph.read(Stage::new("check").after(double), |event, _, _| assert_eq!(*event, 14));
    /// # let (mut producer, consumers) = Disruptor::single_producer(8, || 0).graph(graph).build()?;
    /// # let running = consumers.start()?;
    /// # producer.publish(|event| *event = 7)?;
    /// # running.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn write_workers<F, R>(
        &mut self,
        stage: impl Into<Stage>,
        workers: impl Into<Workers<E>>,
        mut make: impl FnMut(usize) -> F,
    ) -> StageId
    where
        F: FnMut(&mut E, Sequence, bool) -> R + Send + 'env,
        R: IntoAction + 'env,
    {
        self.add_workers::<Exclusive, _, R>(stage, workers, |i| PerEvent::new(make(i)), nothing)
    }

    /// As [`read_workers`](Self::read_workers), with a handler for each worker, to be
    /// [handed back](crate::Report::take) by the worker's name.
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
    /// graph.read_worker_handlers("sum", 2, |_worker| Sum(0));
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0).graph(graph).build()?;
    /// # let running = consumers.start()?;
    /// producer.publish(|event| *event = 7)?;
    /// let mut report = running.shutdown()?;
    /// let (Sum(of_one), Sum(of_other)) = (report.take("sum-0")?, report.take("sum-1")?);
    /// assert_eq!(of_one + of_other, 7);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_worker_handlers<H, R>(
        &mut self,
        stage: impl Into<Stage>,
        workers: impl Into<Workers<E>>,
        mut make: impl FnMut(usize) -> H,
    ) -> StageId
    where
        E: Sync,
        H: EventHandler<E, Shared, R> + Send + 'static,
        R: IntoAction + 'env,
    {
        self.add_workers::<Shared, _, R>(stage, workers, |i| WholeLife::new(make(i)), itself)
    }

    /// As [`read_worker_handlers`](Self::read_worker_handlers), with events to change.
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
    /// let scale = graph.write_worker_handlers("scale", 2, |_worker| Scale(2));
    /// graph.read(Stage::new("check").after(scale), |event, _, _| assert_eq!(*event, 14));
    /// # let (mut producer, consumers) = Disruptor::single_producer(8, || 0).graph(graph).build()?;
    /// # let running = consumers.start()?;
    /// # producer.publish(|event| *event = 7)?;
    /// # running.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn write_worker_handlers<H, R>(
        &mut self,
        stage: impl Into<Stage>,
        workers: impl Into<Workers<E>>,
        mut make: impl FnMut(usize) -> H,
    ) -> StageId
    where
        H: EventHandler<E, Exclusive, R> + Send + 'static,
        R: IntoAction + 'env,
    {
        self.add_workers::<Exclusive, _, R>(stage, workers, |i| WholeLife::new(make(i)), itself)
    }

    /// As [`read_worker_handlers`](Self::read_worker_handlers), with handlers that
    /// [hand over](crate::HandOver) what they know of a key when it goes to another worker. Of use with
    /// workers [by key](Workers::by_key); other workers have no keys.
    ///
    /// ```
    /// # use std::collections::HashMap;
    /// # use lapwing::{Disruptor, EventHandler, Graph, HandOver, MovedKeys, Sequence, Workers};
    /// # #[derive(Default)]
    /// # struct Counts(HashMap<u64, u64>);
    /// # impl EventHandler<u64> for Counts {
    /// #     fn on_event(&mut self, key: &u64, _: Sequence, _: bool) {
    /// #         *self.0.entry(*key).or_default() += 1;
    /// #     }
    /// # }
    /// # impl HandOver for Counts {
    /// #     type State = u64;
    /// #     fn give(&mut self, moved: &MovedKeys) -> Vec<(u64, u64)> {
    /// #         self.0.extract_if(|&key, _| moved.contains(key)).collect()
    /// #     }
    /// #     fn take(&mut self, key: u64, count: u64) {
    /// #         self.0.insert(key, count);
    /// #     }
    /// # }
    /// let mut graph = Graph::new();
    /// let workers = Workers::new(2).by_key(|key: &u64| *key);
    /// graph.read_keyed_handlers("count", workers, |_worker| Counts::default());
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0).graph(graph).build()?;
    /// # let running = consumers.start()?;
    /// producer.publish(|key| *key = 7)?;
    /// # let mut report = running.shutdown()?;
    /// # let (Counts(left), Counts(right)) = (report.take("count-0")?, report.take("count-1")?);
    /// assert_eq!(left.get(&7).or(right.get(&7)), Some(&1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_keyed_handlers<H, R>(
        &mut self,
        stage: impl Into<Stage>,
        workers: impl Into<Workers<E>>,
        make: impl FnMut(usize) -> H,
    ) -> StageId
    where
        E: Sync,
        H: EventHandler<E, Shared, R> + HandOver + Send + 'static,
        R: IntoAction + 'env,
    {
        self.add_keyed::<Shared, H, R>(stage, workers, make)
    }

    /// As [`read_keyed_handlers`](Self::read_keyed_handlers), with events to change.
    ///
    /// ```
    /// # use std::collections::HashMap;
    /// # use lapwing::{Disruptor, EventHandler, Exclusive, Graph, HandOver, MovedKeys, Sequence, Stage, Workers};
    /// # #[derive(Default)]
    /// # struct Number(HashMap<u64, u64>);
    /// # impl EventHandler<(u64, u64), Exclusive> for Number {
    /// #     fn on_event(&mut self, event: &mut (u64, u64), _: Sequence, _: bool) {
    /// #         let number = self.0.entry(event.0).or_default();
    /// #         *number += 1;
    /// #         event.1 = *number;
    /// #     }
    /// # }
    /// # impl HandOver for Number {
    /// #     type State = u64;
    /// #     fn give(&mut self, moved: &MovedKeys) -> Vec<(u64, u64)> {
    /// #         self.0.extract_if(|&key, _| moved.contains(key)).collect()
    /// #     }
    /// #     fn take(&mut self, key: u64, count: u64) {
    /// #         self.0.insert(key, count);
    /// #     }
    /// # }
    /// let mut graph = Graph::new();
    /// let workers = Workers::new(2).by_key(|event: &(u64, u64)| event.0);
    /// let number = graph.write_keyed_handlers("number", workers, |_worker| Number::default());
    /// graph.read(Stage::new("check").after(number), |event, _, _| assert_eq!(event.1, 1));
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || (0, 0)).graph(graph).build()?;
    /// # let running = consumers.start()?;
    /// producer.publish(|event| event.0 = 7)?; // the first with key 7
    /// # running.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn write_keyed_handlers<H, R>(
        &mut self,
        stage: impl Into<Stage>,
        workers: impl Into<Workers<E>>,
        make: impl FnMut(usize) -> H,
    ) -> StageId
    where
        H: EventHandler<E, Exclusive, R> + HandOver + Send + 'static,
        R: IntoAction + 'env,
    {
        self.add_keyed::<Exclusive, H, R>(stage, workers, make)
    }

    fn add_keyed<A: Access, H, R: IntoAction + 'env>(
        &mut self,
        stage: impl Into<Stage>,
        workers: impl Into<Workers<E>>,
        mut make: impl FnMut(usize) -> H,
    ) -> StageId
    where
        H: EventHandler<E, A, R> + HandOver + Send + 'static,
    {
        let mut workers = workers.into();
        workers.hands_over = true;
        let mailboxes = Arc::new(Mailboxes::new(workers.max().unwrap_or(0)));
        let make = |worker| Keyed::<H, R>::new(make(worker), Arc::clone(&mailboxes));
        self.add_workers::<A, _, R>(stage, workers, make, |work| {
            Some(Box::new(work.into_handler()))
        })
    }

    fn add_workers<A: Access, H: Work<E, A> + Send + 'env, R: IntoAction>(
        &mut self,
        stage: impl Into<Stage>,
        workers: impl Into<Workers<E>>,
        make: impl FnMut(usize) -> H,
        hand_back: impl FnOnce(H) -> Option<Box<dyn Any + Send>> + Copy + Send + 'env,
    ) -> StageId {
        let (stage, workers) = (stage.into(), workers.into());
        let abilities = Abilities::of::<E, A, H, R>(&stage);
        // None for a number that `build` refuses.
        let handlers = (0..workers.max().unwrap_or(0)).map(make);
        let body = |work: H| -> super::WorkerBody<'env, E> {
            Box::new(move |worker: Worker<E>, stage| {
                consumer::<E, A, Worker<E>, H>(worker, stage, || work, hand_back)
            })
        };
        let bodies = handlers.map(body).collect();
        self.push(stage, A::IS_EXCLUSIVE, abilities, Body::Workers(workers, bodies))
    }
}
