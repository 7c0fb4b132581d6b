//! Seats: the places of consumers that join a ring while it runs. Not here: where a consumer may
//! start (`joining`).
//!
//! ```text
//! P1 ──> [ring] ──> enrich (writes) ─┬─> book (reads)
//!                                    ├─> seat 1        P1, one lap ahead, waits for book and the
//!                                    └─> seat 2        seats
//! ```

use std::any::Any;
use std::fmt;

use super::batch_length;
use super::stage::{Settings, Stage};
use crate::Sequence;
use crate::consumer::{
    Consumer, EventHandler, IntoAction, PerBatch, PerEvent, Poller, Post, Processor, Recovery,
    Shared, StageReader, WholeLife, Work,
};
use crate::error::SeatError;
use crate::placement::is_thread_name;
use crate::protocol::ring::Ring;
use crate::protocol::seats::{Guest, Place, StartAt};
use crate::sync::Arc;
use crate::wait::AnyWaitStrategy;

/// The places where consumers join a ring while it runs. A clone has the same seats.
///
/// A consumer in a seat reads events after the last stage that writes, or directly after their
/// publication if no stage writes. It reads beside the other stages.
///
/// Producers wait for it as for any other consumer, from the moment that its seat is
/// [taken](Self::take). It misses no event after its first, and no event is overwritten before it
/// has read it. When the consumer leaves, another one may take the seat. If the last consumer, in
/// the graph or in a seat, leaves before it has drained the ring, the ring halts.
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
/// let mut watch = seats.take("watch", StartAt::Now)?.poller();
/// let audit = seats.take("audit", StartAt::Now)?;
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
    /// The seats of `ring`.
    pub(super) fn new(ring: Ring<E>, wait: Box<dyn AnyWaitStrategy>) -> Self {
        Self { ring, wait: Arc::new(wait) }
    }

    fn default_wait(&self) -> Box<dyn AnyWaitStrategy> {
        (*self.wait).clone()
    }

    /// Returns the number of free seats. It may have changed by the time that the call returns.
    ///
    /// ```
    /// use lapwing::{Disruptor, graph::StartAt};
    ///
    /// let (_producer, consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).seats(2).stage("sum").read(|_, _, _| {}).build()?;
    /// let seats = consumers.seats();
    /// let taken = seats.take("late", StartAt::Now)?;
    /// assert_eq!(seats.free(), 1);
    /// drop(taken);
    /// assert_eq!(seats.free(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn free(&self) -> usize {
        self.ring.control.seating.free()
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
    /// - [`timeout`](Stage::timeout), except with [`Seat::read_handler`].
    /// - [`on_error`](Stage::on_error), if the handler does not return a `Result`.
    /// - `on_error` and [`on_panic`](Stage::on_panic) with [`Seat::poller`].
    /// - [`blocking`](Stage::blocking). The caller chooses the thread that runs the consumer, so
    ///   `pin` and `on_thread` only set [`Consumer::pin`] and [`Consumer::thread`].
    ///
    /// ```
    /// use lapwing::{Disruptor, Stage, error::SeatError, graph::StartAt, wait::Blocking};
    ///
    /// let (_producer, consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).seats(1).stage("sum").read(|_, _, _| {}).build()?;
    /// let seats = consumers.seats();
    /// let late = Stage::new("late").wait(Blocking::default()).max_batch(4);
    /// let seat = seats.take(late, StartAt::Now)?;
    /// assert_eq!((seat.name(), seat.sequence()), ("late", 0));
    /// let error = seats.take("later", StartAt::Now).unwrap_err();
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
    pub fn take(&self, stage: impl Into<Stage>, start: StartAt) -> Result<Seat<E>, SeatError> {
        let stage = stage.into().settings;
        let name = || stage.name.clone();
        if self.ring.control.seating.is_empty() {
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
        let taken = self.ring.description.take_name(&stage.name);
        let taken = taken.ok_or_else(|| SeatError::DuplicateName { stage: name() })?;
        let guest = Guest::join(&self.ring.control, taken, start)?;
        Ok(Seat { seats: self.clone(), stage, guest })
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

/// A seat that a program has [taken](Seats::take).
///
/// Its methods turn it into a poller, or into a consumer with a closure or a handler. They clone
/// the ring's wait strategy if the stage sets none, and panic if that clone panics. Dropping a seat
/// frees it.
///
/// ```
/// use lapwing::{Disruptor, graph::StartAt};
///
/// let (mut producer, consumers) =
///     Disruptor::single_producer(8, || 0_u64).seats(1).stage("sum").read(|_, _, _| {}).build()?;
/// let seat = consumers.seats().take("late", StartAt::Now)?;
/// producer.publish(|event| *event = 7)?; // kept for this seat
/// assert_eq!(seat.poller().poll()?.as_slice(), [7]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "producers wait for a seat as long as it is taken"]
pub struct Seat<E> {
    seats: Seats<E>,
    stage: Settings,
    guest: Guest,
}

impl<E: Send + Sync> Seat<E> {
    /// Returns the name of the consumer.
    ///
    /// ```
    /// use lapwing::{Disruptor, graph::StartAt};
    ///
    /// let (_producer, consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).seats(1).stage("sum").read(|_, _, _| {}).build()?;
    /// assert_eq!(consumers.seats().take("late", StartAt::Now)?.name(), "late");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn name(&self) -> &str {
        &self.stage.name
    }

    /// Returns the sequence at which the consumer starts.
    ///
    /// ```
    /// use lapwing::{Disruptor, graph::StartAt};
    ///
    /// let (mut producer, consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).seats(1).stage("sum").read(|_, _, _| {}).build()?;
    /// producer.publish_batch(3, |_| {})?;
    /// assert_eq!(consumers.seats().take("late", StartAt::Now)?.sequence(), 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn sequence(&self) -> Sequence {
        self.guest.start()
    }

    /// Turns the seat into a [`Poller`]. Dropping the poller frees the seat.
    ///
    /// ```
    /// use lapwing::{Disruptor, graph::StartAt};
    ///
    /// let (mut producer, consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).seats(1).stage("sum").read(|_, _, _| {}).build()?;
    /// let mut late = consumers.seats().take("late", StartAt::Now)?.poller();
    /// producer.publish(|event| *event = 7)?;
    /// assert_eq!(late.poll()?.as_slice(), [7]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use = "a poller that is dropped leaves the ring"]
    pub fn poller(self) -> Poller<E> {
        let capacity = self.seats.ring.control.capacity;
        Poller::new(self.into_reader(capacity).0)
    }

    /// Makes a consumer that gives each event to a closure, as [`Stage::read`] does:
    /// `on_event(event, sequence, end_of_batch)`.
    ///
    /// The caller [runs](Consumer::run) it on a thread of its choice. A consumer that is dropped
    /// without having run frees the seat.
    ///
    /// ```
    /// use lapwing::{Disruptor, graph::StartAt};
    ///
    /// let (mut producer, mut consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).seats(1).stage("all").poller().build()?;
    /// let _all = consumers.take_poller("all")?;
    /// let mut sum = 0;
    /// let late = consumers.seats().take("late", StartAt::Now)?.read(|event, _, _| sum += event);
    /// producer.publish(|event| *event = 7)?;
    /// drop(producer); // closes the ring
    /// assert_eq!(late.run().processed(), 1);
    /// assert_eq!(sum, 7);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read<'env, R: IntoAction + 'env>(
        self,
        on_event: impl FnMut(&E, Sequence, bool) -> R + Send + 'env,
    ) -> Consumer<'env>
    where
        E: 'env,
    {
        self.consumer(PerEvent::new(on_event), |_| None)
    }

    /// Makes a consumer that gives each batch to a closure, as [`Stage::read_batch`] does:
    /// `on_batch(events, first_sequence)`.
    ///
    /// The caller [runs](Consumer::run) it on a thread of its choice. A consumer that is dropped
    /// without having run frees the seat.
    ///
    /// ```
    /// use lapwing::{Disruptor, graph::StartAt};
    ///
    /// let (mut producer, mut consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).seats(1).stage("all").poller().build()?;
    /// let _all = consumers.take_poller("all")?;
    /// let seat = consumers.seats().take("late", StartAt::Now)?;
    /// let mut sum = 0;
    /// let late = seat.read_batch(|events, _| sum += events.iter().sum::<u64>());
    /// producer.publish(|event| *event = 7)?;
    /// drop(producer); // closes the ring
    /// assert_eq!(late.run().processed(), 1);
    /// assert_eq!(sum, 7);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_batch<'env, R: IntoAction + 'env>(
        self,
        on_batch: impl FnMut(&[E], Sequence) -> R + Send + 'env,
    ) -> Consumer<'env>
    where
        E: 'env,
    {
        self.consumer(PerBatch::new(on_batch), |_| None)
    }

    /// Makes a consumer with a handler, which can be [taken
    /// back](crate::consumer::Finished::take_handler) at the end.
    ///
    /// The caller [runs](Consumer::run) it on a thread of its choice. A consumer that is dropped
    /// without having run frees the seat.
    ///
    /// ```
    /// use lapwing::{Disruptor, EventHandler, Sequence, graph::StartAt};
    ///
    /// struct Sum(u64);
    ///
    /// impl EventHandler<u64> for Sum {
    ///     fn on_event(&mut self, event: &u64, _: Sequence, _: bool) {
    ///         self.0 += event;
    ///     }
    /// }
    ///
    /// let (mut producer, mut consumers) =
    ///     Disruptor::single_producer(8, || 0).seats(1).stage("all").poller().build()?;
    /// let _all = consumers.take_poller("all")?;
    /// let late = consumers.seats().take("late", StartAt::Now)?.read_handler(Sum(0));
    /// producer.publish(|event| *event = 7)?;
    /// drop(producer); // closes the ring
    /// let Sum(total) = late.run().take_handler()?;
    /// assert_eq!(total, 7);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_handler<'env, H, R>(self, handler: H) -> Consumer<'env>
    where
        E: 'env,
        H: EventHandler<E, Shared, R> + Send + 'static,
        R: IntoAction + 'env,
    {
        self.consumer(WholeLife::new(handler), |work| Some(Box::new(work.0)))
    }

    fn consumer<'env, H>(
        self,
        work: H,
        hand_back: impl FnOnce(H) -> Option<Box<dyn Any + Send>> + Send + 'env,
    ) -> Consumer<'env>
    where
        E: 'env,
        H: Work<E, Shared> + Send + 'env,
    {
        self.guest.has_handler();
        let longest = batch_length::shared(self.seats.ring.control.capacity);
        let (reader, stage) = self.into_reader(longest);
        let Settings { name, pin, thread, timeout, on_error, on_panic, .. } = stage;
        let post = Post::new(reader, timeout, Recovery::new(on_error, on_panic));
        let processor = Processor::<E, Shared, _, _, _>::new(post, || work, hand_back);
        Consumer::new(name, (pin, thread), processor)
    }

    /// The reading end. Its batches have at most `longest` events if the stage sets no length.
    fn into_reader(self, longest: u64) -> (StageReader<E>, Settings) {
        let Self { seats, mut stage, guest } = self;
        let wait = stage.wait.take().unwrap_or_else(|| seats.default_wait());
        let max_batch = stage.max_batch.map_or(longest, |events| events as u64);
        (StageReader::new(seats.ring, Place::Seat(guest), wait, max_batch), stage)
    }
}

impl<E> fmt::Debug for Seat<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Seat").field("stage", &self.stage).field("guest", &self.guest).finish()
    }
}
