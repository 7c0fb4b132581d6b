//! Why a producer got no slots. Not here: errors of the calls that take a
//! `WhenFull`, for one event (`when_full`).

use std::error::Error;
use std::fmt;

use lapwing_core::error::ClaimError;

use super::{HaltCause, RingError};

/// The message of each `WouldDeadlock`.
const WOULD_DEADLOCK: &str = "the ring is full, and only this thread can free a slot, because it \
                              handles an event or holds a claim; use try_publish, a larger ring or \
                              another ring";

/// Error of [`publish`](crate::Producer::publish) and [`claim`](crate::Producer::claim). The event
/// was not published.
///
/// ```
/// use lapwing::{Disruptor, error::{HaltCause, PublishError}};
///
/// let (mut producer, consumers) =
///     Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
/// producer.publish(|event| *event = 1)?;
/// producer.close();
/// assert_eq!(producer.publish(|event| *event = 2), Err(PublishError::Closed));
/// drop(consumers); // no consumer is left to read the 1
/// let halted = PublishError::Halted(HaltCause::NoConsumers);
/// assert_eq!(producer.publish(|event| *event = 2), Err(halted));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum PublishError {
    /// The ring was closed before the event was published.
    Closed,
    /// The ring was halted before the event was published, for this cause.
    Halted(HaltCause),
    /// The ring is full, and only this thread could free a slot. Nothing is claimed, and the ring
    /// continues.
    ///
    /// There are two cases:
    ///
    /// - The call comes from user code of a stage, such as a handler, a failure policy or the key
    ///   function of a worker group. The ring waits for that stage or for another one on the same
    ///   thread.
    /// - This thread holds a [`Claim`](crate::producer::Claim) or a
    ///   [`ClaimBatch`](crate::producer::ClaimBatch) of a ring with several producers, and the ring
    ///   waits for it. A closure given to [`publish`](crate::Producer::publish) holds a claim too,
    ///   and so does the `Drop` of an event that the closure overwrites.
    ///
    /// To avoid the error, call [`try_publish`](crate::Producer::try_publish), which does not wait.
    /// Or publish to another ring, or to a ring that has slots for everything that the thread
    /// publishes.
    ///
    /// ```
    /// use std::sync::mpsc;
    /// use lapwing::{Disruptor, SingleProducer, error::PublishError};
    ///
    /// let (hand_over, producers) = mpsc::channel::<SingleProducer<u64>>();
    /// let (mut producer, consumers) = Disruptor::single_producer(2, || 0)
    ///     .stage("echo").read(move |event, _, _| {
    ///         let Ok(mut producer) = producers.try_recv() else { return };
    ///         let echo = *event + 1;
    ///         // Of the two slots, one is free, and the other holds the event that is handled.
    ///         assert_eq!(producer.publish(|event| *event = echo), Ok(1));
    ///         let full = producer.publish(|event| *event = echo);
    ///         assert_eq!(full, Err(PublishError::WouldDeadlock));
    ///     })
    ///     .build()?;
    /// producer.publish(|event| *event = 7)?;
    /// hand_over.send(producer)?;
    /// let report = consumers.start()?.join()?; // the handler has dropped the producer
    /// assert_eq!(report.stages().next().unwrap().processed(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    WouldDeadlock,
}

impl fmt::Display for PublishError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Closed => RingError::Closed.text(),
            Self::Halted(cause) => cause.text(),
            Self::WouldDeadlock => WOULD_DEADLOCK,
        })
    }
}

impl Error for PublishError {}

impl From<RingError> for PublishError {
    fn from(stopped: RingError) -> Self {
        match stopped {
            RingError::Closed => Self::Closed,
            RingError::Halted(cause) => Self::Halted(cause),
        }
    }
}

/// Error of [`try_publish`](crate::Producer::try_publish) and
/// [`try_claim`](crate::Producer::try_claim). The event was not published.
///
/// ```
/// use lapwing::{Disruptor, error::TryPublishError};
///
/// let (mut producer, _consumers) =
///     Disruptor::single_producer(2, || 0_u64).stage("all").poller().build()?;
///
/// let mut lost = 0;
/// for price in [7, 8, 9] {
///     match producer.try_publish(|event| *event = price) {
///         Ok(_) => {}
///         Err(TryPublishError::Full) => lost += 1, // the ring has two slots
///         Err(stopped) => return Err(stopped.into()), // closed or halted
///     }
/// }
/// assert_eq!(lost, 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TryPublishError {
    /// No slot is known to be free: the slowest consumer is a lap behind, or a consumer is just
    /// taking a dynamic stage, or a worker is just claiming events. In the last two cases slots may
    /// be free that a later call finds; see [`docs::preemption`](crate::docs::preemption).
    Full,
    /// The ring was closed before the event was published.
    Closed,
    /// The ring was halted before the event was published, for this cause.
    Halted(HaltCause),
}

impl TryPublishError {
    /// Why the core granted no claim.
    pub(crate) fn of(error: ClaimError) -> Self {
        match error {
            ClaimError::Full => Self::Full,
            ClaimError::Closed => Self::Closed,
            ClaimError::Halted(cause) => Self::Halted(HaltCause::of(cause)),
        }
    }

