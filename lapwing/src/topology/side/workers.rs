//! Worker groups beside other stages: they read.

use super::{Chain, Side};
use crate::Sequence;
use crate::consumer::{EventHandler, HandOver, IntoAction, Shared};
use crate::topology::stage::Stage;
use crate::topology::workers::Workers;

impl<'env, E: Send + Sync + 'env> Side<'_, 'env, E> {
    /// Adds a group of [`Workers`] that reads event by event: each event goes to one of them, and to
    /// the stages beside them. `make` is called for each worker, with its number, and returns what it
    /// does: `on_event(event, sequence, end_of_batch)`.
    ///
    /// ```
    /// # use lapwing::Disruptor;
    /// # let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    /// .then_all(|side| {
    ///     side.read("journal", |event, _, _| assert_eq!(*event, 7))
    ///         .read_workers("check", 2, |_worker| |event: &u64, _, _| assert_eq!(*event, 7))
    /// })
    /// #     .build()?;
    /// # let running = consumers.start()?;
    /// # producer.publish(|event| *event = 7)?;
    /// # running.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_workers<F, R>(
        self,
        stage: impl Into<Stage>,
        workers: impl Into<Workers<E>>,
        make: impl FnMut(usize) -> F,
    ) -> Self
    where
        F: FnMut(&E, Sequence, bool) -> R + Send + 'env,
        R: IntoAction + 'env,
    {
        self.add(stage, |graph, stage| graph.read_workers(stage, workers, make))
    }

    /// As [`read_workers`](Self::read_workers), with a handler for each worker, to be
    /// [handed back](crate::Report::take) by the worker's name.
    ///
    /// ```
    /// # use lapwing::{Disruptor, EventHandler, Sequence};
    /// # struct Sum(u64);
    /// # impl EventHandler<u64> for Sum {
    /// #     fn on_event(&mut self, event: &u64, _: Sequence, _: bool) {
    /// #         self.0 += event;
    /// #     }
    /// # }
    /// # let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    /// .then_all(|side| side.read_worker_handlers("sum", 2, |_worker| Sum(0)))
    /// #     .build()?;
    /// # let running = consumers.start()?;
    /// producer.publish(|event| *event = 7)?;
    /// let mut report = running.shutdown()?;
    /// let (Sum(of_one), Sum(of_other)) = (report.take("sum-0")?, report.take("sum-1")?);
    /// assert_eq!(of_one + of_other, 7);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_worker_handlers<H, R>(
        self,
        stage: impl Into<Stage>,
        workers: impl Into<Workers<E>>,
        make: impl FnMut(usize) -> H,
    ) -> Self
    where
        H: EventHandler<E, Shared, R> + Send + 'static,
        R: IntoAction + 'env,
    {
        self.add(stage, |graph, stage| graph.read_worker_handlers(stage, workers, make))
    }

    /// As [`read_worker_handlers`](Self::read_worker_handlers), with handlers that
    /// [hand over](HandOver) what they know of a key when it goes to another worker. Of use with workers
    /// [by key](Workers::by_key); other workers have no keys.
    ///
    /// ```
    /// # use std::collections::HashMap;
    /// # use lapwing::{Disruptor, EventHandler, HandOver, MovedKeys, Sequence, Workers};
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
    /// let workers = Workers::new(2).by_key(|key: &u64| *key);
    /// # let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    /// .then_all(|side| side.read_keyed_handlers("count", workers, |_worker| Counts::default()))
    /// #     .build()?;
    /// # let running = consumers.start()?;
    /// producer.publish(|key| *key = 7)?;
    /// # let mut report = running.shutdown()?;
    /// # let (Counts(left), Counts(right)) = (report.take("count-0")?, report.take("count-1")?);
    /// assert_eq!(left.get(&7).or(right.get(&7)), Some(&1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_keyed_handlers<H, R>(
        self,
        stage: impl Into<Stage>,
        workers: impl Into<Workers<E>>,
        make: impl FnMut(usize) -> H,
    ) -> Self
    where
        H: EventHandler<E, Shared, R> + HandOver + Send + 'static,
        R: IntoAction + 'env,
    {
        self.add(stage, |graph, stage| graph.read_keyed_handlers(stage, workers, make))
    }
}

