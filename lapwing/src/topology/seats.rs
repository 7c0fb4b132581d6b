//! Seats: the places of consumers that join a ring while it runs. Not here: where a consumer may
//! start (`joining`), what a consumer does (`seat`).
//!
//! ```text
//! P1 ──> [ring] ──> enrich (writes) ─┬─> book (reads)
//!                                    ├─> seat 1        P1, one lap ahead, waits for book and the
//!                                    └─> seat 2        seats
//! ```

use std::fmt;

use super::guest::{Guest, StartAt};
use super::seat::Seat;
use super::stage::Stage;
use crate::error::SeatError;
use crate::lifecycle::Consumers;
use crate::placement::is_thread_name;
use crate::ring::Ring;
use crate::sync::Arc;
use crate::wait::AnyWaitStrategy;

/// The places where consumers join a ring while it runs. A clone has the same seats.
///
/// A consumer in a seat reads events after the last stage that writes, or directly after their
/// publication if no stage writes. It reads beside the other stages.
///
/// Producers wait for it as for any other consumer, from the moment that it
/// [joins](Self::join). It misses no event after its first, and no event is overwritten before it
/// has read it. When the consumer leaves, another one may take the seat. If the last consumer, in
/// the graph or in a seat, leaves before it has drained the ring, the ring halts. A consumer in a
/// seat has drained a closed ring once it has read the events from its first one on. If there are
/// none, it has drained the ring at once.
///
/// If the graph has a stage that [clears](crate::Builder::clear) events, a consumer in a seat sees
/// cleared events.
///
/// [`Running`](crate::Running) does not manage consumers in seats, and a shutdown does not wait for
/// them. Once the ring is closed, each of them drains it and ends by itself.
///
/// ```
/// use lapwing::{Disruptor, graph::StartAt};
///
/// let (mut producer, consumers) =
///     Disruptor::single_producer(64, || 0_u64).seats(2).stage("sum").read(|_, _, _| {}).build()?;
/// let seats = consumers.seats();
/// let running = consumers.start()?;
/// producer.publish(|event| *event = 0)?;
///
/// let mut watch = seats.join("watch", StartAt::Now)?.poller();
/// let audit = seats.join("audit", StartAt::Now)?;
/// let audit = audit.read(|event, sequence, _| assert_eq!(*event, sequence));
/// let audit = std::thread::spawn(move || audit.run());
/// for value in 1..=3 {
///     producer.publish(|event| *event = value)?;
/// }
/// assert_eq!(watch.poll()?.as_slice(), [1, 2, 3]);
/// drop(watch); // leaves
/// running.shutdown()?;
/// assert_eq!(audit.join().unwrap().processed(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Consumers in seats read at the same time as other stages, so events must be `Sync`:
///
/// ```compile_fail,E0277
/// use std::cell::Cell;
/// let ring = lapwing::Disruptor::single_producer(8, || Cell::new(0)).seats(1);
/// let (_producer, consumers) = ring.stage("a").write(|event, _, _| event.set(1)).build().unwrap();
/// let seats = consumers.seats();
/// ```
///
/// The same ring compiles with a `Mutex`:
///
/// ```
/// use std::sync::Mutex;
/// let ring = lapwing::Disruptor::single_producer(8, || Mutex::new(0)).seats(1);
/// let (_producer, consumers) = ring.stage("a").write(|_, _, _| {}).build().unwrap();
/// assert_eq!(consumers.seats().free(), 1);
/// ```
pub struct Seats<E> {
    ring: Ring<E>,
    /// The strategy of a consumer that sets none.
    wait: Arc<Box<dyn AnyWaitStrategy>>,
}

impl<E> Seats<E> {
    /// Returns the number of free seats. It may have changed by the time that the call returns.
    ///
    /// ```
    /// use lapwing::{Disruptor, graph::StartAt};
    ///
    /// let (_producer, consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).seats(2).stage("sum").read(|_, _, _| {}).build()?;
    /// let seats = consumers.seats();
    /// let taken = seats.join("late", StartAt::Now)?;
    /// assert_eq!(seats.free(), 1);
    /// drop(taken);
    /// assert_eq!(seats.free(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn free(&self) -> usize {
        self.ring.control().free_seats()
    }
}

