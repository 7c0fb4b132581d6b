//! The reading ends of a ring: handlers, which a thread runs, and pollers, which a program polls.

mod acknowledger;
mod action;
mod events;
mod pause;
mod progress;
mod stop;

mod access;
mod failure;
mod finished;

mod failing;

mod batch_handler;
mod handler;
mod keys;
mod recovery;
mod retries;
mod source;

mod several;
mod stage_reader;
mod task;
mod work;

mod batch;
mod hand_over;
mod together;
mod worker;

mod poller;
mod stage_loop;

mod awaited;

mod processor;

use std::collections::BTreeMap;
use std::fmt;

use crate::unshared::Unshared;
use task::{Begin, Task};

pub use access::{Access, Exclusive, Shared};
pub use acknowledger::Acknowledger;
pub use action::{Action, IntoAction};
pub use batch::{Batch, Iter, IterMut};
pub use batch_handler::{BatchHandler, Done};
pub use events::Events;
pub(crate) use failure::KeptPolicy;
pub use failure::{Cause, Failure, FailurePolicy};
pub use finished::{Outcome, StageReport};
pub use hand_over::HandOver;
pub use handler::EventHandler;
pub use poller::Poller;
pub use retries::Retries;
pub use stop::StopHandle;

pub use crate::group::MovedKeys;

pub(crate) use hand_over::{Keyed, Mailboxes};
pub(crate) use keys::SharedKeys;
pub(crate) use processor::Processor;
pub(crate) use recovery::Recovery;
#[cfg(all(test, loom))]
pub(crate) use source::Seen;
pub(crate) use source::Source;
pub(crate) use stage_reader::StageReader;
pub(crate) use task::Post;
pub(crate) use together::run_together;
pub(crate) use work::{BatchLife, PerBatch, PerEvent, WholeLife, Work};
pub(crate) use worker::Worker;

/// A stage, or a worker of a group, with its handler. It is not started yet.
///
/// [`Consumers::start`](crate::Consumers::start) runs all consumers of a ring on new threads. To
/// run them on threads of your own, iterate over [`Consumers`](crate::Consumers). Move each
/// consumer to its thread, and call [`run`](Self::run) there.
///
/// A consumer that is dropped without having run halts its ring, since its events would never be
/// handled. A consumer in a [`DynamicStage`](crate::graph::DynamicStage) leaves the ring instead.
/// The ring then halts only if no consumer is left.
///
/// ```
/// use std::thread;
/// use lapwing::{Disruptor, consumer::Outcome};
///
/// let (mut producer, consumers) =
///     Disruptor::single_producer(8, || 0_u64).stage("sum").read(|_, _, _| {}).build()?;
/// let threads: Vec<_> = consumers
///     .into_iter()
///     .map(|consumer| thread::spawn(move || consumer.run()))
///     .collect();
/// for value in 1..=10 {
///     producer.publish(|event| *event = value)?;
/// }
/// drop(producer); // closes the ring, and the stage ends when it has drained it
/// for thread in threads {
///     let finished = thread.join().unwrap();
///     assert_eq!((finished.outcome(), finished.processed()), (&Outcome::Drained, 10));
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// On scoped threads, the handler may borrow. Move the producer into the scope, so that it is
/// dropped there, also after an early return. That closes the ring. If the producer lived longer
/// than the scope, the stage would not end, and the scope would wait for it forever.
///
/// ```
/// use std::thread;
/// use lapwing::Disruptor;
///
/// let mut sum = 0;
/// let (producer, consumers) = Disruptor::single_producer(8, || 0_u64)
///     .stage("sum").read(|event, _, _| sum += event)
///     .build()?;
/// thread::scope(|scope| {
///     let mut producer = producer;
///     for consumer in consumers {
///         scope.spawn(move || drop(consumer.run()));
///     }
///     producer.publish(|event| *event = 7)
/// })?;
/// assert_eq!(sum, 7);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a consumer that is dropped without having run halts its ring"]
pub struct Consumer<'env> {
    pub(crate) name: String,
    pub(crate) pin: Option<usize>,
    pub(crate) thread: Option<String>,
    stop: StopHandle,
    body: Unshared<Box<dyn Begin<'env> + 'env>>,
}

impl<'env> Consumer<'env> {
    /// Creates the consumer of the stage `name`, which runs `body`.
    pub(crate) fn new(
        name: String,
        (pin, thread): (Option<usize>, Option<String>),
        body: impl Begin<'env> + 'env,
    ) -> Self {
        let stop = body.stop_handle();
        Self { name, pin, thread, stop, body: Unshared::new(Box::new(body)) }
    }

