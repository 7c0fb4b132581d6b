//! What a ring is doing, seen from outside: figures, who holds up whom, and the graph as text.
//!
//! ```text
//! Control ── look ──> Snapshot ─┬─ table       for a terminal
//!                        ^      ├─ drawing     for Graphviz and Mermaid
//!            history ────┘      ├─ stall       one line: who holds up whom, and for how long
//!                               ├─ bottleneck  what limits a ring that runs
//!                               └─ throughput  how much two snapshots are apart
//! Description ──> ab_test                        what the A/B tests of its ends have chosen
//! ```
//!
//! Looks only, and takes no part: the consumers note what they do on lines of their own
//! (`activity`), and no clock is read but here. So time is known by looking twice, which a monitor
//! remembers.

mod ab_test;
mod bottleneck;
mod drawing;
mod history;
mod look;
mod snapshot;
mod stall;
mod state;
mod table;
mod text;
mod throughput;

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

pub use ab_test::{AbTest, AbTestSubject, AbTimes};
pub use bottleneck::Bottleneck;
pub use snapshot::{Snapshot, StageSnapshot, StageState};
pub use stall::{Culprit, Stall};
pub use state::RingState;
pub use throughput::{StageThroughput, Throughput};

use crate::description::Description;
use crate::lifecycle::{Consumers, Running};
use crate::producer::{Producer, Sequencer};
use crate::protocol::control::Control;
use crate::sync::Arc;
use history::History;
use look::Look;

/// Looks at a ring from outside: how far everybody is, what they are doing, and who holds up whom.
///
/// It belongs to nobody and holds nobody back; it may outlive its ring, and it does not keep the
/// events. Get one from [`Producer::monitor`], [`Consumers::monitor`] or [`Running::monitor`], and
/// clone it for each thread that looks.
///
/// Nothing in a ring reads a clock for it. That something has stood still is known only by looking
/// twice, so a monitor remembers what it saw last, and when, and says "for at least" that long. A
/// clone remembers what the first one did, and from then on what it sees itself.
///
/// There are two verdicts. A [`Stall`] names what has stopped. A [`Bottleneck`] names what limits a ring
/// that moves; two snapshots show it, with the events per second of each stage, by [`Snapshot::since`].
///
/// ```
/// use std::sync::mpsc;
/// use lapwing::{Disruptor, monitor::StageState};
///
/// let (begun, begins) = mpsc::channel();
/// let (go, gate) = mpsc::channel::<()>();
/// let (mut producer, consumers) = Disruptor::single_producer(4, || 0_u64)
///     .name("orders")
///     .stage("journal").read(move |_, _, _| {
///         begun.send(()).unwrap();
///         let _ = gate.recv(); // until `go` is dropped
///     })
///     .build()?;
/// let monitor = producer.monitor();
/// let running = consumers.start()?;
/// producer.publish_batch(4, |_| {})?;
/// begins.recv()?;
///
/// let snapshot = monitor.snapshot();
/// assert_eq!((snapshot.published, snapshot.free_slots), (4, 0));
/// assert_eq!((snapshot.stages[0].lag, snapshot.stages[0].state), (4, StageState::InHandler));
///
/// let stall = monitor.stall().unwrap().to_string(); // the second look: nothing has moved
/// assert!(stall.starts_with("ring \"orders\" is full: stage \"journal\" is in its handler"));
///
/// drop((go, begins));
/// # let _ = running.shutdown();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Cost
///
/// A look reads one or two cache lines of each stage, which their owners fetch back when they write
/// next; with several producers also a stamp for each event that the furthest stage has not
/// finished. Looking a few times a second is not to be noticed.
pub struct Monitor {
    control: Arc<Control>,
    description: Description,
    /// What this monitor has seen.
    history: Mutex<History>,
}

impl Monitor {
    fn new(control: &Arc<Control>, description: &Description) -> Self {
        Self {
            control: Arc::clone(control),
            description: description.clone(),
            history: Mutex::default(),
        }
    }