impl<'env, E: Send + Sync + 'env> Chain<'_, 'env, E> {
    /// Adds a group of workers, as [`Side::read_workers`] does.
    ///
    /// ```
    /// # use lapwing::Disruptor;
    /// # let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    /// .then_all(|side| side.chain(|chain| {
    ///     chain
    ///         .read("first", |_, _, _| {})
    ///         .read_workers("check", 2, |_worker| |event: &u64, _, _| assert_eq!(*event, 7))
    /// }))
    /// #     .build()?;
    /// # let running = consumers.start()?;
    /// # producer.publish(|event| *event = 7)?;
    /// # running.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_workers<F, R>(
        self,
        stage: impl Into<Stage>,
        workers: impl Into<Workers<E>>,
        make: impl FnMut(usize) -> F,
    ) -> Self
    where
        F: FnMut(&E, Sequence, bool) -> R + Send + 'env,
        R: IntoAction + 'env,
    {
        self.all(|side| side.read_workers(stage, workers, make))
    }

    /// Adds a group of workers with handlers, as [`Side::read_worker_handlers`] does.
    ///
    /// ```
    /// # use lapwing::{Disruptor, EventHandler, Sequence};
    /// # struct Sum(u64);
    /// # impl EventHandler<u64> for Sum {
    /// #     fn on_event(&mut self, event: &u64, _: Sequence, _: bool) {
    /// #         self.0 += event;
    /// #     }
    /// # }
    /// # let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    /// .then_all(|side| side.chain(|chain| {
    ///     chain.read_worker_handlers("sum", 2, |_worker| Sum(0))
    /// }))
    /// #     .build()?;
    /// # let running = consumers.start()?;
    /// producer.publish(|event| *event = 7)?;
    /// let mut report = running.shutdown()?;
    /// let (Sum(of_one), Sum(of_other)) = (report.take("sum-0")?, report.take("sum-1")?);
    /// assert_eq!(of_one + of_other, 7);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_worker_handlers<H, R>(
        self,
        stage: impl Into<Stage>,
        workers: impl Into<Workers<E>>,
        make: impl FnMut(usize) -> H,
    ) -> Self
    where
        H: EventHandler<E, Shared, R> + Send + 'static,
        R: IntoAction + 'env,
    {
        self.all(|side| side.read_worker_handlers(stage, workers, make))
    }

    /// Adds a group of workers with handlers, as [`Side::read_keyed_handlers`] does.
    ///
    /// ```
    /// # use std::collections::HashMap;
    /// # use lapwing::{Disruptor, EventHandler, HandOver, MovedKeys, Sequence, Workers};
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
    /// let workers = Workers::new(2).by_key(|key: &u64| *key);
    /// # let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    /// .then_all(|side| side.chain(|chain| {
    ///     chain.read_keyed_handlers("count", workers, |_worker| Counts::default())
    /// }))
    /// #     .build()?;
    /// # let running = consumers.start()?;
    /// producer.publish(|key| *key = 7)?;
    /// # let mut report = running.shutdown()?;
    /// # let (Counts(left), Counts(right)) = (report.take("count-0")?, report.take("count-1")?);
    /// assert_eq!(left.get(&7).or(right.get(&7)), Some(&1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_keyed_handlers<H, R>(
        self,
        stage: impl Into<Stage>,
        workers: impl Into<Workers<E>>,
        make: impl FnMut(usize) -> H,
    ) -> Self
    where
        H: EventHandler<E, Shared, R> + HandOver + Send + 'static,
        R: IntoAction + 'env,
    {
        self.all(|side| side.read_keyed_handlers(stage, workers, make))
    }
}