    /// Makes the handler, on the thread that runs it.
    ///
    /// # Errors
    ///
    /// The result of the stage, if making the handler panicked.
    fn begin(self) -> Result<Box<dyn Task + 'env>, StageReport> {
        self.body.into_inner().begin(self.name)
    }

    /// Returns the name of the stage, or of the worker: "send-0" for the first one of "send".
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (_producer, consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("sum").read(|_, _, _| {}).build()?;
    /// let consumer = consumers.into_iter().next().unwrap();
    /// assert_eq!(consumer.name(), "sum");
    /// # Ok::<(), lapwing::error::BuildError>(())
    /// ```
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the CPU that the stage asks for, from [`Stage::pin`](crate::Stage::pin),
    /// [`WorkerStage::pin`](crate::graph::WorkerStage::pin) or
    /// [`Placement::pin`](crate::graph::Placement::pin).
    ///
    /// [`run`](Self::run) does not pin the thread. [`Consumers::start`](crate::Consumers::start)
    /// does.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (_producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("sum").pin(1).read(|_, _, _| {})
    ///     .build()?;
    /// let consumer = consumers.into_iter().next().unwrap();
    /// assert_eq!(consumer.pin(), Some(1));
    /// # Ok::<(), lapwing::error::BuildError>(())
    /// ```
    #[must_use]
    pub fn pin(&self) -> Option<usize> {
        self.pin
    }

    /// Returns the name of the thread that the stage asks for, from
    /// [`Stage::on_thread`](crate::Stage::on_thread) or the ring's
    /// [`Placement`](crate::graph::Placement).
    ///
    /// Returns `None` if the stage runs alone on a thread with its own name, or if it is in a
    /// [dynamic stage](crate::graph::DynamicStages) and names no thread. [`run`](Self::run) does
    /// not use the name.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (_producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("sum").on_thread("cold").read(|_, _, _| {})
    ///     .build()?;
    /// let consumer = consumers.into_iter().next().unwrap();
    /// assert_eq!(consumer.thread(), Some("cold"));
    /// # Ok::<(), lapwing::error::BuildError>(())
    /// ```
    #[must_use]
    pub fn thread(&self) -> Option<&str> {
        self.thread.as_deref()
    }

    /// Returns a handle with which any thread can stop this stage while the ring continues.
    ///
    /// If this is the last consumer of the ring, or the last worker of its group, stopping it
    /// [halts](StopHandle) the ring.
    ///
    /// ```
    /// use std::thread;
    /// use lapwing::{Disruptor, consumer::Outcome};
    ///
    /// let (mut producer, mut consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("sum").read(|_, _, _| {})
    ///     .stage("ticks").poller()
    ///     .build()?;
    /// let mut ticks = consumers.take_poller("ticks")?;
    /// let sum = consumers.into_iter().next().unwrap();
    /// let stop = sum.stop_handle();
    /// let thread = thread::spawn(move || sum.run());
    /// stop.stop();
    /// assert_eq!(*thread.join().unwrap().outcome(), Outcome::Stopped);
    /// producer.publish(|event| *event = 7)?; // the ring continues
    /// assert_eq!(ticks.poll()?.as_slice(), [7]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn stop_handle(&self) -> StopHandle {
        self.stop.clone()
    }

    /// Runs several stages on this thread until all of them have ended. Returns their results, in
    /// the order of `consumers`.
    ///
    /// The stages take turns in this order. In each turn, a stage handles one batch of at most
    /// 16 KiB, or of 16 events if an event is larger than 1 KiB. The stage's
    /// [longest batch](crate::Stage::max_batch) also applies. The thread waits with the strategy of
    /// the first stage. The stages may belong to different rings.
    ///
    /// A panic of a handler is caught. The [panic policy](crate::Stage::on_panic) of its stage
    /// decides what happens. Without a policy, its ring halts. The other stages continue unless
    /// their ring halts.
    ///
    /// ```
    /// use std::thread;
    /// use lapwing::{Disruptor, consumer::Consumer};
    ///
    /// let (mut bids, left) =
    ///     Disruptor::single_producer(64, || 0_u64).stage("bids").read(|_, _, _| {}).build()?;
    /// let (mut asks, right) =
    ///     Disruptor::single_producer(64, || 0_u64).stage("asks").read(|_, _, _| {}).build()?;
    /// let both = thread::spawn(move || Consumer::run_together(left.into_iter().chain(right)));
    /// for price in 0..100 {
    ///     bids.publish(|event| *event = price)?;
    ///     asks.publish(|event| *event = price)?;
    /// }
    /// drop((bids, asks)); // closes both rings
    /// assert!(both.join().unwrap().iter().all(|stage| stage.processed() == 100));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Blocking
    ///
    /// Waits for events until all stages have ended. A thread that must not wait calls
    /// [`Poller::poll`] instead.
    ///
    /// A ring wakes this thread under two conditions: all stages belong to that ring, and the ring
    /// was built to share threads. That is so if one of its stages names a thread
    /// ([`Stage::on_thread`](crate::Stage::on_thread)), or if its
    /// [`Placement`](crate::graph::Placement) puts several stages on one thread. Otherwise, a
    /// parked thread polls once per millisecond.
    pub fn run_together(consumers: impl IntoIterator<Item = Self>) -> Vec<StageReport> {
        let mut finished = BTreeMap::new();
        run_together(consumers, &mut |place, end| {
            finished.insert(place, end);
        });
        finished.into_values().collect()
    }

    /// Handles events on this thread until the stage ends.
    ///
    /// A stage ends when its ring is closed and drained, when the ring halts, or when the stage
    /// stops. A panic of the handler is caught, and the stage's [panic
    /// policy](crate::Stage::on_panic) decides what happens. If the panic ends the stage, the
    /// [outcome](StageReport::outcome) has its message.
    ///
    /// ```
    /// use lapwing::{Disruptor, consumer::Outcome};
    ///
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("check").read(|event, _, _| assert_eq!(*event, 7))
    ///     .build()?;
    /// producer.publish(|event| *event = 7)?;
    /// drop(producer); // closes the ring, which keeps the event
    /// for consumer in consumers {
    ///     assert_eq!(*consumer.run().outcome(), Outcome::Drained);
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Blocking
    ///
    /// Waits for events with the stage's strategy, until the stage ends. An inactive worker of a
    /// group parks, whatever the strategy. A thread that must not wait calls [`Poller::poll`]
    /// instead.
    pub fn run(self) -> StageReport {
        match self.begin() {
            Ok(mut task) => {
                task.start();
                task.work();
                task.finish()
            }
            Err(finished) => finished,
        }
    }
}

impl fmt::Debug for Consumer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Consumer").field("name", &self.name).finish_non_exhaustive()
    }
}
