//! The publishing end of a ring. Not here: which sequences a claim may take (`lapwing_core`).
//!
//! Every publication goes through a claim. If the caller's code panics, the drop of the claim
//! abandons the slot. Consumers never see a half-written event, and no thread waits for it.
//!
//! # Several producers on a full ring
//!
//! A free slot goes to the first producer that finds it. A producer that shares its CPU with a
//! consumer runs only while the consumer does not, and could find the ring full for up to a second.
//! So once a producer has waited for a millisecond, the producers take turns:
//!
//! 1. A producer that finds the ring full joins a queue, first come first served, and is parked for
//!    a limited time.
//! 2. The first in the queue gets a turn, in which it waits for free slots by its strategy. The
//!    turn takes 2 ms divided by the number of producers in the queue, but at least 0.15 ms. It
//!    ends by the clock, so a stopped thread holds up no other.
//! 3. They stop taking turns once a turn is over and the queue is empty.
//!
//! Only producers whose strategy [parks](WaitStrategy::PARKS) take turns, and none whose thread
//! handles an event or holds a claim of the ring, because consumers may wait for that thread.

mod sequencer;
mod slots;

mod batch;
mod claim;
mod publish;
mod wait;

mod awaited;

mod claiming;
mod up_to;

mod when_full;

#[cfg(all(test, not(loom)))]
mod tests;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use lapwing_core::{Claims, Control};

pub use batch::ClaimBatch;
pub use claim::Claim;
pub use sequencer::{Multi, Sequencer, Single};
pub use slots::{Slots, SlotsIter};
pub use when_full::WhenFull;

pub(crate) use awaited::SlotWait;
use wait::Waits;

use crate::Sequence;
use crate::awaiting::Budget;
use crate::error::HandledError;
use crate::handled;
use crate::open_claim::OpenClaim;
use crate::ring::{Ring, Shared};
use crate::wait::{AnyWaitStrategy, WaitStrategy};

/// The only producer of a ring. It cannot be cloned.
///
/// Because it publishes by `&mut self` and is not `Clone`, the compiler rules out a second
/// producer:
///
/// ```compile_fail,E0599
/// let ring = lapwing::Disruptor::single_producer(8, || 0).stage("a").read(|_, _, _| {});
/// let (producer, _consumers) = ring.build().unwrap();
/// let second = producer.clone();
/// ```
///
/// [`Disruptor::multi_producer`](crate::Disruptor::multi_producer) makes a producer that can be
/// cloned:
///
/// ```
/// let ring = lapwing::Disruptor::multi_producer(8, || 0).stage("a").read(|_, _, _| {});
/// let (mut producer, _consumers) = ring.build().unwrap();
/// let mut second = producer.clone();
/// assert_eq!(producer.publish(|_| {}), Ok(0));
/// assert_eq!(second.publish(|_| {}), Ok(1));
/// ```
pub type SingleProducer<E> = Producer<E, Single>;

/// One of any number of producers of a ring. Clone it for each thread.
///
/// ```
/// use std::sync::OnceLock;
/// use std::thread;
/// use lapwing::{Disruptor, MultiProducer};
///
/// static TICKS: OnceLock<MultiProducer<u64>> = OnceLock::new();
///
/// let (producer, consumers) = Disruptor::multi_producer(8, || 0_u64)
///     .stage("check").read(|event, _, _| assert_eq!(*event, 7))
///     .build()?;
/// let producer = TICKS.get_or_init(|| producer);
/// let running = consumers.start()?;
/// thread::spawn(|| TICKS.get().unwrap().clone().publish(|event| *event = 7)).join().unwrap()?;
/// producer.close();
/// assert_eq!(running.join()?.stages().next().unwrap().processed(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A producer is `Sync`, so threads can clone one that they share, such as that of a `static`.
/// Dropping the last producer closes the ring. To end the ring while clones exist, call
/// [`close`](Producer::close).
///
/// ```
/// use std::thread;
/// use lapwing::{Disruptor, MultiProducer};
///
/// let (producer, mut consumers) =
///     Disruptor::multi_producer(8, || 0_u64).stage("all").poller().build()?;
/// let mut poller = consumers.take_poller("all")?;
/// thread::scope(|scope| {
///     for value in [1, 2] {
///         let mut producer: MultiProducer<u64> = producer.clone();
///         scope.spawn(move || producer.publish(|event| *event = value));
///     }
/// });
/// let mut values = poller.poll()?.as_slice().to_vec();
/// values.sort(); // the threads race
/// assert_eq!(values, [1, 2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type MultiProducer<E> = Producer<E, Multi>;

