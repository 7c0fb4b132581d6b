//! The settings of a worker group: how many workers share the events of a stage, by which keys, and
//! on which CPUs. Not here: what the workers do (`worker_verbs`).

use std::fmt;
use std::sync::Arc;

use super::Stage;
use crate::group::MAX_WORKERS;
use crate::topology::position::Position;
use crate::topology::team::Team;

impl<'env, P: Position<'env>> Stage<P> {
    /// Makes the stage a group of `workers` that share the events: each event goes to one worker.
    /// Unless the number is in `1..=64`, [`build`](crate::Builder::build) returns
    /// [`BuildError::Workers`](crate::error::BuildError::Workers).
    ///
    /// Settings of the stage come before this call, settings of the group after it.
    ///
    /// ```
    /// use lapwing::{Disruptor, error::BuildError};
    ///
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("check").workers(2).read(|_worker| |event, _, _| assert_eq!(*event, 7))
    ///     .build()?;
    /// let running = consumers.start()?; // the threads "check-0" and "check-1"
    /// producer.publish(|event| *event = 7)?;
    /// running.shutdown()?;
    ///
    /// let ring = Disruptor::single_producer(8, || 0_u64);
    /// let ring = ring.stage("none").workers(0).read(|_worker| |_, _, _| {});
    /// let stage = "none".to_owned();
    /// assert_eq!(ring.build().err(), Some(BuildError::Workers { stage, requested: 0, max: 64 }));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn workers(self, workers: usize) -> WorkerStage<P, P::Event> {
        WorkerStage { stage: self, team: Team::new(workers) }
    }
}

/// A stage whose events are shared by several workers, from [`Stage::workers`]. Each event goes to
/// exactly one worker.
///
/// Settings such as [`by_key`](Self::by_key) may follow, and a verb ends the stage. The verb calls
/// `make` once for each worker, with the number of the worker, from 0. That includes the workers
/// that [`up_to`](Self::up_to) adds.
///
/// - **Order.** Which worker gets an event, and in which order events are finished, is not
///   determined, except [by key](Self::by_key). Stages downstream of the group wait for all of its
///   workers. They see each event after it is finished, and in order.
/// - **Share.** A worker claims a fair share of the available events and handles them one after the
///   other. How many it claims depends on how long its events took so far. Other workers, even idle
///   ones, take over claimed events only when a worker leaves. If events wait for each other, for
///   example parts that must all be under way, set [`max_batch(1)`](Stage::max_batch).
/// - **Names and settings.** Each worker is a consumer with its own handler and, by default, its
///   own thread. Its name is that of the stage and a number, such as "price-0". The report lists
///   workers, and hands back handlers, by these names. The settings of the [`Stage`] apply to each
///   worker: strategy, longest batch, timeout and failure policies. Each worker has its [own
///   clone](crate::consumer::FailurePolicy) of a policy.
/// - **Leaving.** A worker that [stops](crate::Action::Stop) leaves its claimed, unfinished events
///   to the others, including the event at which it stopped. After
///   [`SkipAndStop`](crate::Action::SkipAndStop) it leaves only the later ones. An event that makes
///   each handler fail therefore needs a policy other than `Stop`. If the last worker leaves, the ring
///   halts. The outcome of that worker is [`Halted`](crate::consumer::Outcome::Halted), or
///   [`Detached`](crate::consumer::Outcome::Detached) if it left after a failure.
///
/// ```
/// use lapwing::Disruptor;
///
/// let (mut orders, consumers) = Disruptor::single_producer(64, || (0_u64, 0_u64))
///     .stage("price").workers(4).write(|_worker| |order, _, _| order.1 = 3 * order.0)
///     .stage("book").read(|order, sequence, _| assert_eq!(*order, (sequence, 3 * sequence)))
///     .build()?;
/// let running = consumers.start()?; // the threads "price-0" to "price-3", and "book"
/// for quantity in 0..1000 {
///     orders.publish(|order| order.0 = quantity)?;
/// }
/// let report = running.shutdown()?;
/// let workers = report.stages().filter(|stage| stage.name().starts_with("price-"));
/// assert_eq!(workers.map(|worker| worker.processed()).sum::<u64>(), 1000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a stage is added by a verb, such as `read`"]
pub struct WorkerStage<P, E> {
    pub(super) stage: Stage<P>,
    pub(super) team: Team<E>,
}

