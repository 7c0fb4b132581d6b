//! How many workers share the events of a stage, by which keys, and on which CPUs, as a program writes it. Not here: what
//! they do (`worker_verbs`).

use std::fmt;
use std::sync::Arc;

use super::Stage;
use crate::protocol::group::MAX_WORKERS;
use crate::topology::position::Position;
use crate::topology::team::Team;

impl<'env, P: Position<'env>> Stage<P> {
    /// Has a group of `workers`, `1..=64`, share the events: each event goes to one of them.
    /// [`build`](crate::Builder::build) checks the number. Settings of the stage stand before this call, those of the
    /// group after it.
    ///
    /// ```
    /// use lapwing::{Disruptor, error::BuildError};
    ///
    /// let ring = Disruptor::single_producer(8, || 0_u64);
    /// let ring = ring.stage("none").workers(0).read(|_worker| |_, _, _| {});
    /// let stage = "none".to_owned();
    /// assert_eq!(ring.build().err(), Some(BuildError::Workers { stage, requested: 0, max: 64 }));
    /// ```
    pub fn workers(self, workers: usize) -> Workers<P, P::Event> {
        Workers { stage: self, team: Team::new(workers) }
    }
}

/// A stage whose events several workers share, from [`Stage::workers`]: each event goes to exactly one of them. Settings
/// such as [`by_key`](Self::by_key) may follow, and a verb ends it, as it does a [`Stage`]. A verb calls `make` for each
/// worker, with the worker's number, 0 for the first.
///
/// A worker claims some of the events that are there, its fair share, and gives way to nobody until it
/// has handled them. Which worker gets which event, and in what order events are finished, is left to
/// chance, unless they are told apart [by key](Self::by_key). The stages after the group wait for all of them: they see each event once it is finished,
/// and in order.
///
/// A worker may claim several events at once even while another one is idle: how many goes by how long its events took so
/// far. It handles them one after the other, so events that wait for each other, such as the parts of something that all
/// have to be under way, need [`max_batch(1)`](Stage::max_batch).
///
/// Workers are consumers of their own. They have a thread and a handler each, with the stage's name and
/// a number, such as "price-0", by which the report gives account of them and hands handlers back. What
/// the [`Stage`] says holds for each of them: how it waits, its longest batch, its timeout, and its
/// policies, of which each worker has a [clone of its own](crate::consumer::FailurePolicy).
///
/// A worker that [stops](crate::Action::Stop) leaves what it has claimed and not finished to the
/// others, the event that it stopped at included. When the last one leaves, the ring halts, and that
/// one's outcome says so.
///
/// ```
/// use lapwing::Disruptor;
///
/// #[derive(Default)]
/// struct Order { quantity: u64, unit_price: u64, price: u64 }
///
/// let (mut orders, consumers) = Disruptor::single_producer(64, Order::default)
///     .stage("price").workers(4).write(|_worker| {
///         |order, _, _| order.price = order.quantity * order.unit_price
///     })
///     .stage("book").read(|order, sequence, _| assert_eq!(order.price, sequence * 3))
///     .build()?;
/// let running = consumers.start()?; // the threads "price-0" to "price-3", and "book"
/// for quantity in 0..1000 {
///     orders.publish(|order| (order.quantity, order.unit_price) = (quantity, 3))?;
/// }
/// let report = running.shutdown()?;
/// let of_workers = report.stages().filter(|stage| stage.name().starts_with("price-"));
/// assert_eq!(of_workers.map(|worker| worker.processed()).sum::<u64>(), 1000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a stage is added by a verb, such as `read`"]
pub struct Workers<P, E> {
    pub(super) stage: Stage<P>,
    pub(super) team: Team<E>,
}