/// The publishing end of a ring buffer.
///
/// [`SingleProducer`] is the only producer of its ring. A [`MultiProducer`] can be cloned, one for
/// each thread.
///
/// A producer writes each event in place, into a slot that still holds the value last written to
/// it. Consumers see the event once it is published, and not before.
///
/// ```
/// use lapwing::Disruptor;
///
/// let (mut producer, consumers) = Disruptor::single_producer(8, String::new)
///     .stage("print").read(|line, sequence, _| assert_eq!(line, &format!("line {sequence}")))
///     .build()?;
/// let running = consumers.start()?;
///
/// producer.publish(|line| line.replace_range(.., "line 0"))?; // fills the slot in place
///
/// let mut claim = producer.claim()?; // the same in two steps
/// claim.replace_range(.., "line 1");
/// assert_eq!(claim.publish()?, 1);
///
/// producer.publish_batch(3, |slots| {
///     for (number, line) in (2..).zip(slots.iter_mut()) {
///         *line = format!("line {number}");
///     }
/// })?;
/// running.shutdown()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Which call to use
///
/// | if the ring is full | one event | one slot to fill | a batch | slots to fill | the free slots, up to a number |
/// |---|---|---|---|---|---|
/// | wait | [`publish`] | [`claim`] | [`publish_batch`] | [`claim_batch`] | [`claim_up_to`] |
/// | return an error | [`try_publish`] | [`try_claim`] | [`try_publish_batch`] | [`try_claim_batch`] | |
/// | do what [`WhenFull`] says | [`publish_or`] | [`claim_or`] | [`publish_batch_or`] | [`claim_batch_or`] | [`claim_up_to_or`] |
///
/// [`WhenFull`] can also say how long to wait.
///
/// To keep a value if no slot is free, claim first and then move the value into the claim. If the
/// claim is not published, the value stays in the slot.
///
/// # Errors
///
/// A call that returns an error has published nothing and holds no slot. No consumer has handled
/// its event, and none ever will. The closure of the call may have run if the ring was closed or
/// halted. With another error it has not. [`docs::errors`](crate::docs::errors) lists every result
/// of every call.
///
/// # End
///
/// When the last producer is dropped, the ring is closed. Consumers handle every event that was
/// published, and then end. [`close`] closes the ring for all producers at once.
///
/// # References to events
///
/// A closure cannot keep a reference to the event that it gets:
///
/// ```compile_fail,E0521
/// use lapwing::Disruptor;
///
/// let (mut producer, _consumers) =
///     Disruptor::single_producer(8, || 0_u64).stage("a").read(|_, _, _| {}).build().unwrap();
///
/// let mut kept: Vec<&mut u64> = Vec::new();
/// producer.publish(|event| kept.push(event)).unwrap();
/// ```
///
/// A closure can copy the event that it gets:
///
/// ```
/// use lapwing::Disruptor;
///
/// let (mut producer, _consumers) =
///     Disruptor::single_producer(8, || 0_u64).stage("a").read(|_, _, _| {}).build().unwrap();
///
/// let mut kept: Vec<u64> = Vec::new();
/// producer.publish(|event| kept.push(*event)).unwrap();
/// assert_eq!(kept, [0]);
/// ```
///
/// [`publish`]: Self::publish
/// [`claim`]: Self::claim
/// [`publish_batch`]: Self::publish_batch
/// [`claim_batch`]: Self::claim_batch
/// [`claim_up_to`]: Self::claim_up_to
/// [`try_publish`]: Self::try_publish
/// [`try_claim`]: Self::try_claim
/// [`try_publish_batch`]: Self::try_publish_batch
/// [`try_claim_batch`]: Self::try_claim_batch
/// [`publish_or`]: Self::publish_or
/// [`claim_or`]: Self::claim_or
/// [`publish_batch_or`]: Self::publish_batch_or
/// [`claim_batch_or`]: Self::claim_batch_or
/// [`claim_up_to_or`]: Self::claim_up_to_or
/// [`close`]: Self::close
// Aligned for the reason that `Reader` gives.
#[repr(align(64))]
pub struct Producer<E, S: Sequencer> {
    core: lapwing_core::Producer<E, S::Claims>,
    pub(crate) shared: Arc<Shared>,
    waits: Waits,
    /// Its last claim, if the ring has several producers.
    open: OpenClaim,
    /// Number of events that this producer has dropped because the ring was full.
    dropped: u64,
    /// How many events a task may publish until it lets other tasks run.
    budget: Budget,
}