impl<P, E> WorkerStage<P, E> {
    /// Sets the greatest number of workers that the group may be
    /// [resized](crate::lifecycle::WorkerGroup::resize) to while the ring runs. By default, that is
    /// the number at the start. If `max` is below that number or above
    /// 64, [`build`](crate::Builder::build) returns
    /// [`BuildError::Workers`](crate::error::BuildError::Workers).
    ///
    /// Every worker has its thread from the start. The threads of workers that are not needed are
    /// parked, whatever the strategy of the stage.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (_producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("work").workers(1).up_to(3).read(|_| |_, _, _| {})
    ///     .build()?;
    /// let running = consumers.start()?; // three threads, two of them parked
    /// let work = running.workers("work").unwrap();
    /// work.resize(3)?;
    /// assert_eq!(work.size(), 3);
    /// running.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn up_to(mut self, max: usize) -> Self {
        self.team.max = Some(max);
        self
    }

    /// Sends events with the same key to the same worker, in their order. Several keys may share a
    /// worker.
    ///
    /// The first worker that finds events without an owner calls `key` for each of them, before any
    /// worker handles them. A handler may therefore change the fields that `key` reads. A batch of
    /// a worker is a run of its own events, so it is short if the key changes with each event.
    ///
    /// # What `key` may do
    ///
    /// One worker at a time assigns events, and holds the routing lock of the group while it calls
    /// `key`. The other workers handle the events that are already assigned, and get no others
    /// until `key` returns. So `key` should be a short computation:
    ///
    /// - It may publish to its own ring while there are free slots. If the publication could only
    ///   go on after `key` has returned, it fails with
    ///   [`PublishError::WouldDeadlock`](crate::error::PublishError::WouldDeadlock), as it does in
    ///   a handler.
    /// - It must not wait in another way for an event that is not assigned yet, or for the end of
    ///   the ring. The library cannot detect that, and the group would block forever.
    /// - It may resize the group. The new size applies to later events, once the group has finished
    ///   those that are being assigned.
    ///
    /// # When keys move to another worker
    ///
    /// A [resize](crate::lifecycle::WorkerGroup::resize) assigns many keys to other workers. No
    /// worker gets an event of the new assignment before all events of the old one are finished, so
    /// the order of each key holds. During that time, the group waits for its slowest worker.
    ///
    /// **The state that a handler keeps for a key does not move by itself.** The new worker of a
    /// key begins without it: an average per key, for example, would restart silently. Handlers
    /// that implement [`HandOver`](crate::consumer::HandOver) move their state. Add them by
    /// [`read_keyed_handlers`](Self::read_keyed_handlers) or
    /// [`write_keyed_handlers`](Self::write_keyed_handlers).
    ///
    /// A worker that [stops](crate::Action::Stop) leaves its events to another one in their order,
    /// including the event at which it stopped, unless it
    /// [skips](crate::Action::SkipAndStop) that one. Later events of its keys go to the remaining
    /// workers.
    ///
    /// If `key` panics, the ring halts, whatever the failure policy says, since the owner of the
    /// event is not known. The outcome of the worker that called `key` is
    /// [`Panicked`](crate::consumer::Outcome::Panicked), with the sequence of the event.
    ///
    /// ```
    /// use std::collections::HashSet;
    /// use lapwing::{Disruptor, EventHandler, Sequence};
    ///
    /// #[derive(Default)]
    /// struct Accounts(HashSet<u64>); // of this worker, so it needs no lock
    ///
    /// impl EventHandler<u64> for Accounts {
    ///     fn on_event(&mut self, account: &u64, _: Sequence, _: bool) { self.0.insert(*account); }
    /// }
    ///
    /// let stage = Disruptor::single_producer(64, || 0_u64).stage("accounts").workers(2);
    /// let ring = stage.by_key(|account| *account).read_handlers(|_worker| Accounts::default());
    /// let (mut trades, consumers) = ring.build()?;
    /// let running = consumers.start()?;
    /// (0..100).try_for_each(|trade| trades.publish(|account| *account = trade % 10).map(drop))?;
    /// let mut report = running.shutdown()?;
    /// let Accounts(left) = report.take("accounts-0")?;
    /// let Accounts(right) = report.take("accounts-1")?;
    /// assert!(left.is_disjoint(&right) && left.len() + right.len() == 10);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn by_key(mut self, key: impl Fn(&E) -> u64 + Send + Sync + 'static) -> Self {
        self.team.keys = Some(Arc::new(key));
        self
    }

    /// Sets the CPUs that the workers are pinned to: the first worker to the first CPU, and so on,
    /// as [`Stage::pin`](crate::Stage::pin) does for a stage.
    ///
    /// A worker without a CPU in the list is not pinned, and surplus CPUs are ignored. If the list
    /// is empty, the CPU of the stage applies to the first worker.
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

impl<P, E> fmt::Debug for WorkerStage<P, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkerStage").field("stage", &self.stage).field("team", &self.team).finish()
    }
}
