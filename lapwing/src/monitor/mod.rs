//! Monitors: the figures of a ring, what holds it up, and its graph as text.
//!
//! ```text
//! Watched ── look ──> Snapshot ─┬─ table       for a terminal
//!                        ^      ├─ drawing     for Graphviz and Mermaid
//!            history ────┘      ├─ stall       one line: what holds up the ring, and for how long
//!                               ├─ bottleneck  what limits a running ring
//!                               └─ throughput  the difference between two snapshots
//!                                      └─ limits  what has limited the ring, over several of them
//! ```
//!
//! A monitor only reads. Each consumer records its activity on a cache line of its own
//! (`activity`). Only this module reads the clock. A duration is known from two snapshots, so a
//! monitor remembers the last one.

mod part;
mod state;
mod text;

mod look;

mod snapshot;

mod bottleneck;
mod history;
mod table;

mod drawing;
mod stall;
mod throughput;

mod limits;

use std::fmt;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

pub use limits::{LimitShare, Limits};
pub use part::Part;
pub use snapshot::{Snapshot, StageSnapshot, StageState};
pub use stall::Stall;
pub use state::RingState;
pub use throughput::{StageThroughput, Throughput};

use crate::lifecycle::{Consumers, Running};
use crate::producer::{Producer, Sequencer};
use crate::ring::Shared;
use crate::sync::now;
use crate::sync::threads::{Mutex, MutexGuard};
use crate::watched::Watched;
use history::History;
use look::Look;

/// An observer of a ring: the progress and the state of each stage, and what holds up the ring.
///
/// A monitor holds back no producer and no stage. It may outlive its ring, and it does not keep the
/// events alive. Get one from [`Producer::monitor`], [`Consumers::monitor`] or
/// [`Running::monitor`]. Clone it for each thread that observes the ring.
///
/// The ring itself reads no clock for its monitors. A monitor remembers its last snapshot and when
/// it took it. The durations that it reports are therefore lower bounds: "for at least". A clone
/// starts with the same memory and then keeps its own.
///
/// A monitor gives two verdicts. A [`Stall`] names the [`Part`] that has stopped.
/// [`Snapshot::bottleneck`] names the one that limits a ring that makes progress.
/// [`Snapshot::since`] compares two snapshots and adds the events per second of each stage.
/// [`Limits`] adds up which part has limited the ring over a longer time.
///
/// ```
/// use std::sync::mpsc;
/// use lapwing::{Disruptor, monitor::StageState};
/// let (begun, begins) = mpsc::channel();
/// let (go, gate) = mpsc::channel::<()>();
/// let (mut producer, consumers) = Disruptor::single_producer(4, || 0_u64)
///     .name("orders")
///     .stage("journal").read(move |_, _, _| {
///         begun.send(()).unwrap();
///         let _ = gate.recv(); // blocks until `go` is dropped
///     })
///     .build()?;
/// let monitor = producer.monitor();
/// let running = consumers.start()?;
/// producer.publish_batch(4, |_| {})?;
/// begins.recv()?;
/// assert_eq!(monitor.snapshot().stages[0].state, StageState::InHandler);
/// let stall = monitor.stall().unwrap().to_string(); // nothing has moved since the snapshot
/// assert!(stall.starts_with("ring \"orders\" is full: stage \"journal\" is in its handler"));
/// drop(go); // the handler returns
/// running.shutdown()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Cost
///
/// A snapshot reads two cache lines of each stage and of each worker. The thread of the stage
/// fetches them back at its next write. With several producers, a snapshot also reads a stamp for
/// each claimed event that no stage has finished. A few snapshots a second have no measurable
/// effect.
pub struct Monitor {
    watched: Arc<Watched>,
    /// What this monitor remembers.
    history: Mutex<History>,
}

impl Monitor {
    fn new(shared: &Arc<Shared>) -> Self {
        Self { watched: Arc::clone(&shared.watched), history: Mutex::default() }
    }