impl<E, S: Sequencer> Producer<E, S> {
    pub(crate) fn new(ring: Ring<E>, strategy: Box<dyn AnyWaitStrategy>) -> Self {
        let open = OpenClaim::default();
        if S::Claims::IS_MULTI {
            ring.shared.open_claims.add(&open);
        }
        let waits = Waits::new(strategy);
        let budget = Budget::default();
        Self { core: S::producer(&ring), shared: ring.shared, waits, open, dropped: 0, budget }
    }

    /// Returns the number of slots in the ring.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (producer, _consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
    ///
    /// assert_eq!(producer.capacity(), 8);
    /// # Ok::<(), lapwing::error::BuildError>(())
    /// ```
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.control().capacity() as usize
    }

    /// Sets how this producer waits on a full ring, instead of by the ring's
    /// [`producer_wait_strategy`](crate::Builder::producer_wait_strategy).
    ///
    /// Each of several producers has its own strategy. A clone starts with the strategy of the
    /// producer that it is cloned from.
    ///
    /// To save wake-ups, a parked producer may be woken only when a quarter of the ring is free,
    /// but after 100 µs at most. [Several producers](self#several-producers-on-a-full-ring)
    /// with parking strategies take turns.
    ///
    /// The ring decides at [`build`](crate::Builder::build) whether its threads check for parked
    /// threads. If it has no dynamic stages, and no strategy given to the builder
    /// [parks](WaitStrategy::PARKS), a parking strategy that is set here wakes at short intervals
    /// instead, as [`Step::Park`](crate::wait::Step::Park) describes.
    ///
    /// ```
    /// use std::thread;
    /// use lapwing::{Disruptor, wait::{Blocking, BusySpin}};
    ///
    /// let (mut urgent, consumers) = Disruptor::multi_producer(1, || 0_u64)
    ///     .stage("check").read(|event, _, _| assert_eq!(*event, 7))
    ///     .build()?;
    /// let mut patient = urgent.clone();
    /// urgent.set_wait_strategy(BusySpin);
    /// patient.set_wait_strategy(Blocking::default());
    ///
    /// let running = consumers.start()?;
    /// thread::scope(|scope| {
    ///     for producer in [&mut urgent, &mut patient] {
    ///         scope.spawn(|| (0..5).for_each(|_| _ = producer.publish(|event| *event = 7)));
    ///     }
    /// });
    /// assert_eq!(running.shutdown()?.stages().next().unwrap().processed(), 10);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_wait_strategy(&mut self, strategy: impl WaitStrategy) {
        self.waits.set(Box::new(strategy));
    }

    /// Closes the ring for all producers.
    ///
    /// The ring grants no further slot. Consumers handle every event that was accepted, and then
    /// end. A single producer cannot publish a claim that it holds. Several producers can, and
    /// consumers wait for their claims. A closed or halted ring stays as it is.
    ///
    /// The call waits neither for consumers nor for claims. If another thread closes or halts the
    /// ring at the same moment, it waits until that thread has counted the accepted events.
    ///
    /// ```
    /// use lapwing::{Disruptor, error::PublishError};
    ///
    /// let (mut producer, mut consumers) =
    ///     Disruptor::multi_producer(8, || 0_u64).stage("all").poller().build()?;
    /// let mut poller = consumers.take_poller("all")?;
    ///
    /// let second = producer.clone();
    /// producer.publish(|event| *event = 7)?;
    /// second.close();
    /// assert_eq!(producer.publish(|event| *event = 8), Err(PublishError::Closed));
    /// assert_eq!(poller.poll()?.as_slice(), [7]); // what was accepted is still there
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn close(&self) {
        self.control().close();
    }

    /// Returns whether the ring accepts further events: it is neither closed nor halted. A close or
    /// halt by another thread may not be visible yet.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (producer, _consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
    ///
    /// assert!(producer.is_open());
    /// producer.close();
    /// assert!(!producer.is_open());
    /// # Ok::<(), lapwing::error::BuildError>(())
    /// ```
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.control().is_open()
    }

    /// Waits until every last stage has handled the event `sequence` and all earlier ones, for
    /// `timeout` at most.
    ///
    /// A last stage is one that no other stage depends on. Consumers in [dynamic
    /// stages](crate::graph::DynamicStages) count too, and an
    /// [acknowledged](crate::Stage::acknowledged) last stage has handled an event once it is
    /// acknowledged. A stage that has left the graph does not count. What the stages did with these
    /// events is visible to this thread when the call returns.
    ///
    /// A stage has handled an event when it has released it, which is at the end of a batch unless
    /// an [`Action`](crate::Action) releases it earlier. So a stage that flushes at `end_of_batch`
    /// has flushed, unless a policy has skipped the last event of the batch: the events before it
    /// are then released, although `end_of_batch` has not come.
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
    /// let _running = consumers.start()?;
    /// let mut last = 0;
    /// for line in 0..100 {
    ///     last = producer.publish(|event| *event = line)?;
    /// }
    /// producer.wait_handled(last, Duration::from_secs(60))?;
    /// assert_eq!(LINES.load(Relaxed), 100);
    /// # drop(producer);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Each error but `Closed` names the stages that are [behind](HandledError).
    ///
    /// - [`HandledError::TimedOut`] if the event is not handled when `timeout` is over. This is
    ///   also the error for an event that is not published by then.
    /// - [`HandledError::Halted`] if the ring was halted before the event was handled.
    /// - [`HandledError::Closed`] if the ring was closed before the event was published.
    /// - [`HandledError::WouldDeadlock`] if this thread runs a stage of the ring that has not
    ///   released the event, for example in a handler of the ring that is called with this event.
    ///   Also if it holds a claim of several producers that does not come after the event.
    ///
    /// # Blocking
    ///
    /// Waits for the stages, for `timeout` at most. [`Duration::MAX`] is no limit,
    /// [`Duration::ZERO`] does not wait. The wait does not spin, whatever the strategies of the
    /// ring: the thread parks until the slowest stage releases events. It sleeps for 1 ms at a time
    /// instead while a quarter of the ring or more is left. In a ring in which no thread parks, it
    /// sleeps for 50 µs at a time. A stage waits for pollers and acknowledgers upstream of it. If
    /// this thread holds such a poller, the call waits for the whole `timeout`.
    pub fn wait_handled(&self, sequence: Sequence, timeout: Duration) -> Result<(), HandledError> {
        handled::wait(&self.shared, sequence, timeout)
    }

    fn control(&self) -> &Control {
        self.core.ring().control()
    }

    fn ring(&self) -> Ring<E> {
        Ring { core: self.core.ring().clone(), shared: Arc::clone(&self.shared) }
    }

    /// The ring, for models.
    #[cfg(all(test, loom))]
    pub(crate) fn shared(&self) -> Ring<E> {
        self.ring()
    }
}

impl<E, S: Sequencer + Clone> Clone for Producer<E, S> {
    fn clone(&self) -> Self {
        Self::new(self.ring(), self.waits.strategy())
    }
}

impl<E, S: Sequencer> fmt::Debug for Producer<E, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Producer")
            .field("capacity", &self.capacity())
            .field("core", &self.core)
            .field("dropped", &self.dropped)
            .finish_non_exhaustive()
    }
}
