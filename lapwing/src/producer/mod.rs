//! The publishing end. Not here: who may claim what (`protocol::claims`).
//!
//! Everything that publishes goes through a claim, so that a panic in the caller's code meets the
//! claim's drop: nothing half-written is ever seen, and nobody waits for it.

mod batch;
mod claim;
mod claiming;
mod offer;
mod publish;
mod sequencer;
mod slots;
#[cfg(all(test, not(loom)))]
mod tests;
mod up_to;
mod wait;

use std::fmt;

pub use batch::ClaimBatch;
pub use claim::Claim;
pub use offer::WhenFull;
pub use sequencer::{Multi, Sequencer, Single};
pub use slots::{Slots, SlotsIter};

use crate::protocol::ring::Ring;
use crate::turns::Ticket;
use crate::wait::AnyWaitStrategy;

/// The one producer of a ring: `&mut self` and no `Clone` say what Java has to check as it runs.
///
/// ```compile_fail,E0599
/// let ring = lapwing::Disruptor::single_producer(8, || 0).stage("a").read(|_, _, _| {});
/// let (producer, _consumers) = ring.build().unwrap();
/// let second = producer.clone();
/// ```
///
/// ```
/// let ring = lapwing::Disruptor::multi_producer(8, || 0).stage("a").read(|_, _, _| {});
/// let (mut producer, _consumers) = ring.build().unwrap();
/// let mut second = producer.clone();
/// assert_eq!((producer.publish(|_| {}), second.publish(|_| {})), (Ok(0), Ok(1)));
/// ```
pub type SingleProducer<E> = Producer<E, Single>;

/// One of any number of producers of a ring; clone it for each thread.
///
/// It is `Sync`, so threads can clone one that they share, such as that of a `static`. A clone that
/// lives keeps the ring open; to end it while threads hold clones, [close](Producer::close) it.
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

/// The publishing end of a ring, for one producer ([`SingleProducer`]) or one of many
/// ([`MultiProducer`]).
///
/// An event is written in place, into a slot that holds the event of a lap ago, and seen by nobody
/// before it is published. When the last producer is dropped, the ring is closed: consumers drain
/// it and end.
///
/// A call that returns an error has published nothing and holds no slot: no consumer has handled its
/// event, and none ever will. Its closure has not run, unless the ring was closed or halted while it
/// ran. To keep a value that does not fit, claim first and move the value into the claim.
/// [`docs::errors`](crate::docs::errors) lists every result of every call.
///
/// ```
/// use lapwing::Disruptor;
///
/// let (mut producer, consumers) = Disruptor::single_producer(8, String::new)
///     .stage("print").read(|line, sequence, _| assert_eq!(line, &format!("line {sequence}")))
///     .build()?;
/// let running = consumers.start()?;
///
/// producer.publish(|line| line.replace_range(.., "line 0"))?; // a closure on the slot in place
///
/// let mut claim = producer.claim()?; // in two steps
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
/// What is lent to a closure cannot be kept:
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
// Aligned as a `Reader` is, and for the same reason.
#[repr(align(64))]
pub struct Producer<E, S: Sequencer> {
    pub(crate) ring: Ring<E>,
    claims: S::Claims,
    strategy: Box<dyn AnyWaitStrategy>,
    /// Whether it is content to sleep until a good part of the ring is free: that was worth it last time.
    is_patient: bool,
    /// Its last place in the queue of producers that take turns.
    ticket: Ticket,
    /// Number of events that this producer has dropped because the ring was full.
    dropped: u64,
}

impl<E, S: Sequencer> Producer<E, S> {
    pub(crate) fn new(ring: Ring<E>, strategy: Box<dyn AnyWaitStrategy>) -> Self {
        ring.control.life.add_producer();
        ring.control.turns.add_producer();
        let claims = S::claims(&ring);
        Self { ring, claims, strategy, is_patient: true, ticket: Ticket::default(), dropped: 0 }
    }

    /// Number of slots of the ring.
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
        self.ring.control.capacity as usize
    }

    /// Closes the ring for all producers: no further event is accepted, consumers drain it and end.
    /// Returns at once: it waits neither for consumers nor for claims that are held.
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
        self.ring.control.close();
    }

    /// Whether the ring takes further events, as far as is known here.
    pub(crate) fn is_open(&self) -> bool {
        self.ring.control.life.is_open()
    }

    /// The ring, for models.
    #[cfg(all(test, loom))]
    pub(crate) fn shared(&self) -> Ring<E> {
        self.ring.clone()
    }
}

impl<E> Clone for MultiProducer<E> {
    fn clone(&self) -> Self {
        Self::new(self.ring.clone(), self.strategy.clone())
    }
}

impl<E, S: Sequencer> Drop for Producer<E, S> {
    fn drop(&mut self) {
        self.ring.control.turns.remove_producer();
        if self.ring.control.life.remove_producer() {
            self.ring.control.close();
        }
    }
}

impl<E, S: Sequencer> fmt::Debug for Producer<E, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Producer")
            .field("capacity", &self.capacity())
            .field("claims", &self.claims)
            .field("dropped", &self.dropped)
            .finish_non_exhaustive()
    }
}
