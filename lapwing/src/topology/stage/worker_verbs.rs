//! What a worker group may be: closures or handlers, reading or writing. Not here: how many workers, by which
//! keys, and on which CPUs (`workers`).

use std::any::Any;
use std::sync::Arc;

use super::Stage;
use super::verbs::{consumer, itself, nothing};
use super::workers::Workers;
use crate::Sequence;
use crate::consumer::{
    Access, EventHandler, Exclusive, HandOver, IntoAction, Keyed, Mailboxes, PerEvent, Shared,
    WholeLife, Work, Worker,
};
use crate::topology::graph::{Abilities, Body, Part, WorkerBody};
use crate::topology::position::{Alone, Position};

/// Groups that read.
impl<'env, E: Send + 'env, P: Position<'env, Event = E>> Workers<P, E> {
    /// Reads event by event, with a closure for each worker: `on_event(event, sequence, end_of_batch)`.
    ///
    /// ```
    /// # use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
    /// # use lapwing::Disruptor;
    /// # static SUM: AtomicU64 = AtomicU64::new(0);
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("sum").workers(2).read(|_worker| {
    ///         |event, _, _| { SUM.fetch_add(*event, Relaxed); }
    ///     })
    ///     .build()?;
    /// # let running = consumers.start()?;
    /// producer.publish_batch(3, |slots| slots.iter_mut().for_each(|event| *event = 7))?;
    /// running.shutdown()?;
    /// assert_eq!(SUM.load(Relaxed), 21); // each event once
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read<F, R>(self, mut make: impl FnMut(usize) -> F) -> P::Next
    where
        E: Sync,
        F: FnMut(&E, Sequence, bool) -> R + Send + 'env,
        R: IntoAction + 'env,
    {
        self.add::<Shared, _, R>(|worker| PerEvent::new(make(worker)), nothing)
    }

    /// Reads with a handler for each worker, to be [handed back](crate::Report::take) by the worker's name.
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
    ///     .stage("sum").workers(2).read_handlers(|_worker| Sum(0))
    ///     .build()?;
    /// # let running = consumers.start()?;
    /// producer.publish(|event| *event = 7)?;
    /// let mut report = running.shutdown()?;
    /// let (Sum(of_one), Sum(of_other)) = (report.take("sum-0")?, report.take("sum-1")?);
    /// assert_eq!(of_one + of_other, 7);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_handlers<H, R>(self, mut make: impl FnMut(usize) -> H) -> P::Next
    where
        E: Sync,
        H: EventHandler<E, Shared, R> + Send + 'static,
        R: IntoAction + 'env,
    {
        self.add::<Shared, _, R>(|worker| WholeLife::new(make(worker)), itself)
    }

    /// As [`read_handlers`](Self::read_handlers), with handlers that [hand over](HandOver) what they know of a key when
    /// it goes to another worker. Of use with workers [by key](Workers::by_key); other workers have no keys.
    /// [`HandOver`] has an example of a resize.
    ///
    /// ```
    /// # use std::collections::HashMap;
    /// # use lapwing::{Disruptor, EventHandler, Sequence, consumer::{HandOver, MovedKeys}};
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
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("count")
    ///     .workers(2)
    ///     .by_key(|key| *key)
    ///     .read_keyed_handlers(|_worker| Counts::default())
    ///     .build()?;
    /// # let running = consumers.start()?;
    /// producer.publish(|key| *key = 7)?;
    /// # let mut report = running.shutdown()?;
    /// # let (Counts(left), Counts(right)) = (report.take("count-0")?, report.take("count-1")?);
    /// assert_eq!(left.get(&7).or(right.get(&7)), Some(&1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_keyed_handlers<H, R>(self, make: impl FnMut(usize) -> H) -> P::Next
    where
        E: Sync,
        H: EventHandler<E, Shared, R> + HandOver + Send + 'static,
        R: IntoAction + 'env,
    {
        self.add_keyed::<Shared, H, R>(make)
    }

    fn add_keyed<A: Access, H, R: IntoAction + 'env>(
        mut self,
        mut make: impl FnMut(usize) -> H,
    ) -> P::Next
    where
        H: EventHandler<E, A, R> + HandOver + Send + 'static,
    {
        self.team.hands_over = true;
        let mailboxes = Arc::new(Mailboxes::new(self.team.max().unwrap_or(0)));
        let make = |worker| Keyed::<H, R>::new(make(worker), Arc::clone(&mailboxes));
        self.add::<A, _, R>(make, |work| Some(Box::new(work.into_handler())))
    }

    fn add<A: Access, H: Work<E, A> + Send + 'env, R: IntoAction>(
        self,
        make: impl FnMut(usize) -> H,
        hand_back: impl FnOnce(H) -> Option<Box<dyn Any + Send>> + Copy + Send + 'env,
    ) -> P::Next {
        let Self { stage: Stage { settings, position }, team } = self;
        let abilities = Abilities::of::<E, A, H, R>(&settings);
        // None for a number that `build` refuses.
        let handlers = (0..team.max().unwrap_or(0)).map(make);
        let body = |work: H| -> WorkerBody<'env, E> {
            Box::new(move |worker: Worker<E>, stage| {
                consumer::<E, A, Worker<E>, H>(worker, stage, || work, hand_back)
            })
        };
        let body = Body::Workers(team, handlers.map(body).collect());
        position.place(settings, Part { is_exclusive: A::IS_EXCLUSIVE, abilities, body })
    }
}