    fn history(&self) -> MutexGuard<'_, History> {
        // Nothing panics under this lock.
        self.history.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the ring is doing now. Never waits for the ring.
    ///
    /// The figures are read one after another, and each is true at its moment. They are read in an
    /// order in which no stage shows ahead of one that it comes after, nor of what is published.
    ///
    /// ```
    /// # use lapwing::Disruptor;
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
        // Two threads that share a monitor look one after the other, so that none remembers less
        // than it has seen.
        let mut history = self.history();
        let began = Instant::now();
        let look = Look::at(&self.control);
        let mut snapshot = Snapshot::new(began, &look, &self.control, &self.description);
        history.compare(&mut snapshot, began, Instant::now());
        snapshot
    }

    /// Who holds up whom, if somebody does: as [`stalled_for`](Self::stalled_for) with no least
    /// time, so that two looks of this monitor that see the same are enough.
    ///
    /// ```
    /// # use lapwing::Disruptor;
    /// let (mut producer, mut consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).name("quotes").stage("ticks").poller().build()?;
    /// let ticks = consumers.take_poller("ticks")?; // and does not ask it
    /// producer.publish(|event| *event = 7)?;
    ///
    /// let monitor = producer.monitor();
    /// assert!(monitor.stall().is_none()); // the first look: there is nothing to compare it with
    /// let stall = monitor.stall().unwrap().to_string();
    /// assert!(stall.starts_with("ring \"quotes\" is held up: stage \"ticks\" is not asked"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn stall(&self) -> Option<Stall> {
        self.stalled_for(Duration::ZERO)
    }

    /// Looks, and tells who holds up whom, if the looks of this monitor show that it has for
    /// `at_least` so long. Never waits; the looks are yours to make, once a second for instance.
    ///
    /// A ring is stalled when something in it could go on, and does not:
    ///
    /// - a stage that has events which it may handle now, and finishes none: a handler that does
    ///   not return, a poller that is not asked, a consumer that nobody runs;
    /// - an [acknowledgement](crate::Stage::acknowledged) of an event that its stage has finished;
    /// - with several producers, a claim that is neither published nor given up, which all stages
    ///   wait for; the private claim of a single producer cannot be seen;
    /// - once the ring is closed or halted, a stage that does not come to its end.
    ///
    /// Of stages that [share a thread](crate::Stage::on_thread), the one that is in its handler
    /// holds up the others. Whoever waits for one of these is not to blame: of a pipeline that has
    /// piled up behind its last stage, the last stage is named, and so it is when a producer waits
    /// on the full ring. If there are several, it is the one with the lowest sequence, and
    /// [`Stall::others`] counts the rest. A ring in which everything is done is
    /// [idle](Self::idle_for), not stalled.
    ///
    /// A stage shows no progress before the end of its batch. Let `at_least` be longer than a batch
    /// may take, or [shorten the batches](crate::Stage::max_batch).
    ///
    /// ```
    /// use std::time::Duration;
    /// # use lapwing::Disruptor;
    ///
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("decode").read(|_, _, _| {})
    ///     .stage("sum").read(|_, _, _| {})
    ///     .build()?;
    /// let monitor = consumers.monitor();
    /// producer.publish(|event| *event = 7)?; // and forgets to start the consumers
    /// assert!(monitor.stall().is_none());
    /// assert!(monitor.stalled_for(Duration::from_secs(3600)).is_none()); // not that long yet
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

    /// Looks, and tells whether the ring has been idle for `at_least` so long by the looks of this
    /// monitor: it is open, every event is finished, and nothing is published. For those to whom
    /// silence is a fault.
    ///
    /// ```
    /// use std::time::Duration;
    /// # use lapwing::Disruptor;
    ///
    /// let (producer, _consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).name("quotes").stage("all").poller().build()?;
    /// let monitor = producer.monitor();
    /// assert!(monitor.idle_for(Duration::ZERO).is_none()); // the first look
    /// let idle = monitor.idle_for(Duration::ZERO).unwrap().to_string();
    /// let text = "ring \"quotes\" is empty: waiting for a publication at sequence 0";
    /// assert!(idle.starts_with(text));
    /// assert!(monitor.stall().is_none()); // idle is not stalled
    /// # Ok::<(), lapwing::error::BuildError>(())
    /// ```
    #[must_use]
    pub fn idle_for(&self, at_least: Duration) -> Option<Stall> {
        self.snapshot().idle(at_least)
    }
}

impl Clone for Monitor {
    fn clone(&self) -> Self {
        Self {
            control: Arc::clone(&self.control),
            description: self.description.clone(),
            history: Mutex::new(self.history().clone()),
        }
    }
}

impl fmt::Debug for Monitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Monitor").field("ring", &self.description.ring()).finish_non_exhaustive()
    }
}

impl<E, S: Sequencer> Producer<E, S> {
    /// A [`Monitor`] of this ring.
    ///
    /// ```
    /// # let (mut producer, _consumers) =
    /// #     lapwing::Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
    /// let monitor = producer.monitor();
    /// producer.publish(|event| *event = 7)?; // a monitor borrows nothing
    /// assert_eq!(monitor.snapshot().published, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn monitor(&self) -> Monitor {
        Monitor::new(&self.ring.control, &self.ring.description)
    }
}

impl<E> Consumers<'_, E> {
    /// A [`Monitor`] of this ring.
    ///
    /// ```
    /// # use lapwing::{Disruptor, monitor::StageState};
    /// let (_producer, consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("sum").read(|_, _, _| {}).build()?;
    /// assert_eq!(consumers.monitor().snapshot().stages[0].state, StageState::NotStarted);
    /// # Ok::<(), lapwing::error::BuildError>(())
    /// ```
    #[must_use]
    pub fn monitor(&self) -> Monitor {
        Monitor::new(&self.control, &self.description)
    }
}

impl Running<'_> {
    /// A [`Monitor`] of this ring, which may outlive the threads.
    ///
    /// ```
    /// # use lapwing::{Disruptor, monitor::StageState};
    /// # let (producer, consumers) =
    /// #     Disruptor::single_producer(8, || 0_u64).stage("sum").read(|_, _, _| {}).build()?;
    /// let running = consumers.start()?;
    /// let monitor = running.monitor();
    /// drop(producer);
    /// running.join()?;
    /// assert_eq!(monitor.snapshot().stages[0].state, StageState::Drained);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn monitor(&self) -> Monitor {
        Monitor::new(&self.control, &self.description)
    }
}