    /// Why the ring has ended; `None` if it is only full.
    pub(crate) fn end_of_ring(self) -> Option<RingError> {
        match self {
            Self::Full => None,
            Self::Closed => Some(RingError::Closed),
            Self::Halted(cause) => Some(RingError::Halted(cause)),
        }
    }
}

impl fmt::Display for TryPublishError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full => "the ring is full",
            Self::Closed => RingError::Closed.text(),
            Self::Halted(cause) => cause.text(),
        })
    }
}

impl Error for TryPublishError {}

impl From<RingError> for TryPublishError {
    fn from(stopped: RingError) -> Self {
        match stopped {
            RingError::Closed => Self::Closed,
            RingError::Halted(cause) => Self::Halted(cause),
        }
    }
}

/// Error of the batch calls of a producer, and of the copies into a batch. None of the events was
/// published.
///
/// The calls are [`publish_batch`](crate::Producer::publish_batch),
/// [`claim_batch`](crate::Producer::claim_batch), [`claim_up_to`](crate::Producer::claim_up_to),
/// and those of the same names with `try_` or `_or`. With their errors, nothing is claimed.
///
/// [`Slots::copy_from_slice`](crate::producer::Slots::copy_from_slice) and
/// [`Slots::clone_from_slice`](crate::producer::Slots::clone_from_slice) return only
/// [`Length`](Self::Length), and the claim is still held.
///
/// ```
/// use lapwing::{Disruptor, error::BatchError};
///
/// let (mut producer, _consumers) =
///     Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
///
/// assert_eq!(producer.claim_batch(0).err(), Some(BatchError::Zero));
/// let error = producer.claim_batch(9).unwrap_err();
/// assert_eq!(error, BatchError::TooLarge { requested: 9, capacity: 8 });
/// assert_eq!(error.to_string(), "a batch must fit the ring: requested=9, capacity=8");
/// producer.claim_batch(8)?.publish()?;
/// assert_eq!(producer.try_claim_batch(1).err(), Some(BatchError::Full));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum BatchError {
    /// A batch of no events was asked for.
    Zero,
    /// More events were asked for than the ring has slots. The call can never succeed.
    TooLarge {
        /// Events that were asked for.
        requested: usize,
        /// Slots of the ring, the largest batch.
        capacity: usize,
    },
    /// A slice does not have one event for each slot of the batch. Only from the copies: no slot
    /// was written, and the claim can be filled in another way.
    ///
    /// ```
    /// use lapwing::{Disruptor, error::BatchError};
    ///
    /// let (mut producer, _consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
    ///
    /// let mut batch = producer.claim_batch(3)?;
    /// let error = batch.slots().copy_from_slice(&[7, 8]).unwrap_err();
    /// assert_eq!(error, BatchError::Length { events: 2, slots: 3 });
    /// let text = "a slice must have one event for each slot: events=2, slots=3";
    /// assert_eq!(error.to_string(), text);
    /// batch.slots().copy_from_slice(&[7, 8, 9])?;
    /// assert_eq!(batch.publish()?, 0..3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    Length {
        /// Number of events in the slice.
        events: usize,
        /// Number of slots in the batch.
        slots: usize,
    },
    /// Too few slots are free. Only from the `try_` calls, and with
    /// [`WhenFull::Refuse`](crate::producer::WhenFull::Refuse).
    Full,
    /// Too few slots became free in time. Only with
    /// [`WhenFull::Timeout`](crate::producer::WhenFull::Timeout).
    TimedOut,
    /// The ring was closed before the events were published.
    Closed,
    /// The ring was halted before the events were published, for this cause.
    Halted(HaltCause),
    /// Too few slots are free, and only this thread could free enough. Only from calls that wait.
    /// [`PublishError::WouldDeadlock`] describes the cases.
    WouldDeadlock,
}

impl fmt::Display for BatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Zero => f.write_str("a batch must have at least one event"),
            Self::TooLarge { requested, capacity } => {
                write!(f, "a batch must fit the ring: requested={requested}, capacity={capacity}")
            }
            Self::Length { events, slots } => write!(
                f,
                "a slice must have one event for each slot: events={events}, slots={slots}"
            ),
            Self::Full => f.write_str("the ring has too few free slots"),
            Self::TimedOut => f.write_str("the ring had too few free slots until the timeout"),
            Self::WouldDeadlock => f.write_str(WOULD_DEADLOCK),
            Self::Closed => f.write_str(RingError::Closed.text()),
            Self::Halted(cause) => f.write_str(cause.text()),
        }
    }
}

impl Error for BatchError {}

impl From<RingError> for BatchError {
    fn from(stopped: RingError) -> Self {
        match stopped {
            RingError::Closed => Self::Closed,
            RingError::Halted(cause) => Self::Halted(cause),
        }
    }
}

impl From<TryPublishError> for BatchError {
    fn from(error: TryPublishError) -> Self {
        match error {
            TryPublishError::Full => Self::Full,
            TryPublishError::Closed => Self::Closed,
            TryPublishError::Halted(cause) => Self::Halted(cause),
        }
    }
}

impl From<PublishError> for BatchError {
    fn from(error: PublishError) -> Self {
        match error {
            PublishError::Closed => Self::Closed,
            PublishError::Halted(cause) => Self::Halted(cause),
            PublishError::WouldDeadlock => Self::WouldDeadlock,
        }
    }
}