    /// Creates a monitor of the ring of another process.
    pub(crate) fn of(watched: Watched) -> Self {
        Self { watched: Arc::new(watched), history: Mutex::default() }
    }

    fn history(&self) -> MutexGuard<'_, History> {
        // Nothing panics under this lock.
        self.history.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a snapshot of the ring.
    ///
    /// Never waits for the ring. Threads that share a monitor take their snapshots one after
    /// another. To avoid that wait, give each thread a clone.
    ///
    /// The figures are read one after another, and each was correct at some moment of the call.
    /// The order of the reads ensures that no stage appears ahead of a stage that it depends on,
    /// nor ahead of what is published. A worker group may appear behind a consumer in a
    /// [dynamic stage](crate::graph::DynamicStages) that depends on it.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, mut consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("ticks").poller().build()?;
    /// let mut ticks = consumers.take_poller("ticks")?;
    /// let monitor = producer.monitor();
    /// producer.publish_batch(3, |_| {})?;
    /// ticks.poll_max(1)?.consume_all();
    ///
    /// let snapshot = monitor.snapshot();
    /// assert_eq!((snapshot.capacity, snapshot.published, snapshot.free_slots), (8, 3, 6));
    /// let ticks = &snapshot.stages[0];
    /// assert_eq!((ticks.name.as_str(), ticks.sequence, ticks.lag), ("ticks", 1, 2));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        // Threads that share a monitor take turns. So the memory never goes back to an older
        // snapshot.
        let mut history = self.history();
        let began = now();
        let look = Look::at(&self.watched);
        let mut snapshot = Snapshot::new(began, &look, &self.watched);
        history.compare(&mut snapshot, began, now());
        snapshot
    }

    /// Takes a snapshot and returns what holds up the ring.
    ///
    /// This is [`stalled_for`](Self::stalled_for) with a duration of zero. Two snapshots of this
    /// monitor that show no progress are enough.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, mut consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).name("quotes").stage("ticks").poller().build()?;
    /// let ticks = consumers.take_poller("ticks")?; // never polled
    /// producer.publish(|event| *event = 7)?;
    ///
    /// let monitor = producer.monitor();
    /// assert!(monitor.stall().is_none()); // the first snapshot: nothing to compare it with
    /// let stall = monitor.stall().unwrap().to_string();
    /// assert!(stall.starts_with("ring \"quotes\" is held up: stage \"ticks\" is not polled"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn stall(&self) -> Option<Stall> {
        self.stalled_for(Duration::ZERO)
    }

    /// Takes a snapshot, and returns what has held up the ring for the duration `at_least` or
    /// longer.
    ///
    /// Never waits for the ring. The duration is derived from the snapshots that this monitor
    /// takes, so call this periodically, for instance once a second.
    ///
    /// A ring is stalled when something in it could make progress and does not. That is one of the
    /// following:
    ///
    /// - A stage has events that it may handle, and finishes none. Its handler does not return or
    ///   retries an event, its poller is not polled, or no thread runs its consumer.
    /// - An event that a stage has finished is not [acknowledged](crate::Stage::acknowledged).
    /// - A claim of one of several producers is neither published nor given up, so no stage passes
    ///   it. The private claim of a single producer is not visible.
    /// - The ring is closed or halted, and a stage that has a thread does not end.
    ///
    /// In a halted ring, only the last of these is a cause.
    ///
    /// Only the cause is named, not what waits for it. If a pipeline has backed up behind its last
    /// stage, the last stage is named, also when a producer waits on the full ring. Of stages that
    /// [share a thread](crate::Stage::on_thread), the one in its handler holds up the others. Of
    /// several causes, the one with the lowest sequence is returned, and [`Stall::others`] counts
    /// the rest. A ring in which everything is finished is [idle](Self::idle_for), not stalled.
    ///
    /// A stage shows no progress before the end of its batch. Make `at_least` longer than a batch
    /// may take, or [shorten the batches](crate::Stage::max_batch).
    ///
    /// ```
    /// use std::time::Duration;
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("decode").read(|_, _, _| {})
    ///     .stage("sum").read(|_, _, _| {})
    ///     .build()?;
    /// let monitor = consumers.monitor();
    /// producer.publish(|event| *event = 7)?; // but the consumers are never started
    /// assert!(monitor.stall().is_none());
    /// assert!(monitor.stalled_for(Duration::from_secs(3600)).is_none()); // not for that long yet
    ///
    /// let stall = monitor.stalled_for(Duration::ZERO).unwrap();
    /// let text = "ring \"ring\" is held up: stage \"decode\" has not started, at sequence 0";
    /// assert!(stall.to_string().starts_with(text));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn stalled_for(&self, at_least: Duration) -> Option<Stall> {
        self.snapshot().stall(at_least)
    }

    /// Takes a snapshot, and returns a description of the idle ring if it has been idle for the
    /// duration `at_least` or longer.
    ///
    /// A ring is idle while it is open and has nothing to do: every published event is finished and
    /// acknowledged, none of several producers holds a claim, and no producer waits. Use this call
    /// if a ring without events is a fault. It never waits for the ring. The duration is derived
    /// from the snapshots that this monitor takes, so the result of the first one is `None`.
    ///
    /// ```
    /// use std::time::Duration;
    /// use lapwing::Disruptor;
    ///
    /// let (producer, _consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).name("quotes").stage("all").poller().build()?;
    /// let monitor = producer.monitor();
    /// assert!(monitor.idle_for(Duration::ZERO).is_none()); // the first snapshot
    /// let idle = monitor.idle_for(Duration::ZERO).unwrap().to_string();
    /// let text = "ring \"quotes\" is empty: waiting for a publication at sequence 0";
    /// assert!(idle.starts_with(text));
    /// assert!(monitor.stall().is_none()); // an idle ring is not stalled
    /// # Ok::<(), lapwing::error::BuildError>(())
    /// ```
    #[must_use]
    pub fn idle_for(&self, at_least: Duration) -> Option<Stall> {
        self.snapshot().idle(at_least)
    }
}