impl<E: Send + Sync> Seats<E> {
    /// Takes a free seat for the consumer `stage`, which begins at `start`. From now on, producers
    /// wait for the consumer. Turn the [`Seat`] into a poller, or into a consumer to run.
    ///
    /// No other stage or worker may have the name of `stage` while the consumer is in its seat.
    ///
    /// The call does not reject settings that have no effect:
    ///
    /// - [`timeout_after`](Stage::timeout_after), except with [`Seat::read_handler`] and
    ///   [`Seat::read_batch_handler`].
    /// - [`on_error`](Stage::on_error), if the handler does not return a `Result`.
    /// - `on_error` and [`on_panic`](Stage::on_panic) with [`Seat::poller`].
    /// - [`may_block`](Stage::may_block). The caller chooses the thread that runs the consumer, so
    ///   `pin` and `on_thread` only set [`Consumer::pin`](crate::consumer::Consumer::pin) and
    ///   [`Consumer::thread`](crate::consumer::Consumer::thread).
    ///
    /// ```
    /// use lapwing::{Disruptor, Stage, error::SeatError, graph::StartAt, wait::Blocking};
    ///
    /// let (_producer, consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).seats(1).stage("sum").read(|_, _, _| {}).build()?;
    /// let seats = consumers.seats();
    /// let late = Stage::new("late").wait_strategy(Blocking::default()).max_batch(4);
    /// let seat = seats.join(late, StartAt::Now)?;
    /// assert_eq!((seat.name(), seat.sequence()), ("late", 0));
    /// let error = seats.join("later", StartAt::Now).unwrap_err();
    /// assert_eq!(error, SeatError::NoFreeSeat { seats: 1 });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// - [`SeatError::NoSeats`] if the ring has no seats.
    /// - [`SeatError::NoFreeSeat`] if all seats are taken.
    /// - [`SeatError::OutOfRange`] if the ring is not [certain](StartAt) to hold the requested
    ///   sequence.
    /// - [`SeatError::Halted`] if the ring is halted, or its last consumer has just left. A closed
    ///   ring can be joined, to read what it holds.
    /// - [`SeatError::InvalidName`] if the name is empty or contains a NUL.
    /// - [`SeatError::DuplicateName`] if a stage, a worker or another consumer has the name.
    /// - [`SeatError::ZeroMaxBatch`] if the [longest batch](Stage::max_batch) is 0.
    /// - [`SeatError::Acknowledged`] if `stage` is [acknowledged](Stage::acknowledged).
    pub fn join(&self, stage: impl Into<Stage>, start: StartAt) -> Result<Seat<E>, SeatError> {
        let stage = stage.into().settings;
        let name = || stage.name.clone();
        if self.ring.control().seats().is_empty() {
            return Err(SeatError::NoSeats);
        }
        if !is_thread_name(&stage.name) {
            return Err(SeatError::InvalidName { stage: name() });
        }
        if stage.max_batch == Some(0) {
            return Err(SeatError::ZeroMaxBatch { stage: name() });
        }
        if stage.is_acknowledged {
            return Err(SeatError::Acknowledged { stage: name() });
        }
        let taken = self.ring.shared.description.take_name(&stage.name);
        let taken = taken.ok_or_else(|| SeatError::DuplicateName { stage: name() })?;
        let guest = Guest::join(&self.ring.shared, taken, start)?;
        Ok(Seat::new(self.ring.clone(), Arc::clone(&self.wait), stage, guest))
    }
}

impl<E: Send> Consumers<'_, E> {
    /// Returns the [seats](crate::Builder::seats), for consumers that join while the ring runs.
    ///
    /// ```
    /// use lapwing::{Disruptor, graph::StartAt};
    ///
    /// let (mut producer, consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).seats(1).stage("sum").read(|_, _, _| {}).build()?;
    /// let mut late = consumers.seats().join("late", StartAt::Now)?.poller();
    /// producer.publish(|event| *event = 7)?;
    /// assert_eq!(late.poll()?.as_slice(), [7]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn seats(&self) -> Seats<E>
    where
        E: Sync,
    {
        Seats { ring: self.ring.clone(), wait: Arc::clone(&self.guests_wait) }
    }
}

impl<E> Clone for Seats<E> {
    fn clone(&self) -> Self {
        Self { ring: self.ring.clone(), wait: Arc::clone(&self.wait) }
    }
}

impl<E> fmt::Debug for Seats<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Seats").field("free", &self.free()).finish_non_exhaustive()
    }
}
