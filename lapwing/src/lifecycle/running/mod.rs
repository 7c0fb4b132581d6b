//! The running consumers of a ring: how far they are, and how to stop them. Not here: waiting until
//! they have stopped (`shutdown`), and what dropping does (`dropping`).

mod on_drop;
mod shutdown;

mod dropping;

use std::fmt;
use std::sync::Arc as SharedArc;
use std::time::Duration;

use lapwing_core::{Control, ONLY_GENERATION, Placed, StageIndex};

use on_drop::OnDrop;
pub use shutdown::ShutdownError;

use super::completion::Completion;
use super::worker_group::WorkerGroup;
use crate::Sequence;
use crate::consumer::StopHandle;
use crate::description::worker_name;
use crate::error::{HaltCause, HandledError};
use crate::group::Group;
use crate::handled;
use crate::ring::Shared;
use crate::sync::Arc;
use crate::sync::threads::{JoinHandle, ScopedJoinHandle, current};

/// The threads that run the stages of a ring.
///
/// [`shutdown`](Self::shutdown) is the usual end: it closes the ring, waits until the stages have
/// handled every accepted event, and returns a [`Report`](crate::Report). There are other ways to
/// end:
///
/// | call | the ring | the call waits |
/// |---|---|---|
/// | [`shutdown`](Self::shutdown) | closes | until all accepted events are handled |
/// | [`shutdown_timeout`](Self::shutdown_timeout) | closes | the same, up to a time limit |
/// | [`join`](Self::join) | closes once the stages have ended | until the stages have ended |
/// | [`close`](Self::close) | closes | no |
/// | [`halt`](Self::halt) | halts: remaining events are not handled | no |
/// | [`detach`](Self::detach) | stays open | no |
/// | [dropping](#dropping) it | closes | until all accepted events are handled, up to 10 s |
///
/// ```
/// use lapwing::{Disruptor, consumer::Outcome};
///
/// let (mut producer, consumers) =
///     Disruptor::single_producer(8, || 0_u64).stage("work").read(|_, _, _| {}).build()?;
/// let running = consumers.start()?;
/// producer.publish(|event| *event = 1)?;
/// let report = running.shutdown()?;
/// let stage = report.stages().next().unwrap();
/// assert_eq!((stage.name(), stage.outcome(), stage.processed()), ("work", &Outcome::Drained, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Dropping
///
/// Dropping `Running` closes the ring, waits until the stages have handled every accepted event,
/// and joins their threads. So no accepted event is lost when `Running` goes out of scope, for
/// example after an early `?` or at the end of `main`. Dropping does not say how the stages ended.
/// Use `shutdown` or `join` for that.
///
/// The wait takes at most [`DROP_TIMEOUT`](Self::DROP_TIMEOUT), which
/// [`set_drop_timeout`](Self::set_drop_timeout) changes. After that time, the drop returns. The
/// ring stays closed, and the threads go on with the remaining events until the process ends. A
/// [scope](std::thread::scope) still waits until its threads have ended.
///
/// The drop takes the whole time if a stage cannot end:
///
/// - Its handler does not return. No call ends the handler, not even [`halt`](Self::halt). To avoid
///   the wait, set a shorter time, or call [`detach`](Self::detach).
/// - It waits for a poller or an acknowledger that still holds events. Rust drops local variables
///   in reverse order, so declare such a poller after `Running`, or drop it first.
/// - It waits for a claim of one of several producers that is neither published nor dropped.
///
/// The drop does not wait in these cases:
///
/// - The calling thread is panicking. The drop then halts the ring, and remaining events are not
///   handled. This lets a scope end even if its stages wait for a poller that lives outside of it.
/// - The calling thread runs a stage of this ring, and would wait for itself. The drop closes the
///   ring.
/// - [`shutdown_timeout`](Self::shutdown_timeout) has timed out, so the caller has already waited.
/// - An earlier call has returned the report.
///
/// ```
/// use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
/// use lapwing::Disruptor;
///
/// static LINES: AtomicU64 = AtomicU64::new(0);
/// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
///     .stage("write").read(|_, _, _| _ = LINES.fetch_add(1, Relaxed))
///     .build()?;
/// {
///     let _running = consumers.start()?;
///     for line in 0..100 {
///         producer.publish(|event| *event = line)?;
///     }
/// } // closes the ring, and waits
/// assert_eq!(LINES.load(Relaxed), 100);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a drop closes the ring and waits for its stages; `shutdown` and `join` say how they ended"]
pub struct Running<'scope> {
    pub(crate) shared: SharedArc<Shared>,
    /// The stages that have a thread, upstream ones first.
    stages: Vec<RunningStage>,
    threads: Vec<Handle<'scope>>,
    completion: Arc<Completion>,
    on_drop: OnDrop,
    /// Whether the report has been returned. There are no stages and no threads after that.
    is_reported: bool,
}

/// A running stage, which may be a group.
#[derive(Debug)]
pub(super) struct RunningStage {
    name: String,
    /// The words that hold its position.
    words: Box<[StageIndex]>,
    /// Its consumers by name, each with its own words.
    consumers: Vec<(String, StageIndex)>,
    group: Option<Arc<Group>>,
}

