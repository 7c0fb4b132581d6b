//! The verbs of a worker group: closures or handlers, reading or writing. Not here: how many
//! workers, by which keys, and on which CPUs (`workers`).

use std::any::Any;
use std::sync::Arc;

use super::Stage;
use super::verbs::{consumer, itself, nothing};
use super::workers::WorkerStage;
use crate::Sequence;
use crate::consumer::{
    Access, EventHandler, Exclusive, HandOver, IntoAction, Keyed, Mailboxes, PerEvent, Shared,
    WholeLife, Work, Worker,
};
use crate::topology::graph::{Abilities, Body, Part, WorkerBody};
use crate::topology::position::{Alone, Position};

/// Groups that read. Events must be `Sync`, as for a stage that reads.
impl<'env, E: Send + 'env, P: Position<'env, Event = E>> WorkerStage<P, E> {
    /// Reads events one by one, with a closure for each worker: `on_event(event, sequence,
    /// end_of_batch)`.
    ///
    /// The closure returns `()`, an [`Action`](crate::Action), or a `Result`; see [`IntoAction`].
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
    /// use lapwing::Disruptor;
    ///
    /// static SUM: AtomicU64 = AtomicU64::new(0);
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("sum").workers(2).read(|_worker| |event, _, _| _ = SUM.fetch_add(*event, Relaxed))
    ///     .build()?;
    /// let running = consumers.start()?;
    /// for number in 1..=3 {
    ///     producer.publish(|event| *event = number)?;
    /// }
    /// running.shutdown()?;
    /// assert_eq!(SUM.load(Relaxed), 6); // each event once
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

    /// Reads events one by one, with a handler for each worker.
    /// [`Report::take`](crate::Report::take) hands a handler back by the name of the worker.
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
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("sum").workers(2).read_handlers(|_worker| Sum(0))
    ///     .build()?;
    /// let running = consumers.start()?;
    /// producer.publish(|event| *event = 7)?;
    /// let mut report = running.shutdown()?;
    /// let (Sum(first), Sum(second)) = (report.take("sum-0")?, report.take("sum-1")?);
    /// assert_eq!(first + second, 7);
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

    /// Reads events with a handler for each worker, and [hands over](HandOver) the state of a key
    /// when the key moves to another worker.
    ///
    /// Keys move only in a group [by key](WorkerStage::by_key). [`HandOver`] has an example of a
    /// resize. [`Report::take`](crate::Report::take) hands a handler back by the name of the worker.
    ///
    /// ```
    /// use std::collections::HashMap;
    /// use lapwing::{Disruptor, EventHandler, Sequence, consumer::{HandOver, MovedKeys}};
    ///
    /// #[derive(Default)]
    /// struct Last(HashMap<u64, Sequence>); // the last event of each key
    ///
    /// impl EventHandler<u64> for Last {
    ///     fn on_event(&mut self, key: &u64, at: Sequence, _: bool) { self.0.insert(*key, at); }
    /// }
    ///
    /// impl HandOver for Last {
    ///     type State = Sequence;
    ///     fn give(&mut self, moved: &MovedKeys) -> Vec<(u64, Sequence)> {
    ///         self.0.extract_if(|&key, _| moved.contains(key)).collect()
    ///     }
    ///     fn take(&mut self, key: u64, at: Sequence) { self.0.insert(key, at); }
    /// }
    ///
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0)
    ///     .stage("last").workers(2).by_key(|key| *key)
    ///     .read_keyed_handlers(|_worker| Last::default())
    ///     .build()?;
    /// let running = consumers.start()?;
    /// for key in [7, 8, 7] {
    ///     producer.publish(|event| *event = key)?;
    /// }
    /// let mut report = running.shutdown()?;
    /// let (Last(mut last), Last(others)) = (report.take("last-0")?, report.take("last-1")?);
    /// last.extend(others);
    /// assert_eq!(last, HashMap::from([(7, 2), (8, 1)]));
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
        // No handlers for a number of workers that `build` refuses.
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

/// Groups that change events. No other worker and no other stage has the event at the same time, so
/// events need not be `Sync`.
impl<'env, E: Send + 'env, P: Position<'env, Event = E>> WorkerStage<P, E> {
    /// Changes events one by one, with a closure for each worker: `on_event(event, sequence,
    /// end_of_batch)`.
    ///
    /// The closure returns `()`, an [`Action`](crate::Action), or a `Result`; see [`IntoAction`].
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("double").workers(2).write(|_worker| |event, _, _| *event *= 2)
    ///     .stage("check").read(|event, _, _| assert_eq!(*event, 14))
    ///     .build()?;
    /// let running = consumers.start()?;
    /// producer.publish(|event| *event = 7)?;
    /// running.shutdown()?;
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

    /// Changes events one by one, with a handler for each worker.
    /// [`Report::take`](crate::Report::take) hands a handler back by the name of the worker.
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
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("scale").workers(2).write_handlers(|_worker| Scale(2))
    ///     .stage("check").read(|event, _, _| assert_eq!(*event, 14))
    ///     .build()?;
    /// let running = consumers.start()?;
    /// producer.publish(|event| *event = 7)?;
    /// running.shutdown()?;
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

    /// Changes events with a handler for each worker, and [hands over](HandOver) the state of a key
    /// when the key moves to another worker.
    ///
    /// Keys move only in a group [by key](WorkerStage::by_key). [`HandOver`] has an example of a
    /// resize. [`Report::take`](crate::Report::take) hands a handler back by the name of the worker.
    ///
    /// ```
    /// use std::collections::HashMap;
    /// use lapwing::{Disruptor, EventHandler, Sequence};
    /// use lapwing::consumer::{Exclusive, HandOver, MovedKeys};
    ///
    /// #[derive(Default)]
    /// struct Trade { account: u64, amount: u64, balance: u64 }
    ///
    /// #[derive(Default)]
    /// struct Balances(HashMap<u64, u64>); // by account
    ///
    /// impl EventHandler<Trade, Exclusive> for Balances {
    ///     fn on_event(&mut self, trade: &mut Trade, _: Sequence, _: bool) {
    ///         let balance = self.0.entry(trade.account).or_default();
    ///         *balance += trade.amount;
    ///         trade.balance = *balance;
    ///     }
    /// }
    ///
    /// impl HandOver for Balances {
    ///     type State = u64;
    ///     fn give(&mut self, moved: &MovedKeys) -> Vec<(u64, u64)> {
    ///         self.0.extract_if(|&account, _| moved.contains(account)).collect()
    ///     }
    ///     fn take(&mut self, account: u64, balance: u64) { self.0.insert(account, balance); }
    /// }
    ///
    /// let (mut trades, consumers) = Disruptor::single_producer(8, Trade::default)
    ///     .stage("balance").workers(2).by_key(|trade| trade.account)
    ///     .write_keyed_handlers(|_worker| Balances::default())
    ///     .stage("check").read(|trade, at, _| assert_eq!(trade.balance, 10 * (at + 1)))
    ///     .build()?;
    /// let running = consumers.start()?;
    /// for _ in 0..5 {
    ///     trades.publish(|trade| (trade.account, trade.amount) = (7, 10))?;
    /// }
    /// running.shutdown()?;
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
