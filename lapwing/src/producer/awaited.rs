//! Publishing from a task, which waits for a free slot while other tasks run on its thread. Not
//! here: the same from a thread (`publish`).

use std::future::poll_fn;
use std::ops::Range;
use std::sync::Arc;
use std::task::{Context, Poll};

use lapwing_core::TaskPlace;

use super::wait::{CountedWait, FreeSlots};
use super::{Producer, Sequencer, Slots};
use crate::Sequence;
use crate::error::{BatchError, PublishError};
use crate::ring::Shared;

impl<E, S: Sequencer> Producer<E, S> {
    /// Publishes one event and returns its sequence. Waits as a task while the ring is full. `fill`
    /// writes the event in place.
    ///
    /// The call does what [`publish`](Self::publish) does, except that other tasks run on this
    /// thread while it waits. No runtime is needed, and any will do. The slot is claimed, filled
    /// and published in one step at the end, so no claim is held across an `.await`.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, consumers) = Disruptor::single_producer(2, || 0_u64)
    ///     .stage("check").read(|event, sequence, _| assert_eq!(*event, 10 + sequence))
    ///     .build()?;
    /// let running = consumers.start()?; // threads that handle what a task publishes
    /// pollster::block_on(async {
    ///     for value in 10..100 {
    ///         producer.publish_async(|event| *event = value).await?;
    ///     }
    ///     Ok::<(), lapwing::error::PublishError>(())
    /// })?;
    /// assert_eq!(running.shutdown()?.stages().next().unwrap().processed(), 90);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`publish`](Self::publish). [`PublishError::WouldDeadlock`] is about the thread
    /// that polls the task: the ring is full, and this thread is about to handle an event of the
    /// ring, or holds a claim. A task that polls the same ring is not detected. If it waits here,
    /// only a future beside this one can consume, as in `join!`.
    ///
    /// # Cancellation
    ///
    /// If the future is dropped before it is ready, nothing is published, and `fill` has not run.
    ///
    /// # Fairness
    ///
    /// After 1,024 events without a wait, the call lets other tasks of the thread run once. With
    /// several producers it does so, after a wait on a full ring, once it has published a quarter
    /// of the ring, so that other tasks that wait get slots too. A task takes no part in the
    /// [turns](super#several-producers-on-a-full-ring) of producers that are threads. It tries
    /// again whenever events are released, so they do not starve it.
    pub async fn publish_async(
        &mut self,
        fill: impl FnOnce(&mut E),
    ) -> Result<Sequence, PublishError> {
        self.spend_async(1).await;
        loop {
            match self.try_claim() {
                Ok(mut claim) => {
                    fill(&mut claim);
                    return Ok(claim.publish()?);
                }
                Err(why) => {
                    if let Some(end) = why.end_of_ring() {
                        return Err(end.into());
                    }
                }
            }
            self.slots_async(1).await?;
        }
    }

    /// Publishes `count` events together and returns their sequences. Waits as a task until `count`
    /// slots are free at the same time. `fill` writes the events in place.
    ///
    /// The call does what [`publish_batch`](Self::publish_batch) does, as a task.
    /// [`publish_async`](Self::publish_async) says what that means, also if the future is dropped.
    ///
    /// ```
    /// use lapwing::Disruptor;
    ///
    /// let (mut producer, mut consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).stage("all").poller().build()?;
    /// let mut poller = consumers.take_poller("all")?;
    /// let publish = producer.publish_batch_async(3, |slots| {
    ///     (10..).zip(slots.iter_mut()).for_each(|(value, slot)| *slot = value);
    /// });
    /// assert_eq!(pollster::block_on(publish)?, 0..3);
    /// assert_eq!(poller.poll()?.as_slice(), [10, 11, 12]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`publish_batch`](Self::publish_batch).
    pub async fn publish_batch_async(
        &mut self,
        count: usize,
        fill: impl for<'b> FnOnce(&mut Slots<'b, E>),
    ) -> Result<Range<Sequence>, BatchError> {
        self.spend_async(count as u64).await;
        loop {
            match self.try_claim_batch(count) {
                Ok(mut batch) => {
                    fill(&mut batch.slots());
                    return Ok(batch.publish()?);
                }
                Err(BatchError::Full) => {}
                Err(why) => return Err(why),
            }
            self.slots_async(count as u64).await?;
        }
    }

    /// Waits as a task until `count` slots seem to be free, or the ring has ended.
    ///
    /// # Errors
    ///
    /// [`PublishError::WouldDeadlock`].
    async fn slots_async(&mut self, count: u64) -> Result<(), PublishError> {
        let mut wait = SlotWait::default();
        poll_fn(|context| self.poll_slots(&mut wait, count, context)).await
    }

    /// Polls until `count` slots seem to be free, or the ring has ended. While it is pending,
    /// `wait` has the place of the task.
    ///
    /// # Errors
    ///
    /// [`PublishError::WouldDeadlock`].
    pub(crate) fn poll_slots(
        &mut self,
        wait: &mut SlotWait,
        count: u64,
        context: &mut Context<'_>,
    ) -> Poll<Result<(), PublishError>> {
        let shared = &*self.shared;
        let awaited = FreeSlots::of_task(shared, count);
        if awaited.would_deadlock() {
            return Err(PublishError::WouldDeadlock).into();
        }
        wait.counted.get_or_insert_with(|| CountedWait::new(Arc::clone(&self.shared)));
        let polled = shared.control.poll_wait(&awaited, &mut wait.place, context.waker());
        if polled.is_pending() {
            // A release wakes all producers that wait. The first one that is polled would take all
            // the slots, on a runtime with one thread each time.
            let share = if shared.control.is_multi() { shared.control.room() } else { u64::MAX };
            self.budget.refill_up_to(share);
        }
        polled.map(Ok)
    }

    /// Spends the budget of the task for `events`, and lets other tasks run if nothing is left.
    async fn spend_async(&mut self, events: u64) {
        self.spend(events);
        poll_fn(|context| self.poll_budget(context)).await;
    }

    /// Spends the budget of the task for `events`.
    #[inline]
    pub(crate) fn spend(&mut self, events: u64) {
        self.budget.spend(events);
    }

    /// Lets other tasks run if nothing of the budget is left.
    #[inline]
    pub(crate) fn poll_budget(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.budget.poll(context)
    }
}

/// The wait of a task for free slots. Dropping it gives up the place of the task.
#[derive(Debug, Default)]
pub(crate) struct SlotWait {
    place: Option<TaskPlace>,
    /// Counts the producer as waiting, from the first poll that finds no slot.
    counted: Option<CountedWait<Arc<Shared>>>,
}

impl SlotWait {
    /// Gives up the place, if there is one. A call that has not waited tests two words.
    #[inline]
    pub(crate) fn leave(&mut self) {
        if self.place.is_some() || self.counted.is_some() {
            *self = Self::default();
        }
    }
}
