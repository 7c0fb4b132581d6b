//! Dynamic stages: the places of consumers that join a ring while it runs. Not here: where a
//! consumer may start (`joining`), what a consumer does (`dynamic_stage`).
//!
//! ```text
//! P1 ──> [ring] ──> enrich (writes) ─┬─> book (reads)
//!                                    ├─> dynamic stage 1    P1, one lap ahead, waits for
//!                                    └─> dynamic stage 2    book and the dynamic stages
//! ```

use std::fmt;

use super::dynamic_stage::DynamicStage;
use super::guest::{Guest, StartAt};
use super::stage::Stage;
use crate::error::DynamicStageError;
use crate::lifecycle::Consumers;
use crate::placement::is_thread_name;
use crate::ring::Ring;
use crate::sync::Arc;
use crate::wait::AnyWaitStrategy;

/// The places where consumers join a ring while it runs. A clone has the same dynamic stages.
///
/// A dynamic consumer reads events after the last stage that writes, or directly after their
/// publication if no stage writes. It reads beside the other stages.
///
/// Producers wait for it as for any other consumer, from the moment that it [joins](Self::join). It
/// misses no event after its first, and no event is overwritten before it has read it. When the
/// consumer leaves, another one may take the dynamic stage. If the last consumer, in the graph or
/// in a dynamic stage, leaves before it has drained the ring, the ring halts. A consumer in a
/// dynamic stage has drained a closed ring once it has read the events from its first one on. If
/// there are none, it has drained the ring at once.
///
/// If the graph has a stage that [clears](crate::Builder::clear) events, a dynamic consumer sees
/// cleared events.
///
/// [`Running`](crate::Running) does not manage dynamic consumers, and a shutdown does not wait for
/// them. Once the ring is closed, each of them drains it and ends by itself.
///
/// ```
/// use lapwing::{Disruptor, graph::StartAt};
///
/// let (mut producer, consumers) =
///     Disruptor::single_producer(64, || 0_u64).dynamic_stages(2)
///         .stage("sum").read(|_, _, _| {}).build()?;
/// let dynamic_stages = consumers.dynamic_stages();
/// let running = consumers.start()?;
/// producer.publish(|event| *event = 0)?;
///
/// let mut watch = dynamic_stages.join("watch", StartAt::Now)?.poller();
/// let audit = dynamic_stages.join("audit", StartAt::Now)?;
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
/// Dynamic consumers read at the same time as other stages, so events must be `Sync`:
///
/// ```compile_fail,E0277
/// use std::cell::Cell;
/// let ring = lapwing::Disruptor::single_producer(8, || Cell::new(0)).dynamic_stages(1);
/// let (_producer, consumers) = ring.stage("a").write(|event, _, _| event.set(1)).build().unwrap();
/// let dynamic_stages = consumers.dynamic_stages();
/// ```
///
/// The same ring compiles with a `Mutex`:
///
/// ```
/// use std::sync::Mutex;
/// let ring = lapwing::Disruptor::single_producer(8, || Mutex::new(0)).dynamic_stages(1);
/// let (_producer, consumers) = ring.stage("a").write(|_, _, _| {}).build().unwrap();
/// assert_eq!(consumers.dynamic_stages().free(), 1);
/// ```
pub struct DynamicStages<E> {
    ring: Ring<E>,
    /// The strategy of a consumer that sets none.
    wait: Arc<Box<dyn AnyWaitStrategy>>,
}

impl<E> DynamicStages<E> {
    /// Returns the number of free dynamic stages. It may have changed by the time that the call
    /// returns.
    ///
    /// ```
    /// use lapwing::{Disruptor, graph::StartAt};
    ///
    /// let (_producer, consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).dynamic_stages(2)
    ///         .stage("sum").read(|_, _, _| {}).build()?;
    /// let dynamic_stages = consumers.dynamic_stages();
    /// let taken = dynamic_stages.join("late", StartAt::Now)?;
    /// assert_eq!(dynamic_stages.free(), 1);
    /// drop(taken);
    /// assert_eq!(dynamic_stages.free(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn free(&self) -> usize {
        self.ring.control().free_dynamic_stages()
    }
}

