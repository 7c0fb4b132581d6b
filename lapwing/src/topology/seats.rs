//! Seats: the places of consumers that join a ring as it runs, and what sits in one. Not here:
//! where a consumer may start (`joining`).
//!
//! ```text
//! P1 --> [ring] <-- enrich (writes) <--+-- book (reads)
//!                                      +-- seat 1             arrow: "waits for"; P1, a lap
//!                                      +-- seat 2             ahead, waits for book and the seats
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

/// Where consumers join a ring as it runs. A clone has the same seats.
///
/// A consumer in a seat reads beside the other stages, after the last stage that writes, or
/// directly after the publication if none does. It holds producers back like any other, from the
/// moment that it has [taken](Self::take) its seat: it misses nothing from its first event on, and
/// nothing is overwritten before it has read it. When it leaves, others may have its seat. The ring
/// goes on as long as there is one consumer, in the graph or in a seat.
///
/// Where the graph ends with a stage that [clears](crate::Builder::clear) events, those in
/// seats see what it leaves: cleared events.
///
/// It is not one of the stages that [`Running`](crate::Running) looks after: once the ring is
/// closed, it drains it and ends on its own.
///
/// ```
/// use std::thread;
/// use lapwing::{Disruptor, consumer::Outcome, graph::StartAt};
///
/// let (mut producer, consumers) =
///     Disruptor::single_producer(64, || 0_u64).seats(2).stage("sum").read(|_, _, _| {}).build()?;
/// let seats = consumers.seats();
/// let running = consumers.start()?;
/// producer.publish(|event| *event = 0)?;
///
/// let mut watch = seats.take("watch", StartAt::Now)?.poller(); // looks when it likes
/// let audit = seats.take("audit", StartAt::Now)?.read(|event, sequence, _| {
///     assert_eq!(*event, sequence);
/// });
/// let audit = thread::spawn(move || audit.run());
/// for value in 1..=3 {
///     producer.publish(|event| *event = value)?;
/// }
/// assert_eq!(watch.poll()?.as_slice(), [1, 2, 3]);
/// drop(watch); // leaves
///
/// running.shutdown()?;
/// let audit = audit.join().unwrap();
/// assert_eq!((audit.outcome(), audit.processed()), (&Outcome::Drained, 3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Those in seats read at the same time as others:
///
/// ```compile_fail,E0277
/// use std::cell::Cell;
/// let ring = lapwing::Disruptor::single_producer(8, || Cell::new(0)).seats(1);
/// let (_producer, consumers) = ring.stage("a").write(|event, _, _| event.set(1)).build().unwrap();
/// let seats = consumers.seats();
/// ```
///
/// ```
/// use std::sync::Mutex;
/// let ring = lapwing::Disruptor::single_producer(8, || Mutex::new(0)).seats(1);
/// let (_producer, consumers) = ring.stage("a").write(|_, _, _| {}).build().unwrap();
/// let seats = consumers.seats();
/// assert_eq!(seats.free(), 1);
/// ```
pub struct Seats<E> {
    ring: Ring<E>,
    /// How a consumer waits that does not say so itself.
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

