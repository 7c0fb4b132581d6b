//! The reading ends: a handler that a thread runs, or a poller that is asked.

mod access;
mod acknowledger;
mod action;
mod batch;
mod catch;
mod events;
mod failure;
mod finished;
mod hand_over;
mod handler;
mod keys;
mod pause;
mod poller;
mod processor;
mod recovery;
mod several;
mod source;
mod stage_loop;
mod stage_reader;
mod stop;
mod task;
mod together;
mod work;
mod worker;

use std::collections::BTreeMap;
use std::fmt;

use crate::unshared::Unshared;
use task::{Begin, Task};

pub use access::{Access, Exclusive, Shared};
pub use acknowledger::Acknowledger;
pub use action::{Action, IntoAction};
pub use batch::{Batch, Iter, IterMut};
pub use events::Events;
pub(crate) use failure::KeptPolicy;
pub use failure::{Cause, Failure, FailurePolicy, Retries};
pub use finished::{Finished, Outcome};
pub use hand_over::HandOver;
pub use handler::EventHandler;
pub use poller::Poller;
pub use stop::StopHandle;

pub use crate::protocol::group::MovedKeys;

pub(crate) use hand_over::{Keyed, Mailboxes};
pub(crate) use keys::SharedKeys;
pub(crate) use processor::Processor;
pub(crate) use recovery::Recovery;
pub(crate) use source::Source;
pub(crate) use stage_reader::StageReader;
pub(crate) use task::Post;
pub(crate) use together::run_together;
pub(crate) use work::{PerBatch, PerEvent, WholeLife, Work};
pub(crate) use worker::Worker;

