//! A dynamic stage that is taken, and the verbs that make a consumer of it. Not here: which dynamic
//! stages are free (`dynamic_stages`).

use std::any::Any;
use std::fmt;

use super::batch_length;
use super::guest::Guest;
use super::settings::Settings;
#[cfg(doc)]
use super::stage::Stage;
use crate::Sequence;
use crate::consumer::{
    BatchHandler, BatchLife, Consumer, EventHandler, IntoAction, PerBatch, PerEvent, Poller, Post,
    Processor, Recovery, Shared, StageReader, WholeLife, Work,
};
use crate::ring::Ring;
use crate::sync::Arc;
use crate::wait::AnyWaitStrategy;

/// A dynamic stage that a program has [taken](super::DynamicStages::join).
///
/// Its methods turn it into a poller, or into a consumer with a closure or a handler. They clone
/// the ring's wait strategy if the stage sets none, and panic if that clone panics. Dropping a
/// dynamic stage frees it.
///
/// ```
/// use lapwing::{Disruptor, graph::StartAt};
///
/// let (mut producer, consumers) =
///     Disruptor::single_producer(8, || 0_u64).dynamic_stages(1)
///         .stage("sum").read(|_, _, _| {}).build()?;
/// let dynamic_stage = consumers.dynamic_stages().join("late", StartAt::Now)?;
/// producer.publish(|event| *event = 7)?; // kept for this dynamic stage
/// assert_eq!(dynamic_stage.poller().poll()?.as_slice(), [7]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "producers wait for a dynamic stage as long as it is taken"]
pub struct DynamicStage<E> {
    ring: Ring<E>,
    /// The strategy of a consumer that sets none.
    default_wait: Arc<Box<dyn AnyWaitStrategy>>,
    stage: Settings,
    guest: Guest,
}

impl<E: Send + Sync> DynamicStage<E> {
    /// The dynamic stage of `guest`.
    pub(super) fn new(
        ring: Ring<E>,
        default_wait: Arc<Box<dyn AnyWaitStrategy>>,
        stage: Settings,
        guest: Guest,
    ) -> Self {
        Self { ring, default_wait, stage, guest }
    }