    /// Number of seats that are free just now.
    ///
    /// ```
    /// # use lapwing::{Disruptor, graph::StartAt};
    /// # let (_producer, consumers) =
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
    /// Takes a free seat. From now on, producers wait for whoever sits there; what it does is said
    /// to the [`Seat`].
    ///
    /// The stage's name is no other's as long as the consumer is there.
    ///
    /// What the consumer is to be is said later, so this call refuses no setting that depends on it. A
    /// [`timeout`](Stage::timeout) has an effect with [`Seat::read_handler`] only, and a policy not with
    /// [`Seat::poller`]. The thread that calls [`Consumer::run`] is the caller's: there, `pin` and `on_thread` are no more
    /// than [`Consumer::pin`] and [`Consumer::thread`], and `blocking` has no effect.
    ///
    /// ```
    /// use lapwing::{Disruptor, Stage, error::SeatError, graph::StartAt, wait::Blocking};
    ///
    /// # let (mut producer, mut consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).seats(1).stage("all").poller().build()?;
    /// # let _all = consumers.take_poller("all")?;
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
    /// [`SeatError`] if no seat is free, if the ring does not hold the sequence asked for, if the
    /// ring is halted, or if something is wrong with the stage. A ring that is closed can still be
    /// joined, to read what it holds.
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

/// A seat that was taken, for a consumer to be: a poller, a closure, or a handler. Dropped, it is
/// free again.
///
/// ```
/// use lapwing::{Disruptor, graph::StartAt};
///
/// # let (mut producer, mut consumers) =
///     Disruptor::single_producer(8, || 0_u64).seats(1).stage("all").poller().build()?;
/// # let _all = consumers.take_poller("all")?;
/// let seat = consumers.seats().take("late", StartAt::Now)?;
/// producer.publish(|event| *event = 7)?; // kept for whoever will sit there
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
    /// Name of the stage.
    ///
    /// ```
    /// # use lapwing::{Disruptor, graph::StartAt};
    /// # let (_producer, consumers) =
    /// #     Disruptor::single_producer(8, || 0_u64).seats(1).stage("sum").read(|_, _, _| {}).build()?;
    /// assert_eq!(consumers.seats().take("late", StartAt::Now)?.name(), "late");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn name(&self) -> &str {
        &self.stage.name
    }

    /// The first event that its consumer gets.
    ///
    /// ```
    /// # use lapwing::{Disruptor, graph::StartAt};
    /// # let (mut producer, consumers) =
    /// #     Disruptor::single_producer(8, || 0_u64).seats(1).stage("sum").read(|_, _, _| {}).build()?;
    /// producer.publish_batch(3, |_| {})?;
    /// assert_eq!(consumers.seats().take("late", StartAt::Now)?.sequence(), 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn sequence(&self) -> Sequence {
        self.guest.start()
    }

    /// A poller, which leaves when it is dropped.
    ///
    /// ```
    /// # use lapwing::{Disruptor, graph::StartAt};
    /// # let (mut producer, consumers) =
    /// #     Disruptor::single_producer(8, || 0_u64).seats(1).stage("sum").read(|_, _, _| {}).build()?;
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

    /// A consumer that gives each event to a closure, to be [run](Consumer::run) on a thread of the
    /// caller's own; dropped without having run, it leaves.
    ///
    /// ```
    /// # use std::thread;
    /// # use lapwing::{Disruptor, graph::StartAt};
    /// # let (mut producer, mut consumers) =
    /// #     Disruptor::single_producer(8, || 0_u64).seats(1).stage("all").poller().build()?;
    /// # let _all = consumers.take_poller("all")?;
    /// let seat = consumers.seats().take("late", StartAt::Now)?;
    /// let mut sum = 0;
    /// let late = seat.read(|event, _, _| sum += event);
    /// thread::scope(|scope| {
    ///     scope.spawn(move || late.run());
    ///     let mut producer = producer; // dropped with the scope, which closes the ring
    ///     producer.publish(|event| *event = 7)
    /// })?;
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

    /// As [`read`](Self::read), by the batch.
    ///
    /// ```
    /// # use lapwing::{Disruptor, graph::StartAt};
    /// # let (mut producer, mut consumers) =
    /// #     Disruptor::single_producer(8, || 0_u64).seats(1).stage("all").poller().build()?;
    /// # let _all = consumers.take_poller("all")?;
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

    /// As [`read`](Self::read), with a handler, to be
    /// [taken back](crate::consumer::Finished::take_handler) at the end.
    ///
    /// ```
    /// # use std::thread;
    /// # use lapwing::{Disruptor, EventHandler, Sequence, graph::StartAt};
    /// # struct Sum(u64);
    /// # impl EventHandler<u64> for Sum {
    /// #     fn on_event(&mut self, event: &u64, _: Sequence, _: bool) {
    /// #         self.0 += event;
    /// #     }
    /// # }
    /// # let (mut producer, mut consumers) =
    /// #     Disruptor::single_producer(8, || 0).seats(1).stage("all").poller().build()?;
    /// # let _all = consumers.take_poller("all")?;
    /// let late = consumers.seats().take("late", StartAt::Now)?.read_handler(Sum(0));
    /// let late = thread::spawn(move || late.run());
    /// producer.publish(|event| *event = 7)?;
    /// drop(producer); // closes the ring
    /// let Sum(total) = late.join().unwrap().take_handler()?;
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

    /// The reading end, whose batches have `longest` events at most if the stage does not say.
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