/// A stage of a graph with its handler, not started.
///
/// A value like any other: move it to a thread of your own, scoped or not, and [`run`](Self::run)
/// it there. Dropped without having run, it halts its ring, since its events would never be done;
/// one that has a [`Seat`](crate::graph::Seat) only leaves.
///
/// ```
/// use std::thread;
/// use lapwing::{Disruptor, consumer::Outcome};
///
/// let mut sum = 0;
/// let (producer, consumers) = Disruptor::single_producer(8, || 0_u64)
///     .stage("sum").read(|event, _, _| sum += event)
///     .build()?;
/// thread::scope(|scope| {
///     // Into the scope, so that it is dropped, and the ring closed, however the scope is left.
///     let mut producer = producer;
///     let mut threads = Vec::new();
///     for consumer in consumers {
///         assert_eq!(consumer.name(), "sum");
///         threads.push(scope.spawn(move || consumer.run()));
///     }
///     for value in 1..=10 {
///         producer.publish(|event| *event = value)?;
///     }
///     drop(producer); // the consumer ends when it has drained
///     for thread in threads {
///         assert_eq!(*thread.join().unwrap().outcome(), Outcome::Drained);
///     }
///     Ok::<(), lapwing::error::PublishError>(())
/// })?;
/// assert_eq!(sum, 55);
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
    /// The consumer of `stage` that is to run `body`.
    pub(crate) fn new(
        name: String,
        (pin, thread): (Option<usize>, Option<String>),
        body: impl Begin<'env> + 'env,
    ) -> Self {
        let stop = body.stop_handle();
        Self { name, pin, thread, stop, body: Unshared::new(Box::new(body)) }
    }

    /// Makes the handler, on the thread that is to run it.
    ///
    /// # Errors
    ///
    /// The end of the stage, if that panicked.
    fn begin(self) -> Result<Box<dyn Task + 'env>, Finished> {
        self.body.into_inner().begin(self.name)
    }

    /// Name of the stage.
    ///
    /// ```
    /// # let (_producer, consumers) =
    /// #     lapwing::Disruptor::single_producer(8, || 0_u64).stage("sum").read(|_, _, _| {}).build()?;
    /// let consumer = consumers.into_iter().next().unwrap();
    /// assert_eq!(consumer.name(), "sum");
    /// # Ok::<(), lapwing::error::BuildError>(())
    /// ```
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The CPU that the stage's thread is to be pinned to, by [`Stage::pin`](crate::Stage::pin) or
    /// [`Placement::pin`](crate::graph::Placement::pin). [`run`](Self::run) leaves it to you.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// # let (_producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("sum").pin(1).read(|_, _, _| {})
    /// #     .build()?;
    /// # let consumer = consumers.into_iter().next().unwrap();
    /// assert_eq!(consumer.pin(), Some(1));
    /// # Ok::<(), lapwing::error::BuildError>(())
    /// ```
    #[must_use]
    pub fn pin(&self) -> Option<usize> {
        self.pin
    }

    /// Name of the thread that the stage is to run on, by [`Stage::on_thread`](crate::Stage::on_thread) or
    /// by the ring's [`Placement`](crate::graph::Placement); `None` for one of its own, with its own name.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// # let (_producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("sum").on_thread("cold").read(|_, _, _| {})
    /// #     .build()?;
    /// # let consumer = consumers.into_iter().next().unwrap();
    /// assert_eq!(consumer.thread(), Some("cold"));
    /// # Ok::<(), lapwing::error::BuildError>(())
    /// ```
    #[must_use]
    pub fn thread(&self) -> Option<&str> {
        self.thread.as_deref()
    }

    /// Stops this stage from elsewhere, without stopping the ring.
    ///
    /// ```
    /// # use lapwing::{Disruptor, consumer::Outcome};
    /// # let (_producer, consumers) =
    /// #     Disruptor::single_producer(8, || 0_u64).stage("sum").read(|_, _, _| {}).build()?;
    /// let consumer = consumers.into_iter().next().unwrap();
    /// let stop = consumer.stop_handle();
    /// let thread = std::thread::spawn(move || consumer.run());
    /// stop.stop();
    /// assert_eq!(*thread.join().unwrap().outcome(), Outcome::Stopped);
    /// # Ok::<(), lapwing::error::BuildError>(())
    /// ```
    #[must_use]
    pub fn stop_handle(&self) -> StopHandle {
        self.stop.clone()
    }

    /// Runs several stages on this thread until all of them have ended. They take turns in this order, a batch
    /// of at most 16 KiB of events each, and wait by the strategy of the first one. They may be of several rings. Returns how they
    /// ended, in the order in which they were given.
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
    /// drop((bids, asks));
    /// assert!(both.join().unwrap().iter().all(|stage| stage.processed() == 100));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Blocking
    ///
    /// Returns only at the end. A ring in which no stage [names its thread](crate::Stage::on_thread), and none
    /// shares one by its [`Placement`](crate::graph::Placement), cannot wake this thread: then it looks at least
    /// once a millisecond.
    pub fn run_together(consumers: impl IntoIterator<Item = Self>) -> Vec<Finished> {
        let mut finished = BTreeMap::new();
        run_together(consumers, &mut |place, end| {
            finished.insert(place, end);
        });
        finished.into_values().collect()
    }

    /// Handles events on this thread until the ring is closed and drained, or halted, or the stage
    /// stops. A panic of the handler is caught; what it leads to is the stage's
    /// [policy](crate::Stage::on_panic), and where it ends the stage it stands in the result.
    ///
    /// ```
    /// use lapwing::{Disruptor, consumer::Outcome};
    ///
    /// let (mut producer, consumers) = Disruptor::single_producer(8, || 0_u64)
    ///     .stage("check").read(|event, _, _| assert_eq!(*event, 7))
    ///     .build()?;
    /// producer.publish(|event| *event = 7)?; // the ring keeps it
    /// drop(producer); // and is closed
    /// for consumer in consumers {
    ///     assert_eq!(*consumer.run().outcome(), Outcome::Drained); // on this very thread
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Blocking
    ///
    /// Returns only at the end, and waits by the stage's strategy in between.
    pub fn run(self) -> Finished {
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