impl<P, E> Workers<P, E> {
    /// Most workers that the group may be [resized](crate::lifecycle::WorkerGroup::resize) to as the ring runs.
    /// Each has its thread from the start; those that are not to work sleep. As many as there are at
    /// the start by default.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("work").workers(1).up_to(3).read(|_| |_, _, _| {})
    ///     .build()?;
    /// let running = consumers.start()?; // three threads, two of which sleep
    /// let work = running.workers("work").unwrap();
    /// work.resize(3)?;
    /// # producer.publish(|event| *event = 7)?;
    /// running.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn up_to(mut self, max: usize) -> Self {
        self.team.max = Some(max);
        self
    }

    /// Events with the same key go to the same worker, one after another in their order. Different keys
    /// are spread over the workers and may share one.
    ///
    /// The first worker that finds events without an owner calls `key` for each of them, before any
    /// worker handles them: so a handler may change what the key was made of. A batch of a worker is a run
    /// of events that are its own, so it is short where keys change with each event.
    ///
    /// # What `key` may do
    ///
    /// One worker at a time routes, and holds the routing lock of the group while it calls `key`. The
    /// other workers handle what is routed already, and get nothing more until `key` returns. So `key` should be
    /// a short computation. In particular:
    ///
    /// - It may publish to its own ring while there is room. A publication that could only go on after
    ///   `key` has returned is an error, [`PublishError::WouldDeadlock`](crate::error::PublishError::WouldDeadlock),
    ///   as in a handler.
    /// - It must not wait by other means for an event that is not routed yet, nor for the end of the ring.
    ///   The library cannot detect that, and the group would stand still for ever.
    /// - It may resize the group; that takes effect when the current events are routed.
    ///
    /// # When keys change hands
    ///
    /// A [resize](crate::lifecycle::WorkerGroup::resize) gives keys to other workers. None of them gets an event
    /// before all that were given out earlier are finished, so the order of each key holds; for that
    /// moment the group waits for its slowest worker.
    ///
    /// **What a handler keeps for a key does not move by itself:** the new worker of a key begins without
    /// it, so an average per key would silently begin anew. Handlers that implement
    /// [`HandOver`](crate::consumer::HandOver) move it; they are added by
    /// [`read_keyed_handlers`](Self::read_keyed_handlers).
    ///
    /// A worker that [stops](crate::Action::Stop) leaves its events to another one, in their order, the
    /// event that it stopped at included. Later events of its keys go to those that are left. If `key`
    /// panics, the ring halts, whatever the stage's policy says, since nobody knows whose the event is;
    /// the outcome of the worker that asked for it is
    /// [`Panicked`](crate::consumer::Outcome::Panicked), with the event's sequence.
    ///
    /// ```
    /// use std::collections::HashMap;
    /// use lapwing::{Disruptor, EventHandler, Sequence};
    ///
    /// #[derive(Default)]
    /// struct Trade { account: u64, amount: u64 }
    ///
    /// /// Each account is in one of these, which needs no lock.
    /// #[derive(Default)]
    /// struct Balances(HashMap<u64, u64>);
    ///
    /// impl EventHandler<Trade> for Balances {
    ///     fn on_event(&mut self, trade: &Trade, _: Sequence, _: bool) {
    ///         *self.0.entry(trade.account).or_default() += trade.amount;
    ///     }
    /// }
    ///
    /// let (mut trades, consumers) = Disruptor::single_producer(64, Trade::default)
    ///     .stage("balances")
    ///     .workers(2)
    ///     .by_key(|trade| trade.account)
    ///     .read_handlers(|_worker| Balances::default())
    ///     .build()?;
    /// let running = consumers.start()?;
    /// for amount in 1..=100 {
    ///     trades.publish(|trade| (trade.account, trade.amount) = (amount % 10, amount))?;
    /// }
    /// let mut report = running.shutdown()?;
    /// let Balances(left) = report.take("balances-0")?;
    /// let Balances(right) = report.take("balances-1")?;
    /// assert_eq!(left.len() + right.len(), 10); // no account is in both
    /// assert_eq!(left.values().chain(right.values()).sum::<u64>(), 5050);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn by_key(mut self, key: impl Fn(&E) -> u64 + Send + Sync + 'static) -> Self {
        self.team.keys = Some(Arc::new(key));
        self
    }

    /// The CPUs that the workers are pinned to, the first worker to the first, as by
    /// [`Stage::pin`](crate::Stage::pin). A worker that there is no CPU for is not pinned; the stage's
    /// own is for the first worker, where none is said here.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (_producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("work").workers(3).pin([2, 3]).read(|_| |_, _, _| {})
    ///     .build()?;
    /// let cpus: Vec<_> = consumers.into_iter().map(|worker| worker.pin()).collect();
    /// assert_eq!(cpus, [Some(2), Some(3), None]);
    /// # Ok::<(), lapwing::error::BuildError>(())
    /// ```
    pub fn pin(mut self, cpus: impl IntoIterator<Item = usize>) -> Self {
        self.team.cpus = cpus.into_iter().take(MAX_WORKERS).collect();
        self
    }
}

impl<P, E> fmt::Debug for Workers<P, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Workers").field("stage", &self.stage).field("team", &self.team).finish()
    }
}