impl<E: Send + Sync> DynamicStages<E> {
    /// Takes a free dynamic stage for the consumer `stage`, which begins at `start`. From now on,
    /// producers wait for the consumer. Turn the [`DynamicStage`] into a poller, or into a consumer
    /// to run.
    ///
    /// No other stage or worker may have the name of `stage` while the consumer is in its dynamic
    /// stage.
    ///
    /// The call does not reject settings that have no effect:
    ///
    /// - [`timeout_after`](Stage::timeout_after), except with [`DynamicStage::read_handler`] and
    ///   [`DynamicStage::read_batch_handler`].
    /// - [`on_error`](Stage::on_error), if the handler does not return a `Result`.
    /// - `on_error` and [`on_panic`](Stage::on_panic) with [`DynamicStage::poller`].
    /// - [`may_block`](Stage::may_block). The caller chooses the thread that runs the consumer, so
    ///   `pin` and `on_thread` only set [`Consumer::pin`](crate::consumer::Consumer::pin) and
    ///   [`Consumer::thread`](crate::consumer::Consumer::thread).
    ///
    /// ```
    /// use lapwing::{Disruptor, Stage, error::DynamicStageError, graph::StartAt, wait::Blocking};
    ///
    /// let (_producer, consumers) =
    ///     Disruptor::single_producer(8, || 0_u64).dynamic_stages(1)
    ///         .stage("sum").read(|_, _, _| {}).build()?;
    /// let dynamic_stages = consumers.dynamic_stages();
    /// let late = Stage::new("late").wait_strategy(Blocking::default()).max_batch(4);
    /// let dynamic_stage = dynamic_stages.join(late, StartAt::Now)?;
    /// assert_eq!((dynamic_stage.name(), dynamic_stage.sequence()), ("late", 0));
    /// let error = dynamic_stages.join("later", StartAt::Now).unwrap_err();
    /// assert_eq!(error, DynamicStageError::NoneFree { stages: 1 });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// - [`DynamicStageError::NoneReserved`] if the ring has no dynamic stages.
    /// - [`DynamicStageError::NoneFree`] if all dynamic stages are taken.
    /// - [`DynamicStageError::OutOfRange`] if the ring is not [certain](StartAt) to hold the
    ///   requested sequence.
    /// - [`DynamicStageError::Halted`] if the ring is halted, or its last consumer has just left. A
    ///   closed ring can be joined, to read what it holds.
    /// - [`DynamicStageError::InvalidName`] if the name is empty or contains a NUL.
    /// - [`DynamicStageError::DuplicateName`] if a stage, a worker or another consumer has the
    ///   name.
    /// - [`DynamicStageError::ZeroMaxBatch`] if the [longest batch](Stage::max_batch) is 0.
    /// - [`DynamicStageError::Acknowledged`] if `stage` is [acknowledged](Stage::acknowledged).
    pub fn join(
        &self,
        stage: impl Into<Stage>,
        start: StartAt,
    ) -> Result<DynamicStage<E>, DynamicStageError> {
        let stage = stage.into().settings;
        let name = || stage.name.clone();
        if self.ring.control().dynamic_stages().is_empty() {
            return Err(DynamicStageError::NoneReserved);
        }
        if !is_thread_name(&stage.name) {
            return Err(DynamicStageError::InvalidName { stage: name() });
        }
        if stage.max_batch == Some(0) {
            return Err(DynamicStageError::ZeroMaxBatch { stage: name() });
        }
        if stage.is_acknowledged {
            return Err(DynamicStageError::Acknowledged { stage: name() });
        }
        let taken = self.ring.shared.watched.description.take_name(&stage.name);
        let taken = taken.ok_or_else(|| DynamicStageError::DuplicateName { stage: name() })?;
        let guest = Guest::join(&self.ring.shared, taken, start)?;
        Ok(DynamicStage::new(self.ring.clone(), Arc::clone(&self.wait), stage, guest))
    }
}

impl<E: Send> Consumers<'_, E> {
    /// Returns the [dynamic stages](crate::Builder::dynamic_stages), for consumers that join while
    /// the ring runs.
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
    #[must_use]
    pub fn dynamic_stages(&self) -> DynamicStages<E>
    where
        E: Sync,
    {
        DynamicStages { ring: self.ring.clone(), wait: Arc::clone(&self.guests_wait) }
    }
}

impl<E> Clone for DynamicStages<E> {
    fn clone(&self) -> Self {
        Self { ring: self.ring.clone(), wait: Arc::clone(&self.wait) }
    }
}

impl<E> fmt::Debug for DynamicStages<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DynamicStages").field("free", &self.free()).finish_non_exhaustive()
    }
}