/// Groups that change events. No other worker and no other stage has the event meanwhile, so it need not be `Sync`.
impl<'env, E: Send + 'env, P: Position<'env, Event = E>> Workers<P, E> {
    /// Changes event by event, with a closure for each worker: `on_event(event, sequence, end_of_batch)`.
    ///
    /// ```
    /// # use lapwing::Disruptor;
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("double").workers(2).write(|_worker| |event, _, _| *event *= 2)
    ///     .stage("check").read(|event, _, _| assert_eq!(*event, 14)) // of a published 7
    ///     .build()?;
    /// # let running = consumers.start()?;
    /// # producer.publish(|event| *event = 7)?;
    /// # running.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn write<F, R>(self, mut make: impl FnMut(usize) -> F) -> P::Next
    where
        P: Alone<'env>,
        F: FnMut(&mut E, Sequence, bool) -> R + Send + 'env,
        R: IntoAction + 'env,
    {
        self.add::<Exclusive, _, R>(|worker| PerEvent::new(make(worker)), nothing)
    }

    /// Changes events with a handler for each worker, to be [handed back](crate::Report::take) by the worker's name.
    ///
    /// ```
    /// # use lapwing::{Disruptor, EventHandler, Sequence, consumer::Exclusive};
    /// # struct Scale(u64);
    /// # impl EventHandler<u64, Exclusive> for Scale {
    /// #     fn on_event(&mut self, event: &mut u64, _: Sequence, _: bool) {
    /// #         *event *= self.0;
    /// #     }
    /// # }
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("scale").workers(2).write_handlers(|_worker| Scale(2))
    ///     .stage("check").read(|event, _, _| assert_eq!(*event, 14)) // of a published 7
    ///     .build()?;
    /// # let running = consumers.start()?;
    /// # producer.publish(|event| *event = 7)?;
    /// # running.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn write_handlers<H, R>(self, mut make: impl FnMut(usize) -> H) -> P::Next
    where
        P: Alone<'env>,
        H: EventHandler<E, Exclusive, R> + Send + 'static,
        R: IntoAction + 'env,
    {
        self.add::<Exclusive, _, R>(|worker| WholeLife::new(make(worker)), itself)
    }

    /// As [`read_keyed_handlers`](Self::read_keyed_handlers), with events to change.
    ///
    /// ```
    /// # use std::collections::HashMap;
    /// # use lapwing::{Disruptor, EventHandler, Sequence};
    /// # use lapwing::consumer::{Exclusive, HandOver, MovedKeys};
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
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || (0, 0))
    ///     .stage("number")
    ///     .workers(2)
    ///     .by_key(|event| event.0)
    ///     .write_keyed_handlers(|_worker| Number::default())
    ///     .stage("check").read(|event, _, _| assert_eq!(event.1, 1))
    ///     .build()?;
    /// # let running = consumers.start()?;
    /// producer.publish(|event| event.0 = 7)?; // the first with key 7
    /// # running.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn write_keyed_handlers<H, R>(self, make: impl FnMut(usize) -> H) -> P::Next
    where
        P: Alone<'env>,
        H: EventHandler<E, Exclusive, R> + HandOver + Send + 'static,
        R: IntoAction + 'env,
    {
        self.add_keyed::<Exclusive, H, R>(make)
    }
}