    /// Returns the name of the consumer.
    ///
    /// ```
    /// use lapwing::{Disruptor, graph::StartAt};
    ///
    /// let (_producer, consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).dynamic_stages(1)
    ///         .stage("sum").read(|_, _, _| {}).build()?;
    /// assert_eq!(consumers.dynamic_stages().join("late", StartAt::Now)?.name(), "late");
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
    ///     Disruptor::single_producer(8, || 0_u64).dynamic_stages(1)
    ///         .stage("sum").read(|_, _, _| {}).build()?;
    /// producer.publish_batch(3, |_| {})?;
    /// assert_eq!(consumers.dynamic_stages().join("late", StartAt::Now)?.sequence(), 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn sequence(&self) -> Sequence {
        self.guest.start()
    }

    /// Turns the dynamic stage into a [`Poller`]. Dropping the poller frees the dynamic stage.
    ///
    /// ```
    /// use lapwing::{Disruptor, graph::StartAt};
    ///
    /// let (mut producer, consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).dynamic_stages(1)
    ///         .stage("sum").read(|_, _, _| {}).build()?;
    /// let mut late = consumers.dynamic_stages().join("late", StartAt::Now)?.poller();
    /// producer.publish(|event| *event = 7)?;
    /// assert_eq!(late.poll()?.as_slice(), [7]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use = "a poller that is dropped leaves the ring"]
    pub fn poller(self) -> Poller<E> {
        let capacity = self.ring.control().capacity();
        Poller::new(self.into_reader(capacity).0)
    }

    /// Makes a consumer that gives each event to a closure, as [`Stage::read`] does:
    /// `on_event(event, sequence, end_of_batch)`.
    ///
    /// The caller [runs](Consumer::run) it on a thread of its choice. A consumer that is dropped
    /// without having run frees the dynamic stage.
    ///
    /// ```
    /// use lapwing::{Disruptor, graph::StartAt};
    ///
    /// let (mut producer, mut consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).dynamic_stages(1)
    ///         .stage("all").poller().build()?;
    /// let _all = consumers.take_poller("all")?;
    /// let mut sum = 0;
    /// let late = consumers.dynamic_stages().join("late", StartAt::Now)?.read(|event, _, _| sum += event);
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
    /// without having run frees the dynamic stage.
    ///
    /// ```
    /// use lapwing::{Disruptor, graph::StartAt};
    ///
    /// let (mut producer, mut consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).dynamic_stages(1)
    ///         .stage("all").poller().build()?;
    /// let _all = consumers.take_poller("all")?;
    /// let dynamic_stage = consumers.dynamic_stages().join("late", StartAt::Now)?;
    /// let mut sum = 0;
    /// let late = dynamic_stage.read_batch(|events, _| sum += events.iter().sum::<u64>());
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
    /// back](crate::consumer::StageReport::take_handler) at the end.
    ///
    /// The caller [runs](Consumer::run) it on a thread of its choice. A consumer that is dropped
    /// without having run frees the dynamic stage.
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
    ///     Disruptor::single_producer(8, || 0).dynamic_stages(1).stage("all").poller().build()?;
    /// let _all = consumers.take_poller("all")?;
    /// let late = consumers.dynamic_stages().join("late", StartAt::Now)?.read_handler(Sum(0));
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

    /// Makes a consumer with a handler of batches, which can be [taken
    /// back](crate::consumer::StageReport::take_handler) at the end.
    ///
    /// The caller [runs](Consumer::run) it on a thread of its choice. A consumer that is dropped
    /// without having run frees the dynamic stage.
    ///
    /// ```
    /// use lapwing::{Disruptor, Sequence, consumer::{BatchHandler, Done}, graph::StartAt};
    ///
    /// struct Sum(u64);
    ///
    /// impl BatchHandler<u64> for Sum {
    ///     fn on_batch(&mut self, events: &[u64], _: Sequence, _: Done<'_>) {
    ///         self.0 += events.iter().sum::<u64>();
    ///     }
    /// }
    ///
    /// let (mut producer, mut consumers) =
    ///     Disruptor::single_producer(8, || 0).dynamic_stages(1).stage("all").poller().build()?;
    /// let _all = consumers.take_poller("all")?;
    /// let late = consumers.dynamic_stages().join("late", StartAt::Now)?.read_batch_handler(Sum(0));
    /// producer.publish(|event| *event = 7)?;
    /// drop(producer); // closes the ring
    /// let Sum(total) = late.run().take_handler()?;
    /// assert_eq!(total, 7);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_batch_handler<'env, H, R>(self, handler: H) -> Consumer<'env>
    where
        E: 'env,
        H: BatchHandler<E, Shared, R> + Send + 'static,
        R: IntoAction + 'env,
    {
        self.consumer(BatchLife::new(handler), |work| Some(Box::new(work.0)))
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
        let longest = batch_length::shared(self.ring.control().capacity());
        let (reader, stage) = self.into_reader(longest);
        let Settings { name, pin, thread, timeout, takes_failed, on_error, on_panic, .. } = stage;
        let post = Post::new(reader, timeout, Recovery::new(on_error, on_panic));
        let post = post.taking_failed(takes_failed);
        let processor = Processor::<E, Shared, _, _, _>::new(post, || work, hand_back);
        Consumer::new(name, (pin, thread), processor)
    }

    /// The reading end. Its batches have at most `longest` events if the stage sets no length.
    fn into_reader(self, longest: u64) -> (StageReader<E>, Settings) {
        let Self { ring, default_wait, mut stage, guest } = self;
        let wait = stage.wait.take().unwrap_or_else(|| (*default_wait).clone());
        let max_batch = stage.max_batch.map_or(longest, |events| events as u64);
        let (place, name) = guest.into_parts();
        // SAFETY: I5: `E: Sync`.
        let reader = unsafe { StageReader::new(ring, (place, Some(name)), false, wait, max_batch) };
        (reader, stage)
    }
}

impl<E> fmt::Debug for DynamicStage<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DynamicStage")
            .field("stage", &self.stage)
            .field("guest", &self.guest)
            .finish()
    }
}