impl Clone for Monitor {
    fn clone(&self) -> Self {
        Self { watched: Arc::clone(&self.watched), history: Mutex::new(self.history().clone()) }
    }
}

impl fmt::Debug for Monitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Monitor")
            .field("ring", &self.watched.description.ring())
            .finish_non_exhaustive()
    }
}

impl<E, S: Sequencer> Producer<E, S> {
    /// Returns a [`Monitor`] of this ring.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, _consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
    /// let monitor = producer.monitor();
    /// producer.publish(|event| *event = 7)?; // the monitor borrows nothing
    /// assert_eq!(monitor.snapshot().published, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn monitor(&self) -> Monitor {
        Monitor::new(&self.shared)
    }
}

impl<E> Consumers<'_, E> {
    /// Returns a [`Monitor`] of this ring.
    ///
    /// ```
    /// use lapwing::{Disruptor, monitor::StageState};
    ///
    /// let (_producer, consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("sum").read(|_, _, _| {}).build()?;
    /// assert_eq!(consumers.monitor().snapshot().stages[0].state, StageState::NotStarted);
    /// # Ok::<(), lapwing::error::BuildError>(())
    /// ```
    #[must_use]
    pub fn monitor(&self) -> Monitor {
        Monitor::new(&self.ring.shared)
    }
}

impl Running<'_> {
    /// Returns a [`Monitor`] of this ring, which may outlive the threads.
    ///
    /// ```
    /// use lapwing::{Disruptor, monitor::StageState};
    ///
    /// let (producer, consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("sum").read(|_, _, _| {}).build()?;
    /// let running = consumers.start()?;
    /// let monitor = running.monitor();
    /// drop(producer);
    /// running.join()?;
    /// assert_eq!(monitor.snapshot().stages[0].state, StageState::Drained);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn monitor(&self) -> Monitor {
        Monitor::new(&self.shared)
    }
}