impl RunningStage {
    /// The stage with `index`, which may be a group.
    pub(super) fn new(index: StageIndex, group: Option<&Arc<Group>>, name: String) -> Self {
        let Some(group) = group.cloned() else {
            let consumers = vec![(name.clone(), index)];
            return Self { name, words: Box::new([index]), consumers, group: None };
        };
        let consumer = |worker| (worker_name(&name, worker), group.word_of(worker));
        let consumers = (0..group.max()).map(consumer).collect();
        Self { words: group.words().into(), consumers, name, group: Some(group) }
    }
}

/// The thread of one or of several stages.
pub(super) enum Handle<'scope> {
    Owned(JoinHandle<()>),
    Scoped(ScopedJoinHandle<'scope, ()>),
}

impl Handle<'_> {
    /// Whether the caller runs on this thread.
    fn is_own(&self) -> bool {
        let id = match self {
            Self::Owned(handle) => handle.thread().id(),
            Self::Scoped(handle) => handle.thread().id(),
        };
        id == current().id()
    }

    /// Waits for the thread. The report says what its stages did, or that they left nothing.
    pub(super) fn join(self) {
        let _ = match self {
            Self::Owned(handle) => handle.join(),
            Self::Scoped(handle) => handle.join(),
        };
    }
}

impl<'scope> Running<'scope> {
    pub(super) fn new(
        shared: SharedArc<Shared>,
        stages: Vec<RunningStage>,
        completion: Arc<Completion>,
    ) -> Self {
        let (threads, on_drop) = (Vec::new(), OnDrop::default());
        Self { shared, stages, threads, completion, on_drop, is_reported: false }
    }

    pub(super) fn add(&mut self, thread: Handle<'scope>) {
        self.threads.push(thread);
    }

    /// Halts, and waits for the threads started so far.
    pub(super) fn abort(mut self) {
        self.halt();
        self.join_threads();
    }

    fn join_threads(&mut self) {
        // A handler of this ring would wait for itself.
        let threads = self.threads.len();
        self.threads.retain(|thread| !thread.is_own());
        if self.threads.len() < threads {
            self.halt();
        }
        self.threads.drain(..).for_each(Handle::join);
    }

