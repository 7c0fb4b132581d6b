//! Worker groups of a builder: closures or handlers, reading or writing.

use super::Builder;
use crate::Sequence;
use crate::consumer::{EventHandler, Exclusive, HandOver, IntoAction, Shared};
use crate::producer::Sequencer;
use crate::topology::stage::Stage;
use crate::topology::workers::Workers;

impl<'env, E: Send + 'env, S: Sequencer> Builder<'env, E, S> {
    /// Adds a group of [`Workers`] that reads event by event: each event goes to one of them. `make` is
    /// called for each worker, with its number, and returns what it does:
    /// `on_event(event, sequence, end_of_batch)`.
    ///
    /// ```
    /// # use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
    /// # use lapwing::Disruptor;
    /// # static SUM: AtomicU64 = AtomicU64::new(0);
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .then_workers("sum", 2, |_worker| {
    ///         |event: &u64, _, _| { SUM.fetch_add(*event, Relaxed); }
    ///     })
    ///     .build()?;
    /// # let running = consumers.start()?;
    /// producer.publish_batch(3, |slots| slots.iter_mut().for_each(|event| *event = 7))?;
    /// running.shutdown()?;
    /// assert_eq!(SUM.load(Relaxed), 21);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn then_workers<F, R>(
        self,
        stage: impl Into<Stage>,
        workers: impl Into<Workers<E>>,
        make: impl FnMut(usize) -> F,
    ) -> Self
    where
        E: Sync,
        F: FnMut(&E, Sequence, bool) -> R + Send + 'env,
        R: IntoAction + 'env,
    {
        self.add(stage, |graph, stage| graph.read_workers(stage, workers, make))
    }

    /// As [`then_workers`](Self::then_workers), with events to change. Nobody else has an event that a
    /// worker has, so events need not be `Sync`.
    ///
    /// ```
    /// # use lapwing::Disruptor;
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .then_workers_mut("double", 2, |_worker| |event: &mut u64, _, _| *event *= 2)
    ///     .then("check", |event, _, _| assert_eq!(*event, 14)) // of a published 7
    ///     .build()?;
    /// # let running = consumers.start()?;
    /// # producer.publish(|event| *event = 7)?;
    /// # running.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn then_workers_mut<F, R>(
        self,
        stage: impl Into<Stage>,
        workers: impl Into<Workers<E>>,
        make: impl FnMut(usize) -> F,
    ) -> Self
    where
        F: FnMut(&mut E, Sequence, bool) -> R + Send + 'env,
        R: IntoAction + 'env,
    {
        self.add(stage, |graph, stage| graph.write_workers(stage, workers, make))
    }

    /// As [`then_workers`](Self::then_workers), with a handler for each worker, to be
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
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .then_worker_handlers("sum", 2, |_worker| Sum(0))
    ///     .build()?;
    /// # let running = consumers.start()?;
    /// producer.publish(|event| *event = 7)?;
    /// let mut report = running.shutdown()?;
    /// let (Sum(of_one), Sum(of_other)) = (report.take("sum-0")?, report.take("sum-1")?);
    /// assert_eq!(of_one + of_other, 7);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn then_worker_handlers<H, R>(
        self,
        stage: impl Into<Stage>,
        workers: impl Into<Workers<E>>,
        make: impl FnMut(usize) -> H,
    ) -> Self
    where
        E: Sync,
        H: EventHandler<E, Shared, R> + Send + 'static,
        R: IntoAction + 'env,
    {
        self.add(stage, |graph, stage| graph.read_worker_handlers(stage, workers, make))
    }

    /// As [`then_worker_handlers`](Self::then_worker_handlers), with events to change.
    ///
    /// ```
    /// # use lapwing::{Disruptor, EventHandler, Exclusive, Sequence};
    /// # struct Scale(u64);
    /// # impl EventHandler<u64, Exclusive> for Scale {
    /// #     fn on_event(&mut self, event: &mut u64, _: Sequence, _: bool) {
    /// #         *event *= self.0;
    /// #     }
    /// # }
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .then_worker_handlers_mut("scale", 2, |_worker| Scale(2))
    ///     .then("check", |event, _, _| assert_eq!(*event, 14)) // of a published 7
    ///     .build()?;
    /// # let running = consumers.start()?;
    /// # producer.publish(|event| *event = 7)?;
    /// # running.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn then_worker_handlers_mut<H, R>(
        self,
        stage: impl Into<Stage>,
        workers: impl Into<Workers<E>>,
        make: impl FnMut(usize) -> H,
    ) -> Self
    where
        H: EventHandler<E, Exclusive, R> + Send + 'static,
        R: IntoAction + 'env,
    {
        self.add(stage, |graph, stage| graph.write_worker_handlers(stage, workers, make))
    }

    /// As [`then_worker_handlers`](Self::then_worker_handlers), with handlers that
    /// [hand over](HandOver) what they know of a key when it goes to another worker. Of use with workers
    /// [by key](Workers::by_key); other workers have no keys. [`HandOver`] has an example.
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
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .then_keyed_handlers("count", workers, |_worker| Counts::default())
    ///     .build()?;
    /// # let running = consumers.start()?;
    /// producer.publish(|key| *key = 7)?;
    /// # let mut report = running.shutdown()?;
    /// # let (Counts(left), Counts(right)) = (report.take("count-0")?, report.take("count-1")?);
    /// assert_eq!(left.get(&7).or(right.get(&7)), Some(&1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn then_keyed_handlers<H, R>(
        self,
        stage: impl Into<Stage>,
        workers: impl Into<Workers<E>>,
        make: impl FnMut(usize) -> H,
    ) -> Self
    where
        E: Sync,
        H: EventHandler<E, Shared, R> + HandOver + Send + 'static,
        R: IntoAction + 'env,
    {
        self.add(stage, |graph, stage| graph.read_keyed_handlers(stage, workers, make))
    }

    /// As [`then_keyed_handlers`](Self::then_keyed_handlers), with events to change.
    ///
    /// ```
    /// # use std::collections::HashMap;
    /// # use lapwing::{Disruptor, EventHandler, Exclusive, HandOver, MovedKeys, Sequence, Workers};
    /// # #[derive(Default)]
    /// # struct Counts(HashMap<u64, u64>);
    /// # impl EventHandler<u64, Exclusive> for Counts {
    /// #     fn on_event(&mut self, key: &mut u64, _: Sequence, _: bool) {
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
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .then_keyed_handlers_mut("count", workers, |_worker| Counts::default())
    ///     .build()?;
    /// # let running = consumers.start()?;
    /// producer.publish(|key| *key = 7)?;
    /// # let mut report = running.shutdown()?;
    /// # let (Counts(left), Counts(right)) = (report.take("count-0")?, report.take("count-1")?);
    /// assert_eq!(left.get(&7).or(right.get(&7)), Some(&1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn then_keyed_handlers_mut<H, R>(
        self,
        stage: impl Into<Stage>,
        workers: impl Into<Workers<E>>,
        make: impl FnMut(usize) -> H,
    ) -> Self
    where
        H: EventHandler<E, Exclusive, R> + HandOver + Send + 'static,
        R: IntoAction + 'env,
    {
        self.add(stage, |graph, stage| graph.write_keyed_handlers(stage, workers, make))
    }
}