    /// Closes the ring: it accepts no further events. Returns at once.
    ///
    /// Producers get [`PublishError::Closed`](crate::error::PublishError::Closed), also those that
    /// wait on a full ring. The stages handle every accepted event and end. With several producers,
    /// a claim that precedes the close may still be published, and the stages wait for it.
    ///
    /// ```
    /// use lapwing::{Disruptor, error::PublishError};
    ///
    /// let (mut producer, consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("sum").read(|_, _, _| {}).build()?;
    /// let running = consumers.start()?;
    /// producer.publish(|event| *event = 7)?;
    /// running.close();
    /// assert_eq!(producer.publish(|event| *event = 8), Err(PublishError::Closed));
    /// assert_eq!(running.join()?.stages().next().unwrap().processed(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn close(&self) {
        self.control().close();
    }

    /// Halts the ring: every stage stops after its current batch, and remaining events are not
    /// handled. Returns at once.
    ///
    /// Producers get [`PublishError::Halted`](crate::error::PublishError::Halted), and pollers get
    /// [`PollError::Halted`](crate::error::PollError::Halted). A halt ends all waits of the ring.
    /// It does not interrupt a handler.
    ///
    /// ```
    /// use lapwing::{Disruptor, error::{HaltCause, PublishError}};
    ///
    /// let (mut producer, consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("sum").read(|_, _, _| {}).build()?;
    /// let running = consumers.start()?;
    /// running.halt();
    /// let halted = PublishError::Halted(HaltCause::Requested);
    /// assert_eq!(producer.publish(|event| *event = 7), Err(halted));
    /// assert!(running.join().is_err()); // not drained
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn halt(&self) {
        self.control().halt(HaltCause::Requested.core());
    }

    /// Returns a handle that stops the stage `name` and no other; `None` if no stage with a thread
    /// has this name. A group has no handle, but each of its workers has one, by its own name.
    ///
    /// ```
    /// use lapwing::{Disruptor, consumer::Outcome};
    ///
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .parallel(|parallel| parallel
    ///         .stage("left").read(|_, _, _| {})
    ///         .stage("right").read(|_, _, _| {}))
    ///     .build()?;
    /// let running = consumers.start()?;
    /// running.stop_handle("left").unwrap().stop();
    /// producer.publish(|event| *event = 7)?;
    /// let report = running.shutdown()?;
    /// assert_eq!(*report.stages().next().unwrap().outcome(), Outcome::Stopped);
    /// assert_eq!(report.stages().last().unwrap().processed(), 1); // "right" went on
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn stop_handle(&self, name: &str) -> Option<StopHandle> {
        let mut consumers = self.stages.iter().flat_map(|stage| &stage.consumers);
        let (_, words) = consumers.find(|(known, _)| known == name)?;
        Some(StopHandle::new(self.control().clone(), *words, ONLY_GENERATION))
    }

    /// Returns whether every stage that has a thread has ended. Never waits.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (producer, consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("sum").read(|_, _, _| {}).build()?;
    /// let running = consumers.start()?;
    /// assert!(!running.is_finished());
    /// drop(producer); // closes the ring; the stage ends soon
    /// while !running.is_finished() {
    ///     std::thread::yield_now();
    /// }
    /// assert!(running.join().is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.completion.count() == self.consumers()
    }

    /// Returns the number of accepted events that each running stage has not finished. The numbers
    /// may have changed by the time that the call returns.
    ///
    /// A group is one stage. Pollers and stages that have ended are not included. With several
    /// producers, a claim counts as an accepted event, also if it is given up later. An event that
    /// is handled and not acknowledged counts as finished.
    ///
    /// ```
    /// use std::sync::mpsc;
    /// use lapwing::{Disruptor, lifecycle::Backlog};
    ///
    /// let (go, gate) = mpsc::channel::<()>();
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("slow").read(move |_, _, _| _ = gate.recv()) // returns when `go` is dropped
    ///     .build()?;
    /// let running = consumers.start()?;
    /// producer.publish_batch(3, |_| {})?;
    /// assert_eq!(running.backlog(), [Backlog { stage: "slow".into(), events: 3 }]);
    /// drop(go);
    /// running.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn backlog(&self) -> Vec<Backlog> {
        let ended = self.completion.names();
        let accepted = self.control().accepted();
        let is_running =
            |stage: &&RunningStage| stage.consumers.iter().any(|(name, _)| !ended.contains(name));
        let running = self.stages.iter().filter(is_running);
        running
            .map(|stage| {
                let finished = self.control().finished_by_all(&stage.words);
                Backlog { stage: stage.name.clone(), events: accepted.saturating_sub(finished) }
            })
            .collect()
    }

    /// Waits until every last stage has handled the event `sequence` and all earlier ones, for
    /// `timeout` at most.
    ///
    /// [`Producer::wait_handled`](crate::Producer::wait_handled) does the same, and describes what
    /// the call waits for, its errors and how it waits.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
    /// use std::time::Duration;
    /// use lapwing::Disruptor;
    ///
    /// static LINES: AtomicU64 = AtomicU64::new(0);
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("write").read(|_, _, _| _ = LINES.fetch_add(1, Relaxed))
    ///     .build()?;
    /// let running = consumers.start()?;
    /// let mut last = 0;
    /// for line in 0..100 {
    ///     last = producer.publish(|event| *event = line)?;
    /// }
    /// running.wait_handled(last, Duration::from_secs(60))?;
    /// assert_eq!(LINES.load(Relaxed), 100);
    /// # drop(producer);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`Producer::wait_handled`](crate::Producer::wait_handled).
    ///
    /// # Blocking
    ///
    /// Waits like [`Producer::wait_handled`](crate::Producer::wait_handled).
    /// [`backlog`](Self::backlog) does not wait.
    pub fn wait_handled(&self, sequence: Sequence, timeout: Duration) -> Result<(), HandledError> {
        handled::wait(&self.shared, sequence, timeout)
    }

    /// Returns the group of [workers](crate::graph::WorkerStage) named `name`, to resize it; `None`
    /// if there is none.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (_producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("work").workers(1).up_to(3).read(|_| |_, _, _| {})
    ///     .build()?;
    /// let running = consumers.start()?;
    /// let work = running.workers("work").unwrap();
    /// work.resize(2)?;
    /// assert_eq!((work.size(), work.max()), (2, 3));
    /// assert!(running.workers("no such group").is_none());
    /// running.shutdown()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn workers(&self, name: &str) -> Option<WorkerGroup> {
        let stage = self.stages.iter().find(|stage| stage.name == name)?;
        stage.group.as_ref().map(|group| WorkerGroup::new(name, Arc::clone(group)))
    }

    fn control(&self) -> &Placed<Control> {
        &self.shared.control
    }

    /// Number of consumers that were started.
    pub(super) fn consumers(&self) -> usize {
        self.stages.iter().map(|stage| stage.consumers.len()).sum()
    }
}

impl fmt::Debug for Running<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running").field("stages", &self.stages).finish_non_exhaustive()
    }
}

/// The number of accepted events that a stage has not finished.
///
/// ```
/// use lapwing::{Disruptor, lifecycle::Backlog};
///
/// let (mut producer, consumers) =
///     Disruptor::single_producer(8, || 0_u64).stage("journal").read(|_, _, _| {}).build()?;
/// let running = consumers.start()?;
/// producer.publish_batch(3, |_| {})?;
/// for Backlog { stage, events } in running.backlog() {
///     assert!(stage == "journal" && events <= 3);
/// }
/// running.shutdown()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backlog {
    /// Name of the stage.
    pub stage: String,
    /// Number of accepted events that are not finished.
    pub events: u64,
}
